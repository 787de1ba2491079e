"""Commands that read the logs of runs: ``audit``, ``ingest``, ``diagnose`` and ``signals``."""

from __future__ import annotations

from typing import Annotated

import typer

from rlchecks.cli.options import (
    ArchiveOption,
    ColumnsOption,
    ExpectationsOption,
    JsonOption,
    LocalOption,
    PathsArgument,
    ProfileOption,
    ReportsOption,
    WorkersOption,
    columns_of,
)
from rlchecks.cli.output import console, finish, print_json
from rlchecks.requests import ARCHIVE, PROFILE, REPORTS, AuditRequest, IngestRequest


def audit(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="[PATH ...]", help="Ingest these first; default: the archive.")
    ] = None,
    archive: ArchiveOption = ARCHIVE,
    reports: ReportsOption = REPORTS,
    profile: ProfileOption = PROFILE,
    expectations: ExpectationsOption = None,
    columns: ColumnsOption = None,
    workers: WorkersOption = None,
    local: LocalOption = False,
    as_json: JsonOption = False,
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
        columns=columns_of(columns),
        workers=workers,
    )
    document, problem = launch.audit(request, local=local)
    return finish(document, as_json, "audit", problem, exit_code(document))


def ingest(
    paths: PathsArgument,
    archive: ArchiveOption = ARCHIVE,
    run_id: Annotated[str | None, typer.Option(metavar="ID", help="Id of a single run.")] = None,
    columns: ColumnsOption = None,
    workers: WorkersOption = None,
    local: LocalOption = False,
    as_json: JsonOption = False,
) -> int:
    """Read runs into the archive, and say what was understood and what was not."""
    from rlchecks import launch

    request = IngestRequest(
        paths=tuple(paths), archive=archive, run_id=run_id, columns=columns_of(columns), workers=workers
    )
    document, problem = launch.ingest(request, local=local)
    code = 3 if not document["runs"] else 2 if document["refused"] else 0
    return finish(document, as_json, "ingest", problem, code)


def diagnose(
    paths: PathsArgument,
    profile: ProfileOption = PROFILE,
    expectations: ExpectationsOption = None,
    columns: ColumnsOption = None,
    as_json: JsonOption = False,
) -> int:
    """The quick look: signals and findings at once. Nothing is stored, no suite is validated."""
    from rlchecks.audit import exit_code
    from rlchecks.quicklook import look

    document = look(tuple(paths), profile, expectations, columns_of(columns))
    return finish(document, as_json, "diagnosis", None, exit_code(document))


def signals(
    run: Annotated[str, typer.Argument(metavar="RUN_OR_PATH", help="A run's log, or the id of an archived run.")],
    columns: ColumnsOption = None,
    archive: ArchiveOption = ARCHIVE,
    as_json: JsonOption = False,
) -> int:
    """Print every signal of a run; docs/signals.md has units and formulas."""
    from rlchecks import signals as computed
    from rlchecks.stages import load_run

    log = load_run(run, archive, columns=columns_of(columns))
    row = computed.rows(computed.compute(log.steps, [computed.facts_of(log)], log.validation))[0]
    if as_json:
        print_json(row)
    else:
        from rlchecks.report import terminal

        terminal.signals(console(), row)
    return 0
