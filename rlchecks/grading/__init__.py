"""What does the grader pay for? From the answers that a run logged, prompt by prompt.

what_it_pays(completions)   how the score depends on the answers' features within the groups of one prompt
payments(run)               the same for a run, up to a candidate's step
"""

from __future__ import annotations

from rlchecks.grading.document import documents, payments, support
from rlchecks.grading.pays import Payment, what_it_pays

__all__ = ["Payment", "documents", "payments", "support", "what_it_pays"]
