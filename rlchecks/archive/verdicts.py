"""Verdicts: one immutable file per verdict, complete in itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from rlchecks.archive.escape import escape
from rlchecks.archive.reading import Refusal, joined, report
from rlchecks.archive.store import SUFFIX, Store, first_line
from rlchecks.archive.tables import decode, encode
from rlchecks.errors import ArchiveError
from rlchecks.schema import VERDICTS

_ID_LIMIT = 80


def write_verdict(store: Store, row: Mapping[str, object]) -> bool:
    """Write a verdict; the same one again changes nothing, and its first ``created_at`` stays.

    Args:
        store: the archive's files.
        row: a row of ``verdicts``.

    Returns:
        Whether it is new.

    Raises:
        ArchiveError: if the id exists with other content, or the row is none of ``verdicts``.
    """
    unknown = set(row) - set(VERDICTS.names)
    if unknown or not row.get("run_id") or not row.get("id"):
        problem = f"has the unknown field {min(unknown)!r}" if unknown else "needs run_id and id"
        raise ArchiveError(f"The verdict cannot be archived because it {problem}.")
    try:
        table = pa.Table.from_pylist([dict(row)], schema=VERDICTS)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise ArchiveError(f"The verdict cannot be archived ({first_line(error)}).") from error
    stem = escape(str(row["run_id"]))
    # No dot in the verdict's part, so that the run's part, which may hold dots, ends at the last one.
    path = f"verdicts/{stem}.{escape(str(row['id']), _ID_LIMIT).replace('.', '%2e')}{SUFFIX}"
    with store.exclusive(stem) as writer:
        try:
            present = decode("verdicts", store.read(path), store.full(path)).to_pylist()
        except FileNotFoundError:
            writer.write({path: encode("verdicts", table).data})
            return True
    if [_content(old) for old in present] != [_content(new) for new in table.to_pylist()]:
        raise ArchiveError(
            f"The verdict {row['id']!r} of run {row['run_id']!r} is in the archive with other content, and verdicts "
            "are never changed; give the new one its own id."
        )
    return False


def read_verdicts(store: Store, run_id: str | None, refused: list[Refusal] | None) -> pa.Table:
    """Read the verdicts of one run, or all, in the order in which they were made.

    Args:
        store: the archive's files.
        run_id: the run; None for all.
        refused: takes the files that could not be read. Without it any such file is an error.

    Raises:
        ArchiveError: if a file is damaged and ``refused`` is None.
    """
    wanted = None if run_id is None else escape(run_id)
    pieces, problems = [VERDICTS.empty_table()], []
    for stem in store.stems("verdicts"):
        if wanted is not None and stem.rpartition(".")[0] != wanted:
            continue
        path = f"verdicts/{stem}{SUFFIX}"
        try:
            pieces.append(decode("verdicts", store.read(path), store.full(path)).replace_schema_metadata(None))
        except FileNotFoundError:
            problems.append(Refusal(stem, f"{store.full(path)} was deleted while it was read."))
        except ArchiveError as error:
            problems.append(Refusal(stem, str(error)))
    report(problems, refused)
    return joined(pieces).sort_by([("created_at", "ascending"), ("id", "ascending")])


def _content(verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in verdict.items() if name != "created_at"}
