"""Events that differ in nothing but wall time, step and scalars: these are taken from many at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlchecks.readers.tensorboard_decimals import to_decimals
from rlchecks.readers.tensorboard_events import BFLOAT16, SINGLE, Event, size_of

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Layout(NamedTuple):
    """Where in records of one length the varying parts stand, in bytes from their beginning.

    Attributes:
        clock: the wall time, None if there is none.
        counter: the step: its first byte and how many it has.
        scalars: each scalar and how it is written.
    """

    clock: int | None
    counter: tuple[int, int]
    scalars: tuple[tuple[int, str], ...]


@dataclass
class Known:
    """A layout of records of one length.

    Attributes:
        layout: the layout.
        constant: the bits that do not vary, as words of a record that ends with the last word.
        series: which series the scalars belong to, by the content of these bits.
    """

    layout: Layout
    constant: NDArray[np.uint64]
    series: dict[bytes, tuple[int, ...]] = field(default_factory=dict)


def layout_of(event: Event | None) -> Layout | None:
    """Return the layout of an event; None if more varies between such events."""
    if event is None or not event.plain:
        return None
    return Layout(event.clock, event.counter, tuple((scalar.at, scalar.kind) for scalar in event.scalars))


def known(layout: Layout, length: int) -> Known:
    """Prepare to find records of this layout and length."""
    bits = np.full(length, 255, dtype=np.uint8)
    if layout.clock is not None:
        bits[layout.clock : layout.clock + 8] = 0
    first, count = layout.counter
    # The upper bit of each byte of the step says whether another one follows.
    bits[first : first + count] = 128
    for at, kind in layout.scalars:
        bits[at : at + size_of(kind)] = 0
    return Known(layout, np.concatenate([np.zeros(-length % 8, dtype=np.uint8), bits]).view(np.uint64))


def alike(words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Group rows of words that are equal.

    Returns:
        The place of an example of each group; the group of each row; and whether the row is equal to the example,
        which it nearly always is.
    """
    # Odd numbers, so that no bit of a word is lost.
    factors = _SPREAD * (2 * np.arange(words.shape[1], dtype=np.uint64) + np.uint64(1))
    hashes = words @ factors
    distinct, group = np.unique(hashes, return_inverse=True)
    examples = np.empty(len(distinct), dtype=np.int64)
    examples[group] = np.arange(len(group))
    return examples, group, (words == words[examples][group]).all(axis=1)


def steps_at(records: NDArray[np.uint8], first: int, count: int) -> NDArray[np.int64]:
    """Decode varints of ``count`` bytes at one place in all records; 0 if they have none."""
    steps = np.zeros(len(records), dtype=np.uint64)
    for byte in range(count):
        steps |= (records[:, first + byte] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * byte)
    return steps.view(np.int64)


def numbers_at(records: NDArray[np.uint8], at: int, kind: str) -> NDArray[np.float64]:
    """Decode the numbers of one kind at one place in all records."""
    content = np.ascontiguousarray(records[:, at : at + size_of(kind)])
    if kind == SINGLE:
        return to_decimals(content.view(SINGLE)[:, 0])
    if kind == BFLOAT16:
        content, kind = np.concatenate([np.zeros_like(content), content], axis=1), SINGLE
    # A NaN that signals would be told.
    with np.errstate(invalid="ignore"):
        return content.view(kind)[:, 0].astype(np.float64)
