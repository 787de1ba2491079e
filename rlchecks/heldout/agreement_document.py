"""``agreement`` of the comparison: all who scored the compared answers beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlchecks.heldout.case import Case
from rlchecks.heldout.judged import judged
from rlchecks.heldout.judges_compared import MOST_JUDGES, judges_document


def agreement_document(case: Case) -> dict[str, Any] | None:
    """Agreement of the judges and graders, deciding ones first; None if only one scored, or none.

    It is shown and decides nothing: an honest judge and an honest grader agree on nearly all answers.
    """
    parts = {part.scorer.name: part for part in (*case.others, *case.graders, *case.guards, *case.decisive)}
    order = dict.fromkeys(part.scorer.name for part in (*case.decisive, *case.graders, *case.guards, *case.others))
    names = [name for name in order if case.answers.judge(name) >= 0][:MOST_JUDGES]
    if len(names) < 2:
        return None
    rows = np.sort(np.concatenate([case.answers.baseline.row, case.answers.candidate.row]))
    return judges_document(
        judged(case.answers.table.take(rows), names),
        {name: parts[name].scale for name in names},
        people=case.people,
        graders=[part.scorer.name for part in case.graders],
        sides=(case.checkpoints.baseline, case.checkpoints.candidate),
        decoding=case.decoding,
        level=case.level,
    )
