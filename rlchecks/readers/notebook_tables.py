"""Tables of training metrics in the outputs of a notebook.

Hugging Face's notebook callback shows one table for each training, with the columns ``Step`` (``Epoch`` if it evaluates
after each epoch), ``Training Loss``, and, where it evaluates, ``Validation Loss`` and the other evaluation metrics by
capitalised names (transformers ``utils/notebook.py``, ``NotebookProgressCallback``). Unsloth adds TRL's training
metrics, with blanks around each slash (unsloth_zoo ``logging_utils.py``). Numbers have six decimals.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rlchecks.readers.values import to_number

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[a-zA-Z]+)(?P<rest>[^<>]*)>")
_MAX = re.compile(r"""\bmax=['"]?(\d{1,12})\b""")
_LONGEST = 4096
_MOST_COLUMNS = 20_000
_COUNTERS = {"Step": "step", "Epoch": "epoch"}
_LOSS = "Training Loss"
_VALIDATION_LOSS = "Validation Loss"
_EMPTY = ("", "No log", "No Log")


@dataclass
class Table:
    """A table of metrics.

    Attributes:
        rows: key to number or text; as Hugging Face's trainers log them.
        planned: steps of the progress bar above it.
        uneven: rows left out since they have another number of cells than the heading.
    """

    rows: list[dict[str, object]] = field(default_factory=list)
    planned: int | None = None
    uneven: int = 0


def tables_in(text: str) -> Iterator[Table]:
    """Yield the tables of metrics in HTML; of other tables nothing."""
    planned: int | None = None
    lines: list[list[str]] = []
    line: list[str] = []
    begun = -1
    for tag in _TAG.finditer(text):
        name, closes = tag["name"].lower(), tag["close"] == "/"
        if name == "progress" and not closes:
            found = _MAX.search(tag["rest"])
            # A second bar is that of an evaluation in progress.
            planned = planned or (int(found[1]) if found else None)
        elif name == "table" and closes:
            if lines and _is_metrics(lines[0]):
                yield _table(lines, planned)
            lines, planned = [], None
        elif name == "table":
            lines, line = [], []
        elif name == "tr":
            if line:
                lines.append(line)
            line = []
        elif name in ("td", "th"):
            if closes and begun >= 0 and len(line) < _MOST_COLUMNS:
                line.append(html.unescape(text[begun : min(tag.start(), begun + _LONGEST)]).strip())
            begun = -1 if closes else tag.end()


def _is_metrics(heading: Sequence[str]) -> bool:
    return heading[0] in _COUNTERS and _LOSS in heading


def _table(lines: Sequence[Sequence[str]], planned: int | None) -> Table:
    heading, *others = lines
    evaluates = _VALIDATION_LOSS in heading
    keys = [_key(name, evaluates=evaluates) for name in heading]
    table = Table(planned=planned)
    for line in others:
        if len(line) != len(keys):
            table.uneven += 1
            continue
        cells = zip(keys, line, strict=True)
        row = {key: _value(cell) for key, cell in cells if cell not in _EMPTY}
        if len(row) > 1:
            table.rows.append(row)
    return table


def _key(name: str, *, evaluates: bool) -> str:
    """Write a heading as it was logged."""
    if name in _COUNTERS:
        return _COUNTERS[name]
    if name == _LOSS:
        return "loss"
    if name == _VALIDATION_LOSS:
        return "eval_loss"
    if evaluates and name[:1].isupper():
        return "eval_" + name.lower().replace(" ", "_")
    return name.replace(" / ", "/")


def _value(cell: str) -> object:
    number = to_number(cell)
    if number is None:
        return cell
    return int(number) if cell.isdigit() and len(cell) < 16 else number
