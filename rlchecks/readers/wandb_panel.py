"""The CSV file that Weights & Biases' web page makes of a chart: the lines of several runs side by side.

The first column is the axis (``Step`` is the counter of log calls; another axis has its key, or is a time). Each line
has three columns: ``<run> - <key>``, and the same with ``__MIN`` and ``__MAX``. A chart draws some 1,500 points a line
at most; of longer ones the value is a mean, and the other two are the ends of what it is a mean of. Source: files in
public repositories; the shape is not documented.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.source import choose
from rlchecks.readers.steps import Row
from rlchecks.readers.table_files import read_rows
from rlchecks.readers.text import clean, counted, readable_part
from rlchecks.readers.trl_rules import apply
from rlchecks.readers.wandb_history import STEP
from rlchecks.readers.wandb_rows import framework_of
from rlchecks.run import RunLog

_SUFFIX = ".csv"
_LOWEST, _HIGHEST = "__MIN", "__MAX"
_BETWEEN = " - "
_CALLS = "Step"
_GROUP = "Group: "

_Lines = dict[str, dict[str, str]]
"""Run to its columns: key to the column's name."""


class WandbPanelReader:
    """Reads exported charts with a reward in them; each run is a part."""

    name = "wandb_panel"
    suffixes = frozenset({_SUFFIX})
    looks_for = "the CSV file of a Weights & Biases chart (columns '<run> - <key>', '<run> - <key>__MIN', ...)"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return False

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.suffix.lower() != _SUFFIX or path.is_dir():
            return False
        return bool(_with_reward(_lines(_header(head))))

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; the names of the runs with a reward."""
        return _with_reward(_lines(_header(read_head(path))))

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first line of numbers, and the run."""
        lines = readable_part(read_head(path)).splitlines()
        return f"{part}: {lines[1]}" if len(lines) > 1 else None

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        table = read_rows(path)
        header = list(table.rows[0])
        lines = _lines(header)
        run = choose(path, _with_reward(lines), options.part)
        axis = STEP if header[0] == _CALLS else header[0]
        rows = Rows()
        means = 0
        for row in table.rows:
            values = {key: row.get(column) for key, column in lines[run].items() if row.get(column) is not None}
            if values:
                rows.append({**values, axis: row.get(header[0])})
                means += any(_is_mean(row, column) for column in lines[run].values())
        keys = {axis, *lines[run]}
        framework = framework_of(keys, options.columns)
        logged = Logged(
            path=path,
            name=clean(run) if len(lines) > 1 else run_name(path),
            framework=framework,
            rows=rows,
            inputs=(table.source,),
            warnings=(*table.warnings, *_doubts(run, means, len(rows))),
            untyped=True,
        )
        return apply(assemble(logged, options), keys)


def _header(head: bytes) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader(io.StringIO(readable_part(head), newline="")), [])]
    except csv.Error:
        return []


def _lines(header: Sequence[str]) -> _Lines:
    present = set(header)
    lines: _Lines = {}
    for column in header[1:]:
        run, between, key = column.rpartition(_BETWEEN)
        if between and run and {column + _LOWEST, column + _HIGHEST} <= present:
            lines.setdefault(run, {})[key] = column
    return lines


def _with_reward(lines: Mapping[str, Iterable[str]]) -> list[str]:
    def has_reward(keys: Iterable[str]) -> bool:
        known = recognise(keys, "table")
        return any(known.is_reward(key) for key in keys)

    return [run for run, keys in lines.items() if has_reward(keys)]


def _is_mean(row: Row, column: str) -> bool:
    # As text, since a NaN does not equal itself.
    lowest, highest = (row.get(column + end) for end in (_LOWEST, _HIGHEST))
    return None not in (lowest, highest) and lowest != highest


def _doubts(run: str, means: int, rows: int) -> list[str]:
    doubts = []
    if run.startswith(_GROUP):
        doubts.append("the line is the mean of a group of runs, not one run")
    elif means:
        doubts.append(
            f"{means} of {counted(rows, 'row')} are means of several steps: a chart holds a sample of the run"
        )
    return doubts
