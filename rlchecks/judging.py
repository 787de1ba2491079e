"""The table of ``rlchecks judges``: several judges on the same answers, without a run and without storing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from rlchecks.errors import UsageError
from rlchecks.heldout import HeldoutRows, Scorer, choose_checkpoints, read_rows
from rlchecks.heldout.answers import Answers, encode
from rlchecks.heldout.checkpoints import Checkpoints
from rlchecks.heldout.decoding import choose_decoding
from rlchecks.heldout.harness.log import JudgeFacts
from rlchecks.heldout.judged import judged
from rlchecks.heldout.judges_compared import MOST_JUDGES, judges_document
from rlchecks.heldout.names import listed, shown
from rlchecks.heldout.parts import make_part
from rlchecks.heldout.scale import scale_of


def compare_judges(
    heldout: Sequence[str],
    judges: Sequence[Scorer] = (),
    people: Sequence[str] = (),
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Compare judges on the answers that they scored.

    Args:
        heldout: held-out rows or evaluation logs, each also as ``NAME=PATH``.
        judges: judges to be compared; empty: all that are in the rows.
        people: judges who are people, beside those that the logs say are.
        baseline: the starting model's checkpoint; None: the earliest, if that is clear.
        candidate: the checkpoint that is judged; None: the latest, if that is clear.
        columns: own name of a column to what it is.

    Returns:
        What :func:`rlchecks.heldout.judges_compared.judges_document` gives, with ``verdicts``: each judge's difference
        of candidate and baseline in its own unit; ``baseline``, ``candidate`` and ``warnings``.

    Raises:
        InputError: a file cannot be read.
        UsageError: a name is not in the rows, there are fewer than two judges or more than can be compared, or a score
            lies outside its declared range.
    """
    rows = read_rows(list(heldout), columns)
    known = sorted(pc.unique(rows.table["judge"]).to_pylist())
    for name in (*(judge.name for judge in judges), *people):
        if name not in known:
            raise UsageError(f"There is no judge {shown(name)} in the held-out rows; they have {listed(known)}.")
    names = list(dict.fromkeys((*(judge.name for judge in judges), *people))) if judges else known
    if not 2 <= len(names) <= MOST_JUDGES:
        raise UsageError(
            f"From 2 to {MOST_JUDGES} judges are compared, not {len(names)}; the held-out rows have {listed(known)}"
            f"{', name those to be compared with --judge' if len(names) > 2 else ''}."
        )
    facts = {one.name: one for one in rows.judges}
    declared = {judge.name: judge for judge in judges}
    scorers = [_scorer(declared.get(name, Scorer(name)), facts.get(name)) for name in names]
    human = {*people, *(one.name for one in judges if one.kind == "human")}
    human |= {one.name for one in rows.judges if one.kind == "human"}
    found = judged(rows.table, names)
    sides = _sides(rows, baseline, candidate)
    answers = None if sides is None else encode(rows.table, sides.baseline, sides.candidate)
    decoding = None if answers is None else _decoding(rows, scorers, answers)
    document = judges_document(
        found,
        {scorer.name: scale_of(scorer, found.column(scorer.name)) for scorer in scorers},
        people=human,
        sides=None if sides is None else (sides.baseline, sides.candidate),
        decoding=decoding,
    )
    return {
        "baseline": None if sides is None else sides.baseline,
        "candidate": None if sides is None else sides.candidate,
        **document,
        "verdicts": [] if answers is None else _verdicts(scorers, answers, decoding),
        "warnings": list(rows.warnings),
    }


def _scorer(declared: Scorer, found: JudgeFacts | None) -> Scorer:
    """The judge with the range and direction that its log tells, where nothing was declared."""
    if found is None or declared.low is not None:
        return declared
    higher = declared.higher_is_better and found.higher_is_better is not False
    return Scorer(declared.name, found.low, found.high, higher)


def _sides(rows: HeldoutRows, baseline: str | None, candidate: str | None) -> Checkpoints | None:
    try:
        return choose_checkpoints(rows.table, baseline, candidate)
    except UsageError:
        # The table of the judges needs no sides; only names that were given have to be right.
        if baseline is not None or candidate is not None:
            raise
        return None


def _decoding(rows: HeldoutRows, scorers: Sequence[Scorer], answers: Answers) -> str | None:
    codes = [code for scorer in scorers if (code := answers.judge(scorer.name)) >= 0]
    primary = choose_decoding(answers, codes, None, pc.unique(rows.table["decoding"]).to_pylist())
    return answers.decodings[primary] if primary >= 0 else None


def _verdicts(scorers: Sequence[Scorer], answers: Answers, decoding: str | None) -> list[dict[str, Any]]:
    code = answers.decodings.index(decoding) if decoding in answers.decodings else -1
    documents = []
    for scorer in scorers:
        if answers.judge(scorer.name) < 0:
            continue
        part = make_part(answers, scorer, code, "other")
        found = part.interval(0.95)
        values = map(part.scale.raw_difference, found[:3])
        documents.append(
            {
                "judge": scorer.name,
                "decoding": part.decoding_name,
                **dict(zip(("difference", "ci_lower", "ci_upper"), values, strict=True)),
                "n_questions": found.n,
                "reason": found.reason,
            }
        )
    return documents
