"""Copies of one run: the same log twice, or an earlier state of a log that went on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.errors import InputError
from rlchecks.readers.registry import Reader, ReadOptions
from rlchecks.readers.source import Source
from rlchecks.readers.text import place

_OF_THE_RUN = ("run_id", "split", "extra_text")


def find_copies(openings: Iterable[tuple[Source, Reader, str | None]]) -> dict[Source, tuple[Source, str]]:
    """Find the sources whose training rows are those, or the first of those, of another source.

    Only sources with the same opening are read, which in a tree of different runs are none.

    Args:
        openings: source, its reader, and what its log begins with (None: unknown, so never a copy).

    Returns:
        Copy to (what it is a copy of, reason). The longest source is not among the keys.
    """
    alike: dict[tuple[str, str], list[tuple[Source, Reader]]] = {}
    for source, reader, opening in openings:
        if opening is not None:
            alike.setdefault((reader.name, opening), []).append((source, reader))
    copies: dict[Source, tuple[Source, str]] = {}
    for group in alike.values():
        if len(group) > 1:
            copies.update(_compare(group))
    return copies


def _compare(group: Sequence[tuple[Source, Reader]]) -> dict[Source, tuple[Source, str]]:
    logs: list[tuple[Source, list[str]]] = []
    for source, reader in group:
        try:
            logs.append((source, _training_rows(reader.read(source.path, ReadOptions(part=source.part)).steps)))
        except InputError:
            continue
    # Of equal logs the one that is nearer the top of the tree is kept.
    logs.sort(key=lambda log: (-len(log[1]), len(log[0].path.parts), str(log[0])))
    copies: dict[Source, tuple[Source, str]] = {}
    kept: list[tuple[Source, list[str]]] = []
    for source, rows in logs:
        longer = next((one for one in kept if one[1][: len(rows)] == rows), None)
        if longer is None:
            kept.append((source, rows))
            continue
        original = place(str(longer[0]))
        same = len(rows) == len(longer[1])
        ends = f": its {len(rows)} steps are the first of {len(longer[1])}"
        copies[source] = longer[0], f"a copy of {original}" if same else f"an earlier checkpoint of {original}{ends}"
    return copies


def _training_rows(steps: pa.Table) -> list[str]:
    train = steps.filter(pc.equal(steps["split"], "train")).drop_columns(list(_OF_THE_RUN))
    # As text, since a NaN does not equal itself.
    return [repr(row) for row in train.to_pylist()]
