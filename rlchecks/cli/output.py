"""What commands print: a document as JSON or for people, and what could not be recorded."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from rlchecks.plain import plain

if TYPE_CHECKING:
    from rich.console import Console

COULD_NOT_RUN = 3
"""Exit code of everything that is no computed decision."""


def finish(document: Mapping[str, Any], as_json: bool, view: str, problem: Exception | None, code: int) -> int:
    """Print a document, and end.

    Args:
        document: it.
        as_json: as JSON, not for people.
        view: the function of :mod:`rlchecks.report.terminal` that shows it.
        problem: why the orchestrator could not record it, if so.
        code: the exit code if it was recorded.
    """
    if as_json:
        print_json(document)
    else:
        from rlchecks.report import terminal

        getattr(terminal, view)(console(), document)
    if problem is not None:
        typer.echo(f"rlchecks: done, but not recorded: {inert(str(problem))}", err=True)
        return COULD_NOT_RUN
    return code


def print_json(document: Any) -> None:
    """Print a JSON document, and nothing else."""
    json.dump(plain(document), sys.stdout, indent=1, default=str, allow_nan=False)
    sys.stdout.write("\n")


def console() -> Console:
    """Return the terminal, for Rich."""
    from rich.console import Console

    return Console()


def inert(text: str) -> str:
    """Text without control characters: an error may quote what a log or a model wrote."""
    return "".join(character if character.isprintable() else " " for character in text)
