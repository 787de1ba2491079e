"""Held-out evaluation: is the candidate better than its baseline, to a judge that is not its training grader?

rows = read_rows(["eval/base.jsonl", "eval/checkpoint-120.jsonl"])
comparison = compare(rows, ComparisonRequest(graders=(Scorer("accuracy_reward"),), graders_known=True))
"""

from __future__ import annotations

from rlchecks.heldout.checkpoints import Checkpoints, choose_checkpoints
from rlchecks.heldout.compare import compare
from rlchecks.heldout.intervals import Interval, clustered, paired_interval, paired_t, tango
from rlchecks.heldout.looks import answers_identity, candidate_identity, count_looks, count_together
from rlchecks.heldout.plan import differing_share_upper, minimum_detectable, questions_needed
from rlchecks.heldout.question_set import QuestionSet, heldout_set_id, question_set
from rlchecks.heldout.request import Comparison, ComparisonRequest
from rlchecks.heldout.rows import HeldoutRows, read_rows
from rlchecks.heldout.scorer import Scorer, parse_scorer
from rlchecks.heldout.several import Choice, choose_candidate

__all__ = [
    "Checkpoints",
    "Choice",
    "Comparison",
    "ComparisonRequest",
    "HeldoutRows",
    "Interval",
    "QuestionSet",
    "Scorer",
    "answers_identity",
    "candidate_identity",
    "choose_candidate",
    "choose_checkpoints",
    "clustered",
    "compare",
    "count_looks",
    "count_together",
    "differing_share_upper",
    "heldout_set_id",
    "minimum_detectable",
    "paired_interval",
    "paired_t",
    "parse_scorer",
    "question_set",
    "questions_needed",
    "read_rows",
    "tango",
]
