"""Notebooks (``.ipynb``): what a trainer printed into the outputs of cells, and the table that it showed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from rlchecks.errors import InputError
from rlchecks.readers.console_found import Scan
from rlchecks.readers.console_log import read_log, runs_in
from rlchecks.readers.files import parse_json, read_bytes
from rlchecks.readers.notebook_outputs import scan_outputs
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.text import counted
from rlchecks.run import InputFile, RunLog

LOOKED_INTO = 64 << 20
"""Largest notebook, in bytes, that is read to tell whether there is a logged row in it; a larger one counts if it has
the names that logged rows have."""

# What rows have in a notebook's bytes, where only double quotation marks are escaped.
_NAMES = re.compile(rb"""'reward'|\\"reward\\"|Training Loss|step:\d+ - """)


class NotebookReader:
    """Reads the outputs of Jupyter, Colab and Kaggle notebooks; their code and text are not looked at."""

    name = "notebook"
    suffixes = frozenset({".ipynb"})
    looks_for = "a notebook (.ipynb) with the printed rows or the table of a training among its outputs"

    def holds(self, names: Iterable[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; no directory is a notebook."""
        return False

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; whether there is a logged row in its outputs."""
        if path.suffix.lower() not in self.suffixes or path.is_dir() or not head.lstrip().startswith(b"{"):
            return False
        data = read_bytes(path).data
        if not _NAMES.search(data):
            return False
        if len(data) > LOOKED_INTO:
            return True
        try:
            return bool(scan_outputs(parse_json(data, path)[0], path).entries)
        except InputError:
            # Damaged, which is said when it is read.
            return True

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; runs without a reward are not listed.

        Raises:
            InputError: the notebook cannot be read.
        """
        return runs_in(_read(path)[0].entries, {}).named

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: the notebook cannot be read.
        """
        found = _read(path)[0]
        runs = runs_in(found.entries, {})
        if not runs.all:
            return None
        name = part or runs.named[0]
        return json.dumps(found.rows[runs.all[int(name) - 1].entries[0].at], sort_keys=True, default=str)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        found, source, repeated = _read(path)
        warnings = [f"{counted(repeated, 'object')} with a key given twice: the last one counts"] if repeated else []
        return read_log(path, found, source, options, warnings)


def _read(path: Path) -> tuple[Scan, InputFile, int]:
    contents = read_bytes(path)
    document, repeated = parse_json(contents.data, path)
    return scan_outputs(document, path), contents.source, repeated
