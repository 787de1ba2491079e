"""All scalars of an event file, decoded thousands at a time.

Nearly all events of a file differ from an earlier one in nothing but the wall time, the step and the value. So one
event of each kind is decoded by hand, and of all others that have the same bytes elsewhere only the bytes at these
places are taken.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rlchecks.errors import InputError
from rlchecks.readers.protobuf import WireError
from rlchecks.readers.rows import MAX_KEYS
from rlchecks.readers.stream import Stream
from rlchecks.readers.tensorboard_checksums import WIDEST
from rlchecks.readers.tensorboard_columns import Collection, Columns
from rlchecks.readers.tensorboard_events import Event, parse
from rlchecks.readers.tensorboard_layouts import Known, alike, known, layout_of, numbers_at, steps_at
from rlchecks.readers.tensorboard_records import Condition, Records, read_records
from rlchecks.readers.text import counted, place
from rlchecks.run import InputFile

# Fewer records of one length are decoded one by one.
_FEW = 8
_MOST_LAYOUTS = 8
_MOST_REMEMBERED = 2 * MAX_KEYS


class EventFile(NamedTuple):
    """What an event file says.

    Attributes:
        path: the file.
        source: the record of having read it.
        begun: wall time of its first event, in seconds since 1970; 0 if it has none.
        names: the names of its series.
        steps: step of each scalar, in the order of the file; int64.
        keys: its series, a place in ``names``; int64.
        values: the scalars; float64.
        texts: text summaries that were wanted, by their names; of several one.
        warnings: what was wrong with the file.
    """

    path: Path
    source: InputFile
    begun: float
    names: tuple[str, ...]
    steps: NDArray[np.int64]
    keys: NDArray[np.int64]
    values: NDArray[np.float64]
    texts: dict[str, str]
    warnings: tuple[str, ...]


def read_scalars(path: Path, texts: frozenset[str] = frozenset(), *, beginning: bool = False) -> EventFile:
    """Read all scalars of an event file.

    Args:
        path: the file.
        texts: names of the text summaries to keep.
        beginning: read no further than the first step that was logged to its end.

    Raises:
        InputError: it cannot be read, is no event file, or has too many series.
    """
    decoder = _Decoder(path, texts)
    stream = Stream(path)
    condition = Condition()
    for records in read_records(stream, condition):
        decoder.add(records)
        if beginning and decoder.scalars.has_a_step:
            break
    if not condition.records:
        raise InputError("no record with a right checksum, so no event file of TensorBoard", path=place(path))
    told = condition.tell()
    if decoder.strange:
        told.append(f"{counted(decoder.strange, 'record')} left out since they are no events")
    names, columns = decoder.scalars.all(list(decoder.names))
    return EventFile(path, stream.source, decoder.begun or 0.0, names, *columns, decoder.texts, tuple(told))


class _Decoder:
    """Collects the scalars of a file."""

    def __init__(self, path: Path, wanted: frozenset[str]) -> None:
        self.path = path
        self.wanted = wanted
        self.names: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.begun: float | None = None
        self.strange = 0
        self._known: dict[int, list[Known]] = {}
        self._remembered = 0
        self.scalars = Collection()

    def add(self, records: Records) -> None:
        """Decode records."""
        # 16 bits, for which NumPy has a sort in linear time.
        lengths = np.minimum(records.lengths, WIDEST + 1).astype(np.uint16)
        order = np.argsort(lengths, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
            if len(members) >= _FEW and lengths[members[0]] <= WIDEST:
                self._together(records, members)
                continue
            for member in members.tolist():
                self._take(member, self._parse(_bytes(records, member)))
        if self.begun is None and len(lengths):
            first = self._parse(_bytes(records, 0))
            self.begun = 0.0 if first is None else first.wall_time
        self.scalars.finish(len(lengths))

    def _take(self, member: int, event: Event | None) -> None:
        """Keep what one event says."""
        if event is None:
            self.strange += 1
            return
        for name, text in event.texts:
            if (tag := _name(name)) in self.wanted:
                self.texts.setdefault(tag, text.decode("utf-8", "replace"))
        for ordinal, scalar in enumerate(event.scalars):
            self.scalars.one(member, ordinal, event.step, self._key(scalar.tag), scalar)

    def _together(self, records: Records, members: NDArray[np.int64]) -> None:
        """Decode records of one length."""
        length = int(records.lengths[members[0]])
        width = -(-length // 8) * 8
        pieces = sliding_window_view(records.buffer, width)[records.starts[members] + length - width]
        layouts = self._known.setdefault(length, [])
        # The one that fitted last is tried first.
        for one in reversed(layouts[:]):
            before = len(members)
            members, pieces = self._matching(one, members, pieces, width - length)
            if len(members) < before:
                layouts.remove(one)
                layouts.append(one)
        done = 0
        while done < len(members):
            event = self._parse(pieces[done, width - length :].tobytes())
            layout = layout_of(event)
            if layout is None or len(layouts) >= _MOST_LAYOUTS or any(one.layout == layout for one in layouts):
                self._take(int(members[done]), event)
                done += 1
                continue
            layouts.append(known(layout, length))
            members, pieces = self._matching(layouts[-1], members[done:], pieces[done:], width - length)
            done = 0

    def _matching(
        self, one: Known, members: NDArray[np.int64], pieces: NDArray[np.uint8], pad: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Decode the records of a layout; the others are returned."""
        if not len(members):
            return members, pieces
        words = pieces.view(np.uint64) & one.constant
        examples, group, same = alike(words)
        series = [self._series(one, words[place].tobytes(), pieces[place, pad:]) for place in examples.tolist()]
        fits = same & np.array([keys is not None for keys in series])[group]
        if not fits.any():
            return members, pieces
        none = (-1,) * len(one.layout.scalars)
        keys = np.array([none if keys is None else keys for keys in series], dtype=np.int64)[group[fits]]
        found, taken = (members, pieces) if fits.all() else (members[fits], pieces[fits])
        steps = steps_at(taken, pad + one.layout.counter[0], one.layout.counter[1])
        for ordinal, (at, kind) in enumerate(one.layout.scalars):
            self.scalars.many(found, ordinal, Columns(steps, keys[:, ordinal], numbers_at(taken, pad + at, kind)))
        return members[~fits], pieces[~fits]

    def _series(self, one: Known, content: bytes, record: NDArray[np.uint8]) -> tuple[int, ...] | None:
        """Tell which series the scalars of a record belong to; None if it has another layout."""
        keys = one.series.get(content)
        if keys is None:
            event = self._parse(record.tobytes())
            if event is None or layout_of(event) != one.layout:
                return None
            keys = tuple(self._key(scalar.tag) for scalar in event.scalars)
            if self._remembered >= _MOST_REMEMBERED:
                self._known, self._remembered = {}, 0
            one.series[content] = keys
            self._remembered += 1
        return keys

    def _key(self, tag: bytes) -> int:
        key = self.names.setdefault(_name(tag), len(self.names))
        if key >= MAX_KEYS:
            raise InputError(f"more than {MAX_KEYS:,} series, more than any log has", path=place(self.path))
        return key

    def _parse(self, data: bytes) -> Event | None:
        try:
            return parse(data)
        except WireError:
            return None


def _bytes(records: Records, member: int) -> bytes:
    start = int(records.starts[member])
    return records.buffer[start : start + int(records.lengths[member])].tobytes()


def _name(tag: bytes) -> str:
    return tag.decode("utf-8", "backslashreplace")
