"""Commands about held-out evaluations that decide nothing: ``plan`` and ``judges``."""

from __future__ import annotations

from typing import Annotated

import typer

from rlchecks.cli.options import HeldoutColumnsOption, JsonOption, columns_of
from rlchecks.cli.output import finish, print_json


def plan(
    margin: Annotated[float, typer.Option("--margin", metavar="M", help="Loss to be excluded, such as 0.02.")] = 0.0,
    gain: Annotated[float, typer.Option("--gain", metavar="G", help="Gain that is expected, such as 0.05.")] = 0.0,
    pilot: Annotated[
        list[str] | None,
        typer.Option("--pilot", metavar="[NAME=]PATH", help="Held-out results of a pilot; repeatable."),
    ] = None,
    baseline: Annotated[str | None, typer.Option(metavar="NAME", help="The starting model in the pilot.")] = None,
    candidate: Annotated[str | None, typer.Option(metavar="NAME", help="The other checkpoint in the pilot.")] = None,
    judge: Annotated[str | None, typer.Option(metavar="NAME", help="The judge in the pilot.")] = None,
    decoding: Annotated[str | None, typer.Option(metavar="NAME", help="The decoding in the pilot.")] = None,
    repeats: Annotated[int | None, typer.Option(metavar="K", help="Answers per question and side.")] = None,
    candidates: Annotated[int, typer.Option(metavar="K", help="Candidates to be gated on the same questions.")] = 1,
    questions: Annotated[int | None, typer.Option(metavar="N", help="Questions that there are.")] = None,
    as_json: JsonOption = False,
) -> int:
    """How many held-out questions a decision needs, before anybody evaluates anything."""
    from rlchecks.heldout import ComparisonRequest, parse_scorer
    from rlchecks.planning import plan as make_plan

    judges = () if judge is None else (parse_scorer(judge),)
    request = ComparisonRequest(baseline=baseline, candidate=candidate, judges=judges, decoding=decoding)
    document = make_plan(
        margin, gain, tuple(pilot or ()), request, repeats=repeats, candidates=candidates, questions=questions
    )
    if as_json:
        print_json(document)
    else:
        for line in document["lines"]:
            typer.echo(line)
    return 0


def judges(
    heldout: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]PATH ...", help="Held-out results: rows or evaluation logs, of the checkpoint NAME."
        ),
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="NAME", help="A judge to compare: NAME, NAME:0..10; default: all."),
    ] = None,
    human: Annotated[
        list[str] | None, typer.Option("--human", metavar="NAME", help="This judge is a person; repeatable.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(metavar="NAME", help="Checkpoint of the starting model.")] = None,
    candidate: Annotated[str | None, typer.Option(metavar="NAME", help="Checkpoint that is judged.")] = None,
    heldout_columns: HeldoutColumnsOption = None,
    as_json: JsonOption = False,
) -> int:
    """How far judges agree on the same answers, and what people's labels make of their scores. Nothing is stored."""
    from rlchecks.heldout import parse_scorer
    from rlchecks.judging import compare_judges

    document = compare_judges(
        heldout,
        tuple(parse_scorer(text) for text in judge or ()),
        tuple(human or ()),
        baseline=baseline,
        candidate=candidate,
        columns=columns_of(heldout_columns, "--heldout-column", "id=question_id"),
    )
    return finish(document, as_json, "judges", None, 0)
