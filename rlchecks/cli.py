"""The command line. Every command ends with 0, 1 or 2 only by a computed decision, and with 3 for everything else."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlchecks import __version__
from rlchecks.errors import RlchecksError, UsageError
from rlchecks.evaluation import command as evaluation
from rlchecks.plain import plain
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
    typer.Option(
        "--column",
        metavar="OWN=NAME",
        help="Your log's column OWN is NAME: step, epoch, reward, reward/<function>, validation_reward, mean_length, "
        "clipped_ratio, zero_std_fraction, kl, entropy or another metric (a wrong NAME lists all); repeatable.",
    ),
]
HeldoutColumns_ = Annotated[
    list[str] | None,
    typer.Option(
        "--heldout-column", metavar="OWN=NAME", help="Your results' column OWN is NAME, such as question_id or score."
    ),
]
Local_ = Annotated[bool, typer.Option("--local", help="Plain function calls, recorded in no orchestrator.")]
Json_ = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
Workers_ = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one a core.")]
Paths_ = Annotated[list[str], typer.Argument(metavar="PATH ...", help="Logs, run directories, or folders of them.")]


@app.command()
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
    profile: Profile_ = PROFILE,
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
    columns: Columns_ = None,
    heldout_columns: HeldoutColumns_ = None,
    archive: Archive_ = ARCHIVE,
    reports: Reports_ = REPORTS,
    expectations: Expectations_ = None,
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
    local: Local_ = False,
    as_json: Json_ = False,
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
        columns=_columns(columns),
        heldout_columns=_columns(heldout_columns, "--heldout-column", "id=question_id"),
        archive=archive,
        reports=reports,
        expectations=expectations,
        command=_command(),
    )
    result, problem = launch.gate(request, local=local)
    commands = outputs.finish(result.document)
    decision = result.document["decision"]
    paths = {"report": str(result.html), "verdict": str(result.json)}
    if as_json:
        promoted = None if result.promotion is None else str(result.promotion.pointer)
        _print_json(result.document | {"files": paths, "promoted": promoted})
    else:
        from rlchecks.report import terminal

        terminal.verdict(_console(), result.document, paths)
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
    """Print every signal of a run; docs/signals.md has units and formulas."""
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
    as_json: Json_ = False,
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
        _print_json(document)
    else:
        for line in document["lines"]:
            typer.echo(line)
    return 0


@app.command()
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
    heldout_columns: HeldoutColumns_ = None,
    as_json: Json_ = False,
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
        columns=_columns(heldout_columns, "--heldout-column", "id=question_id"),
    )
    return _finish(document, as_json, "judges", None, 0)


@app.command()
def init(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty directory.")]) -> int:
    """Copy the suites and thresholds into a directory, to be edited and used with --expectations."""
    from rlchecks.suites import copy_to

    if str(directory) == ".":
        raise UsageError("Give a directory of its own for the suites, such as our-expectations.")
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
    """Run a command and turn whatever happens into an exit code and, at most, one sentence on stderr.

    With ``--json`` the sentence also stands in the document on stdout, as ``{"error": ...}``.
    """
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()
        # Typer's answer to Ctrl-C.
        if code == _INTERRUPTED:
            return _could_not_run("stopped.")
    except RlchecksError as error:
        return _could_not_run(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return _could_not_run("stopped.")
    except (SystemExit, BrokenPipeError):
        # Typer ends the process itself, with 1, when a pipe was closed.
        return _leave_quietly()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _could_not_run(f"{place}{error.strerror or error}.")
    except Exception as error:
        # Typer's own errors (a wrong option, a missing argument) share no public base, but this method. It is empty
        # when the help was shown instead.
        if (wording := getattr(error, "format_message", None)) is not None:
            sentence = wording().rstrip(".")
            if "extra argument" in sentence:
                sentence += "; repeat the option for each file, or name their folder"
            return _could_not_run(f"{sentence}; see --help." if sentence else "")
        if os.environ.get("RLCHECKS_DEBUG"):
            traceback.print_exc()
        problem = f"{type(error).__name__}: {error}"
        return _could_not_run(f"a fault of rlchecks itself ({problem}); RLCHECKS_DEBUG=1 shows where.")
    return code if isinstance(code, int) else 0


_INTERRUPTED = 130


def _could_not_run(sentence: str) -> int:
    if sentence:
        sentence = _inert(sentence)
        with suppress(OSError, ValueError):
            typer.echo(f"rlchecks: {sentence}", err=True)
        with suppress(OSError, ValueError):
            if "--json" in sys.argv:
                _print_json({"error": sentence})
    return COULD_NOT_RUN


def _leave_quietly() -> int:
    """Nobody reads stdout any more; closing it at the end must not raise again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return COULD_NOT_RUN


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


def _columns(pairs: list[str] | None, option: str = "--column", example: str = "mean_score=reward") -> dict[str, str]:
    columns: dict[str, str] = {}
    for pair in pairs or ():
        own, separator, name = pair.rpartition("=")
        if not separator or not own or not name:
            raise UsageError(f"{option} {pair}: expected OWN=NAME, such as {example}.")
        columns[own] = name
    return columns


def _print_json(document: Any) -> None:
    json.dump(plain(document), sys.stdout, indent=1, default=str, allow_nan=False)
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


evaluation.register(app, _columns, _finish)

if __name__ == "__main__":
    main()
