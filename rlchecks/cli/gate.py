"""``rlchecks gate``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from rlchecks.cli.options import (
    ArchiveOption,
    ColumnsOption,
    ExpectationsOption,
    HeldoutColumnsOption,
    JsonOption,
    LocalOption,
    ProfileOption,
    ReportsOption,
    columns_of,
)
from rlchecks.cli.output import COULD_NOT_RUN, console, print_json
from rlchecks.requests import ARCHIVE, PROFILE, REPORTS, GateRequest


def gate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's log or directory, or the id of an archived run.")],
    heldout: Annotated[
        list[str],
        typer.Option(
            "--heldout",
            metavar="[NAME=]PATH",
            help="Held-out results: rows or evaluation logs, of the checkpoint NAME; repeatable.",
        ),
    ],
    baseline: Annotated[
        str | None, typer.Option(help="Checkpoint of the starting model; default: the earliest.")
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate", metavar="NAME", help="Checkpoint to be promoted; default: the latest. Of several the best."
        ),
    ] = None,
    choose_on: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Choose among several candidates on this share of the questions only."),
    ] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="URI", help="The candidate's files, if not in RUN/<candidate>.")
    ] = None,
    profile: ProfileOption = PROFILE,
    grader: Annotated[
        list[str] | None, typer.Option("--grader", metavar="NAME", help="A grader: NAME, NAME:0..10, NAME:model=M.")
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="NAME", help="A judge: NAME, NAME:0..1:lower, NAME::advisory, NAME:kind=rule."),
    ] = None,
    decoding: Annotated[str | None, typer.Option(metavar="NAME", help="The decoding that will be deployed.")] = None,
    margin: Annotated[
        float, typer.Option(metavar="M", help="Loss that is acceptable; 0: the gain must be shown.")
    ] = 0.0,
    training_prompts: Annotated[
        list[str] | None,
        typer.Option("--training-prompts", metavar="PATH", help="All training prompts, to be compared; repeatable."),
    ] = None,
    near_copies: Annotated[
        bool, typer.Option("--near-copies", help="Find training prompts with a few other words too, by MinHash.")
    ] = False,
    family: Annotated[
        str | None, typer.Option(metavar="NAME", help="Runs that share these held-out questions.")
    ] = None,
    override: Annotated[
        str | None, typer.Option(metavar="REASON", help="Promote against the verdict; stays visible for ever.")
    ] = None,
    promote: Annotated[str | None, typer.Option(metavar="DIR", help="Record the promotion here.")] = None,
    run_id: Annotated[str | None, typer.Option(metavar="ID", help="Id of the run in the archive.")] = None,
    columns: ColumnsOption = None,
    heldout_columns: HeldoutColumnsOption = None,
    archive: ArchiveOption = ARCHIVE,
    reports: ReportsOption = REPORTS,
    expectations: ExpectationsOption = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write the verdict as JUnit XML, too.")
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option("--summary", metavar="FILE", help="Append it as Markdown, as to $GITHUB_STEP_SUMMARY."),
    ] = None,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Print GitHub's annotations; with --json on stderr.")
    ] = False,
    local: LocalOption = False,
    as_json: JsonOption = False,
) -> int:
    """Judge one candidate: training health and a held-out evaluation by a different judge become one verdict."""
    from rlchecks import launch
    from rlchecks.ci_outputs import CiOutputs
    from rlchecks.verdict import EXIT_CODES

    outputs = CiOutputs(junit, summary, annotations)
    outputs.begin()
    request = GateRequest(
        run=run,
        heldout=tuple(heldout),
        baseline=baseline,
        candidate=candidate[0] if candidate and len(candidate) == 1 else None,
        candidates=tuple(candidate) if candidate and len(candidate) > 1 else (),
        choose_on=choose_on,
        checkpoint=checkpoint,
        profile=profile,
        graders=tuple(grader or ()),
        judges=tuple(judge or ()),
        decoding=decoding,
        margin=margin,
        training_prompts=tuple(training_prompts or ()),
        near_copies=near_copies,
        family=family,
        override=override,
        promote=promote,
        run_id=run_id,
        columns=columns_of(columns),
        heldout_columns=columns_of(heldout_columns, "--heldout-column", "id=question_id"),
        archive=archive,
        reports=reports,
        expectations=expectations,
        command=shlex.join(["rlchecks", *sys.argv[1:]]),
    )
    result, problem = launch.gate(request, local=local)
    commands = outputs.finish(result.document)
    decision = result.document["decision"]
    paths = {"report": str(result.html), "verdict": str(result.json)}
    if as_json:
        promoted = None if result.promotion is None else str(result.promotion.pointer)
        print_json(result.document | {"files": paths, "promoted": promoted})
    else:
        from rlchecks.report import terminal

        terminal.verdict(console(), result.document, paths)
        if result.promotion is not None:
            state = "recorded" if result.promotion.changed else "was already recorded"
            found = result.document["checkpoint"]
            files = f"{found['files']} files, {found['bytes']:,} bytes"
            typer.echo(f"Promotion {state}: {result.promotion.pointer} ({files})")
        elif promote is not None:
            why = f"the verdict is {decision}" if problem is None else "it could not be recorded by the orchestrator"
            typer.echo(f"Not promoted: {why}.")
    if commands:
        typer.echo(commands, nl=False, err=as_json)
    if problem is not None:
        typer.echo(f"rlchecks: the verdict is written, but not recorded: {problem}", err=True)
        return COULD_NOT_RUN
    return EXIT_CODES[decision]
