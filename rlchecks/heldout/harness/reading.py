"""One held-out file: an evaluation log, results with columns of their own, or held-out rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout.harness.columns import TARGETS, ColumnsFormat, header_of
from rlchecks.heldout.harness.given import Given
from rlchecks.heldout.harness.log import EvalLog
from rlchecks.heldout.harness.registry import format_of
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import shown
from rlchecks.heldout.values import REQUIRED


def check_columns(columns: Mapping[str, str]) -> None:
    """Refuse names that no column can have.

    Raises:
        UsageError: which one, and what there is.
    """
    for own, target in columns.items():
        if target not in TARGETS:
            raise UsageError(
                f"--heldout-column {own}={target}: there is no such column; it can be {', '.join(TARGETS)}."
            )


def read_log(source: Source, given: Given, columns: Mapping[str, str]) -> EvalLog | None:
    """The evaluation log that a file is; None if it has to be read as held-out rows.

    Args:
        source: the file.
        given: how it was given.
        columns: own names of columns, by :func:`check_columns`.

    Raises:
        InputError: it cannot be read.
    """
    named = ColumnsFormat(columns)
    try:
        if named.fits(source):
            return named.read(source)
        own = bool(columns) or given.checkpoint is not None
        if given.checkpoint is None and set(REQUIRED) <= set(header_of(source) if own else source.opening):
            return None
        found = format_of(source)
    except InputError:
        # Held-out rows that are torn in their first line get their own error.
        if source.path.suffix.lower() != ".json" and source.kind == "document":
            return None
        raise
    if found is not None:
        return _told(found.read(source), source)
    return named.read(source) if own else None


def _told(log: EvalLog, source: Source) -> EvalLog:
    if not source.repaired:
        return log
    said = f"{source.path.name}: {source.repaired} escapes in its JSON mean nothing and were taken as they stand."
    return replace(log, warnings=(*log.warnings, said))


def check_used(columns: Mapping[str, str], used: bool) -> None:
    """Refuse columns that no file has.

    Raises:
        UsageError: which ones.
    """
    if columns and not used:
        raise UsageError(f"No held-out file has the columns {', '.join(map(shown, columns))} of --heldout-column.")
