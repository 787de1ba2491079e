"""Copies of one run: the same log twice, or an earlier state of a log that went on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rlchecks.errors import InputError
from rlchecks.readers.registry import Reader, ReadOptions
from rlchecks.readers.source import Source
from rlchecks.readers.text import place
from rlchecks.run import rows_of


class Opened(NamedTuple):
    """A source, its reader, and what its log begins with (None: unknown, so never a copy)."""

    source: Source
    reader: Reader
    opening: str | None


class Copy(NamedTuple):
    """What a source turned out to be.

    Attributes:
        original: the source that it is a copy of.
        steps: its training steps.
        of: those of the original, which begins with them.
    """

    original: Source
    steps: int
    of: int

    @property
    def reason(self) -> str:
        """Say so."""
        original = place(str(self.original))
        if self.steps == self.of:
            return f"a copy of {original}"
        return f"an earlier checkpoint of {original}: its {self.steps} steps are the first of {self.of}"


def alike(openings: Iterable[Opened]) -> list[list[Opened]]:
    """Group the sources that may be copies of each other.

    Those are sources of one reader whose logs begin with the same lines, as far as the shorter opening goes.
    """
    lines = [(one, (one.reader.name, *one.opening.split())) for one in openings if one.opening is not None]
    # Every opening leads to the longest one that it is the beginning of, or that is the beginning of it.
    leads: dict[tuple[str, ...], tuple[str, ...]] = {opening: opening for _, opening in lines}

    def end(opening: tuple[str, ...]) -> tuple[str, ...]:
        while leads[opening] != opening:
            opening = leads[opening]
        return opening

    for opening in list(leads):
        for length in range(2, len(opening)):
            if opening[:length] in leads:
                leads[end(opening[:length])] = end(opening)
    groups: dict[tuple[str, ...], list[Opened]] = {}
    for one, opening in lines:
        groups.setdefault(end(opening), []).append(one)
    return [group for group in groups.values() if len(group) > 1]


def find_copies(group: Sequence[Opened]) -> dict[Source, Copy]:
    """Find the sources whose training rows are those, or the first of those, of another source.

    Args:
        group: sources with the same opening; each is read.

    Returns:
        Copy to what it is a copy of. The longest source is not among the keys.
    """
    logs: list[tuple[Source, NDArray[np.uint64]]] = []
    for source, reader, _ in group:
        try:
            run = reader.read(source.path, ReadOptions(part=source.part))
        except (InputError, OSError, RecursionError):
            # What is wrong with it is said when it is read for good.
            continue
        logs.append((source, _training_rows(run.steps)))
    # Of equal logs the one that is nearer the top of the tree is kept.
    logs.sort(key=lambda log: (-len(log[1]), len(log[0].path.parts), str(log[0])))
    copies: dict[Source, Copy] = {}
    kept: list[tuple[Source, NDArray[np.uint64]]] = []
    for source, rows in logs:
        # A log without training rows shows nothing.
        longer = next((one for one in kept if len(rows) and np.array_equal(one[1][: len(rows)], rows)), None)
        if longer is None:
            kept.append((source, rows))
        else:
            copies[source] = Copy(longer[0], len(rows), len(longer[1]))
    return copies


def _training_rows(steps: pa.Table) -> NDArray[np.uint64]:
    """Return a hash of each training row: of every number in it, NaN included, under its name."""
    train = rows_of(steps, "train")
    hashes = np.zeros(len(train), dtype=np.uint64)
    for name in train.column_names:
        column = train[name].combine_chunks()
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            present = column.is_valid().to_numpy(zero_copy_only=False)
            values = column.drop_null().to_numpy().astype(np.float64)
            hashes[present] += _mixed(values, _salt(name))
        elif name == "extra":
            hashes += _of_maps(column)
    return hashes


def _of_maps(maps: pa.MapArray) -> NDArray[np.uint64]:
    """Return the sum of the hashes of each row's entries."""
    ends = maps.offsets.to_numpy()
    keys = maps.keys.slice(ends[0], ends[-1] - ends[0]).dictionary_encode()
    values = maps.items.slice(ends[0], ends[-1] - ends[0]).to_numpy(zero_copy_only=False)
    salts = np.array([_salt(key) for key in keys.dictionary.to_pylist()], dtype=np.uint64)
    mixed = _mixed(values, salts[keys.indices.to_numpy()])
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    of_rows: NDArray[np.uint64] = sums[ends[1:] - ends[0]] - sums[ends[:-1] - ends[0]]
    return of_rows


def _mixed(values: NDArray[np.float64], salt: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    """Hash numbers by their bits; the constants are those of SplitMix64."""
    bits = np.where(np.isnan(values), np.nan, values).view(np.uint64) ^ salt
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed


def _salt(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
