"""One row of Weights & Biases' history: which of its items are numbers, and under which key.

A HistoryRecord (wandb/wandb wandb/proto/wandb_internal.proto) has items (field 1) and the step (field 2, HistoryStep,
num in field 1: the counter of log calls, which is an item ``_step`` too). An item has a key (field 1) or a nested key
(field 2, repeated) and a value as JSON of Python's kind, bare NaN and Infinity included (field 16). SDKs with the Go
core nest what was logged as a dictionary; the ones before it (up to 0.16 at least) write a JSON object instead. Media,
tables and histograms are dictionaries with a ``_type``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rlchecks.readers.protobuf import BYTES, fields, message, signed
from rlchecks.readers.rows import MAX_KEYS
from rlchecks.readers.text import counted, listing

STEP = "_step"
"""Key of the counter of log calls."""

LONGEST_TEXT = 64
"""Longest logged text, in characters, that is kept: numbers in quotation marks and labels, no answers."""

_ITEM, _STEP, _NUM = 1, 2, 1
_KEY, _NESTED, _VALUE = 1, 2, 16
# Their tags, number and wire type, as they are written.
_SHORT_KEY = (_KEY << 3 | BYTES, _NESTED << 3 | BYTES)
_SHORT_VALUE = bytes([_VALUE << 3 & 0x7F | BYTES | 0x80, _VALUE >> 4])
_TYPE = "_type"
_DEEPEST = 16
_Value = tuple[tuple[str, ...], object]
_NUMERIC = b"0123456789+-.eE"
_LONG_NUMBER = 25
_DECODER = json.JSONDecoder()


@dataclass
class History:
    """Turns records into rows, and counts what it leaves out.

    Attributes:
        left_out: key to how many of its values were objects, lists or long texts.
        unreadable: key to how many of its values were no JSON.
        doubled: values of a key that its row had already.
    """

    left_out: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    doubled: int = 0

    def row(self, record: bytes) -> dict[str, object]:
        """Decode a HistoryRecord; the last value of a key counts.

        Raises:
            WireError: it is no message.
        """
        found: list[_Value] = []
        step: int | None = None
        for number, _, value in fields(record):
            if number == _ITEM and isinstance(value, bytes):
                found += self._item(value)
            elif number == _STEP and isinstance(value, bytes):
                num = message(value).get(_NUM, 0)
                step = signed(num) if isinstance(num, int) else None
        row = self._kept(found)
        if step is not None:
            row.setdefault(STEP, step)
        # The Go core writes the items in random order; rows with equal keys shall look alike.
        return dict(sorted(row.items()))

    def plain(self, row: Mapping[str, object]) -> dict[str, object]:
        """Take what is no number or short text out of an exported row."""
        return self._kept([found for key, value in row.items() for found in self._flat((key,), value)])

    def warnings(self) -> tuple[str, ...]:
        """Say in sentences what is no fault of the format."""
        said = []
        if self.unreadable:
            values = counted(sum(self.unreadable.values()), "value")
            said.append(f"{values} of {listing(self.unreadable)} left out: no valid JSON")
        if self.doubled:
            said.append(f"{counted(self.doubled, 'value')} of a key given twice in one row: the last one counts")
        return tuple(said)

    def _item(self, item: bytes) -> Iterable[_Value]:
        path, text = split_item(item)
        # Nearly all values are plain numbers; longer ones may be integers beyond the range of a double.
        if len(text) < _LONG_NUMBER and not text.strip(_NUMERIC):
            try:
                return ((path, int(text) if text.isdigit() else float(text)),)
            except ValueError:
                pass
        try:
            whole = text.decode()
            value, end = _DECODER.raw_decode(whole)
        except (ValueError, RecursionError):
            end, whole = -1, ""
        if end != len(whole):
            _count(self.unreadable, path)
            return ()
        return self._flat(path, value)

    def _flat(self, path: tuple[str, ...], value: object) -> Iterator[_Value]:
        """Take a dictionary apart, as the Go core does."""
        if isinstance(value, dict) and _TYPE not in value and len(path) < _DEEPEST:
            for key, inner in value.items():
                yield from self._flat((*path, key), inner)
        else:
            yield path, value

    def _kept(self, found: list[_Value]) -> dict[str, object]:
        media = {path[:-1] for path, _ in found if path[-1] == _TYPE}
        row: dict[str, object] = {}
        for path, value in found:
            one = next((start for start in media if path[: len(start)] == start), None) if media else None
            if one is None and not isinstance(value, (dict, list)) and not _is_long(value):
                key = ".".join(path)
                self.doubled += key in row
                row[key] = value
            elif one is None or path[-1] == _TYPE:
                _count(self.left_out, one or path)
        return row


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) > LONGEST_TEXT


def split_item(item: bytes) -> tuple[tuple[str, ...], bytes]:
    """Read an item: its key, as a path of more than one name if it is nested, and its value as JSON.

    Raises:
        WireError: it is no message.
    """
    # Nearly all items are one key and one value, both short.
    if len(item) > 2 and item[0] in _SHORT_KEY and item[1] < 0x80:
        end = 2 + item[1]
        start = end + 3
        if item[end : end + 2] == _SHORT_VALUE and start <= len(item) and item[start - 1] == len(item) - start < 0x80:
            return (item[2:end].decode("utf-8", "replace"),), item[start:]
    path: tuple[str, ...] = ()
    text = b""
    for number, _, value in fields(item):
        if isinstance(value, bytes) and number in (_KEY, _NESTED):
            path = (*path, value.decode("utf-8", "replace"))
        elif isinstance(value, bytes) and number == _VALUE:
            text = value
    return path or ("",), text


def _count(counts: dict[str, int], path: tuple[str, ...]) -> None:
    key = ".".join(path)
    if key in counts or len(counts) < MAX_KEYS:
        counts[key] = counts.get(key, 0) + 1
