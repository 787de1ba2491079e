"""Commands around the others: ``sql``, ``init`` and ``serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlchecks.cli.options import ArchiveOption, JsonOption, ReportsOption
from rlchecks.cli.output import console, print_json
from rlchecks.errors import UsageError
from rlchecks.requests import ARCHIVE, REPORTS


def sql(
    query: Annotated[str, typer.Argument(metavar="SELECT", help="One SELECT statement.")],
    archive: ArchiveOption = ARCHIVE,
    as_json: JsonOption = False,
) -> int:
    """Query the archive: runs, steps, completions, validation, evaluations, signals, verdicts. Read-only."""
    from rlchecks.archive import Archive

    table = Archive(archive).sql(query)
    if as_json:
        print_json(table.to_pylist())
    else:
        from rlchecks.report import terminal

        terminal.table(console(), table)
    return 0


def init(directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty directory.")]) -> int:
    """Copy the suites and thresholds into a directory, to be edited and used with --expectations."""
    from rlchecks.suites import copy_to

    if str(directory) == ".":
        raise UsageError("Give a directory of its own for the suites, such as our-expectations.")
    for path in copy_to(directory):
        typer.echo(f"wrote {path}")
    return 0


def serve(
    archive: ArchiveOption = ARCHIVE,
    reports: ReportsOption = REPORTS,
    cron: Annotated[str, typer.Option(metavar="CRON", help="When the scheduled audit runs.")] = "0 3 * * *",
) -> int:
    """Serve the deployments (ingest, gate, scheduled audit) from this process, until it is stopped."""
    from rlchecks.serve import serve as run_server

    run_server(archive=archive, reports=reports, cron=cron)
    return 0
