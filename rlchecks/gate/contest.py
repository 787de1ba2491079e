"""Who is judged in a gate, on which rows, and the how-manieth look at these questions it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from rlchecks import stages
from rlchecks.archive import Archive
from rlchecks.heldout import (
    ComparisonRequest,
    HeldoutRows,
    answers_identity,
    choose_checkpoints,
    count_looks,
    count_together,
    question_set,
)
from rlchecks.heldout.checkpoints import Checkpoints
from rlchecks.heldout.several import check_names
from rlchecks.requests import GateRequest
from rlchecks.runner import Runner


class Contest(NamedTuple):
    """The candidate that is judged.

    Attributes:
        names: baseline and candidate.
        rows: the rows that decide.
        looks: different answers that were compared on these questions, with those of this call.
        together: how many of them this call compares for the first time on the questions that decide.
        choice: ``comparison.choice`` of ``verdict.json``, None with one candidate.
        identity: what the looks of later calls are counted by, for ``comparison``.
    """

    names: Checkpoints
    rows: HeldoutRows
    looks: int
    together: int
    choice: dict[str, Any] | None
    identity: dict[str, Any]


def settle(
    request: GateRequest, rows: HeldoutRows, question: ComparisonRequest, family: str, runner: Runner
) -> Contest:
    """Settle which candidate is judged: the only one, or the best of several.

    Args:
        request: what is asked of the gate.
        rows: all held-out rows.
        question: what is asked of the comparison, before candidate and looks are known.
        family: name of the run family.
        runner: runs the choice among several.

    Raises:
        UsageError: a checkpoint's name is unknown or cannot be defaulted, or several candidates are misnamed.
    """
    several, share = request.candidates, request.choose_on
    if several:
        candidates = check_names(rows, request.baseline, several)
    else:
        candidates = [choose_checkpoints(rows.table, request.baseline, request.candidate).candidate]
    questions, verdicts = question_set(rows), Archive(request.archive).verdicts()
    answers = {name: answers_identity(rows, name) for name in candidates}

    def counted(count: Callable[..., int], names: list[str]) -> int:
        given = [answers[name] for name in names]
        return count(verdicts, questions=questions, family=family, answers=given, choose_on=share)

    winner, deciding, choice = candidates[0], rows, None
    looks, together = counted(count_looks, candidates), counted(count_together, candidates)
    if several:
        asked = replace(question, looks=looks, together=together)
        found = runner.call(stages.choose_candidate, rows, asked, candidates, share)
        winner, deciding, choice = found.candidate, found.rows, found.document
        looks, together = (looks, together) if share is None else (counted(count_looks, [winner]), 1)
    return Contest(
        choose_checkpoints(rows.table, request.baseline, winner),
        deciding,
        looks,
        together,
        choice,
        {
            "heldout_set": questions.id,
            "heldout_sketch": questions.sketch,
            "family": family,
            "answers_identity": answers[winner],
            "other_answers": sorted({answers[name] for name in candidates} - {answers[winner]}),
            "choose_on": share,
        },
    )
