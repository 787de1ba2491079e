"""The command line. Every command ends with 0, 1 or 2 only by a computed decision, and with 3 for everything else."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rlchecks import __version__
from rlchecks.cli.ending import run
from rlchecks.cli.evaluate import evaluate
from rlchecks.cli.gate import gate
from rlchecks.cli.heldout import judges, plan
from rlchecks.cli.runs import audit, diagnose, ingest, signals
from rlchecks.cli.setting_up import init, serve, sql

__all__ = ["app", "main", "run"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Decide whether a model fine-tuned with reinforcement learning may be promoted.\n\n"
    "Exit codes: 0 promote, or no run is sick; 1 reject, or a run is sick; 2 hold, or a run is incomplete; "
    "3 it could not run.",
)

for _command in (gate, audit, ingest, diagnose, signals, sql, plan, judges, init, serve, evaluate):
    app.command()(_command)


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
