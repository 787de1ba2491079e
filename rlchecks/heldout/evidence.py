"""The evidence table's row: what the promotion suite checks, each column with one sentence and its numbers."""

from __future__ import annotations

from rlchecks.heldout.case import Case
from rlchecks.heldout.completeness import completeness
from rlchecks.heldout.decision import decision, guarding
from rlchecks.heldout.entry import Entry
from rlchecks.heldout.hacking import hacking
from rlchecks.heldout.independence import independence


def collect(case: Case, needed: int | None) -> dict[str, Entry]:
    """All evidence columns.

    Args:
        case: the comparison.
        needed: questions needed to decide, None if no number suffices.
    """
    return {**completeness(case, needed), **independence(case), **decision(case), **guarding(case), **hacking(case)}
