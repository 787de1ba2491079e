"""The outputs of a notebook to logged rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.console_found import Scan
from rlchecks.readers.console_rows import Entry
from rlchecks.readers.console_scan import scan
from rlchecks.readers.notebook_tables import Table, tables_in
from rlchecks.readers.rows import Rows
from rlchecks.readers.text import place


def scan_outputs(document: object, path: Path) -> Scan:
    """Find the logged rows in the outputs of a notebook's cells, in order.

    Args:
        document: the notebook.
        path: its file, for errors.

    Raises:
        NotARunError: it is no notebook of format 4.
    """
    found = Scan(Rows(path))
    previous: Table | None = None
    for output in _outputs(document, path):
        if isinstance(output, Table):
            if previous is not None and _begins_with(output, previous):
                _drop(found, len(previous.rows))
            if previous is None or not _begins_with(previous, output):
                _add_table(found, output)
                previous = output
        else:
            _add_text(found, scan([output], path))
    return found


def _outputs(document: object, path: Path) -> Iterator[Table | bytes]:
    """Yield what the cells printed: texts between tables as one, since a line may go on in the next output."""
    cells = document.get("cells") if isinstance(document, Mapping) else None
    if not isinstance(cells, list):
        raise NotARunError("no notebook of format 4: it has no list of cells", path=place(path))
    printed: list[str] = []
    for cell in cells:
        outputs = cell.get("outputs") if isinstance(cell, Mapping) else None
        for output in outputs if isinstance(outputs, list) else []:
            if not isinstance(output, Mapping):
                continue
            data = output.get("data")
            shown = data if isinstance(data, Mapping) else {}
            if output.get("output_type") == "stream":
                printed.append(_joined(output.get("text")))
                continue
            tables = list(tables_in(_joined(shown.get("text/html"))))
            if not tables:
                printed.append(f"\n{_joined(shown.get('text/plain'))}\n")
                continue
            yield _text(printed)
            yield from tables
        printed.append("\n")
    yield _text(printed)


def _text(printed: list[str]) -> bytes:
    """Take what was printed so far."""
    text = "".join(printed).encode("utf-8", "replace")
    printed.clear()
    return text + b"\n"


def _joined(value: object) -> str:
    if isinstance(value, str):
        return value
    return "".join(part for part in value if isinstance(part, str)) if isinstance(value, list) else ""


def _begins_with(one: Table, other: Table) -> bool:
    """Whether the second table is an earlier state of the first, which some programs save, too."""
    return bool(other.rows) and one.rows[: len(other.rows)] == other.rows


def _drop(found: Scan, count: int) -> None:
    """Forget the rows of the last table; what is among the rows and in no entry is not used."""
    del found.entries[-count:]


def _add_table(found: Scan, table: Table) -> None:
    start = found.entries[-1].place + 1 if found.entries else 0
    for number, row in enumerate(table.rows):
        step = row.get("step")
        entry = Entry(
            tuple(row),
            "notebook",
            step if isinstance(step, int) else None,
            planned=table.planned,
            rounded="6 decimals",
            at=len(found.rows),
            place=start + number,
        )
        found.entries.append(entry)
        found.rows.append(row)
    found.lost += table.uneven


def _add_text(found: Scan, other: Scan) -> None:
    """Append what was found in a text."""
    rows, start = len(found.rows), found.entries[-1].place + 1 if found.entries else 0
    if other.entries and found.torn:
        found.lost += 1
    for row in other.rows:
        found.rows.append(row)
    found.entries += [entry._replace(at=entry.at + rows, place=entry.place + start) for entry in other.entries]
    found.planned += [(at + start, total) for at, total in other.planned]
    found.lost += other.lost
    found.cut += other.cut
    found.damaged += other.damaged
    found.passed_over += other.passed_over
    found.torn = other.torn
