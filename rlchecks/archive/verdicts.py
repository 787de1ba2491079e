"""Verdicts: one immutable file per verdict, complete in itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from rlchecks.archive.escape import escape
from rlchecks.archive.reading import Refusal, joined, report
from rlchecks.archive.store import SUFFIX, Store, first_line
from rlchecks.archive.tables import damaged, decode, encode
from rlchecks.errors import ArchiveError
from rlchecks.schema import VERDICTS

_ID_DIGITS = 16
_IN_DOCUMENT = ("id", "decision", "candidate", "baseline")
_IN_COMPARISON = (
    "heldout_set",
    "heldout_sketch",
    "family",
    "candidate_identity",
    "answers_identity",
    "other_answers",
    "choose_on",
)


def write_verdict(store: Store, row: Mapping[str, object]) -> bool:
    """Write a verdict; the same one again changes nothing, and its first ``created_at`` stays.

    Args:
        store: the archive's files.
        row: a row of ``verdicts``.

    Returns:
        Whether it is new.

    Raises:
        ArchiveError: if the id exists with other content, or the row is none of ``verdicts``, or its columns
            contradict its document.
    """
    unknown = set(row) - set(VERDICTS.names)
    if unknown or not row.get("run_id") or not row.get("id"):
        problem = f"has the unknown field {min(unknown)!r}" if unknown else "needs run_id and id"
        raise ArchiveError(f"The verdict cannot be archived because it {problem}.")
    try:
        table = pa.Table.from_pylist([dict(row)], schema=VERDICTS)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise ArchiveError(f"The verdict cannot be archived ({first_line(error)}).") from error
    contradiction = _contradiction(table.to_pylist()[0])
    if contradiction:
        raise ArchiveError(f"The verdict cannot be archived because {contradiction}.")
    path = f"verdicts/{_stem(row)}{SUFFIX}"
    with store.exclusive(escape(str(row["run_id"]))) as writer:
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
    """Read and verify the verdicts of one run, or all, in the order in which they were made.

    A verdict's document must have the SHA-256 that its row gives, and the row's columns must not contradict it.

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
            pieces.append(_verified(decode("verdicts", store.read(path), store.full(path)), stem, store.full(path)))
        except FileNotFoundError:
            problems.append(Refusal(stem, f"{store.full(path)} was deleted while it was read."))
        except ArchiveError as error:
            problems.append(Refusal(stem, str(error)))
    report(problems, refused)
    return joined(pieces).sort_by([("created_at", "ascending"), ("id", "ascending")])


def _stem(row: Mapping[str, Any]) -> str:
    # The id holds no dot, so that the run's part, which may hold some, ends at the last one.
    return f"{escape(str(row['run_id']))}.{row['id']}"


def _verified(table: pa.Table, stem: str, path: str) -> pa.Table:
    if table.num_rows != 1:
        raise damaged(path, f"it has {table.num_rows} rows instead of one", "verdicts")
    try:
        (row,) = table.to_pylist()
        problem = _contradiction(row)
    except UnicodeDecodeError:
        problem = "a text in it is no UTF-8"
    if problem:
        raise damaged(path, problem, "verdicts")
    if _stem(row) != stem:
        raise ArchiveError(f"{path} holds a verdict on run {row['run_id']!r} of another file name; undo the renaming.")
    return table.replace_schema_metadata(None)


def _contradiction(row: Mapping[str, Any]) -> str | None:
    """Say what in a row of ``verdicts`` is not as its document has it; None if all is."""
    text, sha256 = row["document"] or "", row["document_sha256"]
    if hashlib.sha256(text.encode()).hexdigest() != sha256:
        return "its document_sha256 is not the SHA-256 of its document"
    if row["id"] != sha256[:_ID_DIGITS]:
        return f"its id is not the first {_ID_DIGITS} digits of its document's SHA-256"
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return "its document is no JSON object"
    run, comparison = document.get("run"), document.get("comparison")
    if isinstance(comparison, dict):
        document |= {name: comparison[name] for name in _IN_COMPARISON if name in comparison}
    told = {**document, "run_id": run["id"]} if isinstance(run, dict) and "id" in run else document
    wrong = [name for name in (*_IN_DOCUMENT, *_IN_COMPARISON, "run_id") if name in told and told[name] != row[name]]
    return f"its {wrong[0]} is not the one in its document" if wrong else None


def _content(verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in verdict.items() if name != "created_at"}
