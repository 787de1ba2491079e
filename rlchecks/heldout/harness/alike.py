"""Whether both checkpoints were asked the same, by the hashes and prompts that evaluation logs keep."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.errors import InputError
from rlchecks.heldout.names import shown


def check_alike(alike: pa.Table | None, baseline: str, candidate: str) -> None:
    """Refuse to compare answers to questions that only share their id.

    Args:
        alike: :data:`rlchecks.heldout.harness.settle.ALIKE`; None if there are no evaluation logs.
        baseline: name of the one checkpoint.
        candidate: name of the other.

    Raises:
        InputError: a question's prompt, target or task version differs between the two.
    """
    if alike is None or not len(alike):
        return
    key = ["judge", "question_id"]
    sides = [alike.filter(pc.equal(alike["checkpoint"], name)).select([*key, "same"]) for name in (baseline, candidate)]
    both = sides[0].join(sides[1], keys=key, join_type="inner", right_suffix="_other")
    differ = both.filter(pc.not_equal(both["same"], both["same_other"]))
    if len(differ):
        first = min(differ["question_id"].to_pylist())
        counts = pc.count_distinct(differ["question_id"]), pc.count_distinct(both["question_id"])
        raise InputError(
            f"{counts[0]} of {counts[1]} questions are not the same for {shown(baseline)} and {shown(candidate)}: "
            f"their prompt, target or task version differs (such as {shown(first)})",
            todo="evaluate both with the same questions, examples, prompt template and version of the task",
        )
