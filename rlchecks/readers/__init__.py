"""Readers: training logs of all kinds to one :class:`rlchecks.run.RunLog` each.

read_run(path)      one run
find_runs(path)     the runs in a tree, each once
"""

from __future__ import annotations

from rlchecks.readers.reading import read_run
from rlchecks.readers.registry import Reader, ReadOptions
from rlchecks.readers.search import find_runs
from rlchecks.readers.search_result import Found, Refusal
from rlchecks.readers.source import Source

__all__ = ["Found", "ReadOptions", "Reader", "Refusal", "Source", "find_runs", "read_run"]
