"""Everything a comparison rests on, gathered once."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from rlchecks.heldout.answers import Answers, encode
from rlchecks.heldout.checkpoints import Checkpoints, choose_checkpoints
from rlchecks.heldout.decoding import choose_decoding
from rlchecks.heldout.harness.alike import check_alike
from rlchecks.heldout.harness.told import informed
from rlchecks.heldout.judges import Panel, seat
from rlchecks.heldout.overlap import Overlap, find_overlap
from rlchecks.heldout.parts import Part, guards, make_part
from rlchecks.heldout.request import ComparisonRequest
from rlchecks.heldout.rows import HeldoutRows
from rlchecks.heldout.who import Who, who


@dataclass(frozen=True)
class Case:
    """A comparison before it is judged.

    Attributes:
        request: what was asked.
        checkpoints: baseline and candidate.
        answers: the answers of both, without questions that were training prompts.
        overlap: the comparison with the training prompts, None if none are known.
        panel: the scorers by role.
        who: who the scorers are.
        decoding: name of the primary decoding, None if rows name none or the sides have none in common.
        decisive: parts of the deciding judges at the primary decoding.
        with_overlap: the same with the questions that were training prompts; empty if there are none.
        guards: parts that only guard.
        graders: parts of the training graders at the primary decoding.
        others: parts of judges that nobody asked, at the primary decoding.
        people: names of judges who are people, as declared or by evaluation logs.
    """

    request: ComparisonRequest
    checkpoints: Checkpoints
    answers: Answers
    overlap: Overlap | None
    panel: Panel
    who: Who
    decoding: str | None
    decisive: list[Part]
    with_overlap: list[Part]
    guards: list[Part]
    graders: list[Part]
    others: list[Part]
    people: frozenset[str]

    @property
    def level(self) -> float:
        """Two-sided confidence level of one interval."""
        return self.request.level


def gather(rows: HeldoutRows, request: ComparisonRequest) -> Case:
    """Choose the names, pair the answers and give every part its role.

    Args:
        rows: held-out rows.
        request: what is asked.

    Raises:
        UsageError: a name is unknown or cannot be defaulted, a score lies outside its declared range, or a judge's
            declared direction or identity is not the logged one.
        InputError: one question belongs to two clusters, or evaluation logs say that questions of one id differ.
    """
    checkpoints = choose_checkpoints(rows.table, request.baseline, request.candidate)
    check_alike(rows.alike, checkpoints.baseline, checkpoints.candidate)
    every = answers = encode(rows.table, checkpoints.baseline, checkpoints.candidate)
    overlap = None
    if request.training_prompts is not None:
        overlap = find_overlap(answers, request.training_prompts, near=request.near_copies)
        answers = answers.without(overlap.excluded)
    panel = informed(seat(request, sorted(pc.unique(rows.table["judge"]).to_pylist()), answers.judges), rows.judges)
    names = [judge.name for judge in panel.decisive] or list(panel.candidates) or answers.judges
    known = pc.unique(rows.table["decoding"]).to_pylist()
    # If nothing is left, the answers that were left out tell the decoding.
    seen = answers if len(answers.candidate.row) else every
    primary = choose_decoding(seen, [answers.judge(name) for name in names], request.decoding, known)
    # The training reward is one grader's score only where there is one grader.
    training = request.training_reward_scale if len(request.graders) == 1 else None
    return Case(
        request=request,
        checkpoints=checkpoints,
        answers=answers,
        overlap=overlap,
        panel=panel,
        who=who(panel, request, rows.judges),
        decoding=answers.decodings[primary] if primary >= 0 else request.decoding,
        decisive=[make_part(answers, judge, primary, "decisive", scores_all=True) for judge in panel.decisive],
        with_overlap=[make_part(every, judge, primary, "decisive", scores_all=True) for judge in panel.decisive]
        if overlap is not None and overlap.matches
        else [],
        guards=guards(answers, panel.decisive, panel.advisory, primary),
        graders=[make_part(answers, grader, primary, "grader", training=training) for grader in panel.graders],
        others=[make_part(answers, judge, primary, "other") for judge in panel.others],
        people=frozenset(one.name for one in request.judges if one.kind == "human")
        | frozenset(one.name for one in rows.judges if one.kind == "human"),
    )
