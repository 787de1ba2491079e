"""Options and arguments that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from rlchecks.errors import UsageError

ArchiveOption = Annotated[str, typer.Option("--archive", metavar="DIR", help="The Parquet archive.")]
ReportsOption = Annotated[str, typer.Option("--reports", metavar="DIR", help="Where reports are written.")]
ProfileOption = Annotated[str, typer.Option("--profile", help="Healthy ranges: chat, reasoning or hosted.")]
ExpectationsOption = Annotated[
    str | None, typer.Option("--expectations", metavar="DIR", help="Your own suites, made with `rlchecks init DIR`.")
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="OWN=NAME",
        help="Your log's column OWN is NAME: step, epoch, reward, reward/<function>, validation_reward, mean_length, "
        "clipped_ratio, zero_std_fraction, kl, entropy or another metric (a wrong NAME lists all); repeatable.",
    ),
]
HeldoutColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--heldout-column", metavar="OWN=NAME", help="Your results' column OWN is NAME, such as question_id or score."
    ),
]
LocalOption = Annotated[bool, typer.Option("--local", help="Plain function calls, recorded in no orchestrator.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one a core.")]
PathsArgument = Annotated[
    list[str], typer.Argument(metavar="PATH ...", help="Logs, run directories, or folders of them.")
]


def columns_of(pairs: list[str] | None, option: str = "--column", example: str = "mean_score=reward") -> dict[str, str]:
    """Read ``OWN=NAME`` pairs.

    Args:
        pairs: what was given.
        option: the option it was given with, for the error.
        example: a pair that would be right, for the error.

    Raises:
        UsageError: one is no pair.
    """
    columns: dict[str, str] = {}
    for pair in pairs or ():
        own, separator, name = pair.rpartition("=")
        if not separator or not own or not name:
            raise UsageError(f"{option} {pair}: expected OWN=NAME, such as {example}.")
        columns[own] = name
    return columns
