"""The command line. Every command ends with 0, 1 or 2 only by a computed decision, and with 3 for everything else."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlchecks import __version__
from rlchecks.errors import RlchecksError, UsageError
from rlchecks.requests import ARCHIVE, PROFILE, REPORTS, AuditRequest, GateRequest, IngestRequest

if TYPE_CHECKING:
    from rich.console import Console

COULD_NOT_RUN = 3

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Decide whether a model fine-tuned with reinforcement learning may be promoted.\n\n"
    "Exit codes: 0 promote, or no run is sick; 1 reject, or a run is sick; 2 hold, or a run is incomplete; "
    "3 it could not run.",
)

Archive_ = Annotated[str, typer.Option("--archive", metavar="DIR", help="The Parquet archive.")]
Reports_ = Annotated[str, typer.Option("--reports", metavar="DIR", help="Where reports are written.")]
Profile_ = Annotated[str, typer.Option("--profile", help="Healthy ranges: chat, reasoning or hosted.")]
Expectations_ = Annotated[
    str | None, typer.Option("--expectations", metavar="DIR", help="Your own suites, made with `rlchecks init DIR`.")
]
Columns_ = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="OWN=NAME", help="Your log's column OWN is the metric NAME, such as reward."),
]
Local_ = Annotated[bool, typer.Option("--local", help="Plain function calls, recorded in no orchestrator.")]
Json_ = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
Workers_ = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one a core.")]
Paths_ = Annotated[list[str], typer.Argument(metavar="PATH ...", help="Logs, run directories, or folders of them.")]


@app.command()
def gate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's log or directory, or the id of an archived run.")],
    heldout: Annotated[
        list[str], typer.Option("--heldout", metavar="FILE", help="Held-out results (JSONL, CSV, Parquet); repeatable.")
    ],
    baseline: Annotated[
        str | None, typer.Option(help="Checkpoint of the starting model; default: the earliest.")
    ] = None,
    candidate: Annotated[str | None, typer.Option(help="Checkpoint to be promoted; default: the latest.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="URI", help="The candidate's files, if not in RUN/<candidate>.")
    ] = None,
    profile: Profile_ = PROFILE,
    grader: Annotated[
        list[str] | None, typer.Option("--grader", metavar="NAME", help="A training grader: NAME, NAME:0..10, ...")
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="NAME", help="A judge that decides: NAME, NAME:0..1:lower, NAME::advisory."),
    ] = None,
    decoding: Annotated[str | None, typer.Option(metavar="NAME", help="The decoding that will be deployed.")] = None,
    margin: Annotated[
        float, typer.Option(metavar="M", help="Loss that is acceptable; 0: the gain must be shown.")
    ] = 0.0,
    family: Annotated[
        str | None, typer.Option(metavar="NAME", help="Runs that share these held-out questions.")
    ] = None,
    override: Annotated[
        str | None, typer.Option(metavar="REASON", help="Promote against the verdict; stays visible for ever.")
    ] = None,
    promote: Annotated[str | None, typer.Option(metavar="DIR", help="Record the promotion here.")] = None,
    run_id: Annotated[str | None, typer.Option(metavar="ID", help="Id of the run in the archive.")] = None,
    columns: Columns_ = None,
    archive: Archive_ = ARCHIVE,
    reports: Reports_ = REPORTS,
    expectations: Expectations_ = None,
    local: Local_ = False,
    as_json: Json_ = False,
) -> int:
    """Judge one candidate: training health and a held-out evaluation by a different judge become one verdict."""
    from rlchecks import launch
    from rlchecks.verdict import EXIT_CODES

    request = GateRequest(
        run=run,
        heldout=tuple(heldout),
        baseline=baseline,
        candidate=candidate,
        checkpoint=checkpoint,
        profile=profile,
        graders=tuple(grader or ()),
        judges=tuple(judge or ()),
        decoding=decoding,
        margin=margin,
        family=family,
        override=override,
        promote=promote,
        run_id=run_id,
        columns=_columns(columns),
        archive=archive,
        reports=reports,
        expectations=expectations,
        command=_command(),
    )
    result, problem = launch.gate(request, local=local)
    if as_json:
        _print_json(result.document)
    else:
        from rlchecks.report import terminal

        terminal.verdict(_console(), result.document, {"report": str(result.html), "verdict": str(result.json)})
        if result.promotion is not None:
            state = "recorded" if result.promotion.changed else "was already recorded"
            typer.echo(f"Promotion {state}: {result.promotion.pointer}")
    if problem is not None:
        typer.echo(f"rlchecks: the verdict is written, but not recorded: {problem}", err=True)
        return COULD_NOT_RUN
    return EXIT_CODES[result.document["decision"]]


@app.command()
def audit(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH ...]", help="Ingest these first; default: the archive.")
    ] = None,
    archive: Archive_ = ARCHIVE,
    reports: Reports_ = REPORTS,
    profile: Profile_ = PROFILE,
    expectations: Expectations_ = None,
    columns: Columns_ = None,
    workers: Workers_ = None,
    local: Local_ = False,
    as_json: Json_ = False,
) -> int:
    """Check the health of many runs at once: those below the paths, or all of the archive."""
    from rlchecks import launch
    from rlchecks.audit import exit_code

    request = AuditRequest(
        paths=tuple(paths or ()),
        archive=archive,
        reports=reports,
        profile=profile,
        expectations=expectations,
        columns=_columns(columns),
        workers=workers,
    )
    document, problem = launch.audit(request, local=local)
    return _finish(document, as_json, "audit", problem, exit_code(document))


@app.command()
def ingest(
    paths: Paths_,
    archive: Archive_ = ARCHIVE,
    run_id: Annotated[str | None, typer.Option(metavar="ID", help="Id of a single run.")] = None,
    columns: Columns_ = None,
    workers: Workers_ = None,
    local: Local_ = False,
    as_json: Json_ = False,
) -> int:
    """Read runs into the archive, and say what was understood and what was not."""
    from rlchecks import launch

    request = IngestRequest(
        paths=tuple(paths), archive=archive, run_id=run_id, columns=_columns(columns), workers=workers
    )
    document, problem = launch.ingest(request, local=local)
    code = 3 if not document["runs"] else 2 if document["refused"] else 0
    return _finish(document, as_json, "ingest", problem, code)


@app.command()
def diagnose(
    paths: Paths_,
    profile: Profile_ = PROFILE,
    expectations: Expectations_ = None,
    columns: Columns_ = None,
    as_json: Json_ = False,
) -> int:
    """The quick look: signals and findings at once. Nothing is stored, no suite is validated."""
    from rlchecks.audit import exit_code
    from rlchecks.quicklook import look

    document = look(tuple(paths), profile, expectations, _columns(columns))
    return _finish(document, as_json, "diagnosis", None, exit_code(document))


@app.command()
def signals(
    run: Annotated[str, typer.Argument(metavar="RUN_OR_PATH", help="A run's log, or the id of an archived run.")],
    columns: Columns_ = None,
    archive: Archive_ = ARCHIVE,
    as_json: Json_ = False,
) -> int:
    """Print every signal of a run, with unit and formula."""
    from rlchecks import signals as computed
    from rlchecks.stages import load_run

    log = load_run(run, archive, columns=_columns(columns))
    row = computed.rows(computed.compute(log.steps, [computed.facts_of(log)], log.validation))[0]
    if as_json:
        _print_json(row)
    else:
        from rlchecks.report import terminal

        terminal.signals(_console(), row)
    return 0


@app.command()
def sql(
    query: Annotated[str, typer.Argument(metavar="SELECT", help="One SELECT statement.")],
    archive: Archive_ = ARCHIVE,
    as_json: Json_ = False,
) -> int:
    """Query the archive: runs, steps, completions, validation, evaluations, signals, verdicts. Read-only."""
    from rlchecks.archive import Archive

    table = Archive(archive).sql(query)
    if as_json:
        _print_json(table.to_pylist())
    else:
        from rlchecks.report import terminal

        terminal.table(_console(), table)
    return 0


@app.command()
def plan(
    margin: Annotated[float, typer.Option("--margin", metavar="M", help="Loss to be excluded, such as 0.02.")],
    pilot: Annotated[
        list[str] | None, typer.Option("--pilot", metavar="FILE", help="Held-out results of a pilot; repeatable.")
    ] = None,
    judge: Annotated[str | None, typer.Option(metavar="NAME", help="The judge in the pilot.")] = None,
    decoding: Annotated[str | None, typer.Option(metavar="NAME", help="The decoding in the pilot.")] = None,
    as_json: Json_ = False,
) -> int:
    """How many held-out questions a margin needs, before anybody evaluates anything."""
    from rlchecks.planning import plan as make_plan

    document = make_plan(margin, tuple(pilot or ()), judge, decoding)
    if as_json:
        _print_json(document)
    else:
        for line in document["lines"]:
            typer.echo(line)
    return 0


@app.command()
def init(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty directory.")]) -> int:
    """Copy the suites and thresholds into a directory, to be edited and used with --expectations."""
    from rlchecks.suites import copy_to

    for path in copy_to(directory):
        typer.echo(f"wrote {path}")
    return 0


@app.command()
def serve(
    archive: Archive_ = ARCHIVE,
    reports: Reports_ = REPORTS,
    cron: Annotated[str, typer.Option(metavar="CRON", help="When the scheduled audit runs.")] = "0 3 * * *",
) -> int:
    """Serve the deployments (ingest, gate, scheduled audit) from this process, until it is stopped."""
    from rlchecks.serve import serve as run_server

    run_server(archive=archive, reports=reports, cron=cron)
    return 0


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rlchecks {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the console script; see the module's docstring for the exit codes."""
    sys.exit(run(lambda: app(standalone_mode=False)))


def run(command: Callable[[], Any]) -> int:
    """Run a command and turn whatever happens into an exit code and, at most, one sentence on stderr."""
    try:
        code = command()
    except RlchecksError as error:
        typer.echo(f"rlchecks: {_inert(str(error))}", err=True)
        return COULD_NOT_RUN
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("rlchecks: stopped.", err=True)
        return COULD_NOT_RUN
    except BrokenPipeError:
        # The reader of a pipe has gone; nothing more can be said there, and closing it must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return COULD_NOT_RUN
    except Exception as error:
        # Typer's own errors (a wrong option, a missing argument) share no public base, but this method. It is empty
        # when the help was shown instead.
        if (wording := getattr(error, "format_message", None)) is not None:
            if sentence := wording().rstrip("."):
                typer.echo(f"rlchecks: {_inert(sentence)}; see --help.", err=True)
            return COULD_NOT_RUN
        if os.environ.get("RLCHECKS_DEBUG"):
            traceback.print_exc()
        problem = _inert(f"{type(error).__name__}: {error}")
        typer.echo(f"rlchecks: a fault of rlchecks itself ({problem}); RLCHECKS_DEBUG=1 shows where.", err=True)
        return COULD_NOT_RUN
    return code if isinstance(code, int) else 0


def _finish(document: Mapping[str, Any], as_json: bool, view: str, problem: Exception | None, code: int) -> int:
    if as_json:
        _print_json(document)
    else:
        from rlchecks.report import terminal

        getattr(terminal, view)(_console(), document)
    if problem is not None:
        typer.echo(f"rlchecks: done, but not recorded: {_inert(str(problem))}", err=True)
        return COULD_NOT_RUN
    return code


def _columns(pairs: list[str] | None) -> dict[str, str]:
    columns: dict[str, str] = {}
    for pair in pairs or ():
        own, separator, name = pair.rpartition("=")
        if not separator or not own or not name:
            raise UsageError(f"--column {pair}: expected OWN=NAME, such as mean_score=reward.")
        columns[own] = name
    return columns


def _print_json(document: Any) -> None:
    json.dump(document, sys.stdout, indent=1, default=str)
    sys.stdout.write("\n")


def _console() -> Console:
    from rich.console import Console

    return Console()


def _command() -> str:
    import shlex

    return shlex.join(["rlchecks", *sys.argv[1:]])


def _inert(text: str) -> str:
    """Text without control characters: an error may quote what a log or a model wrote."""
    return "".join(character if character.isprintable() else " " for character in text)


if __name__ == "__main__":
    main()
