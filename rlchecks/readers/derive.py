"""Metrics that a framework does not log but that follow from what it logs, and those that it logs while they are off."""

from __future__ import annotations

from rlchecks.readers.aliases import Framework
from rlchecks.readers.columns import Columns, Notes


def derive(columns: Columns, framework: Framework, count: int, notes: Notes) -> None:
    """Complete the columns of one split in place.

    Args:
        columns: the columns as gathered.
        framework: whose keys they are.
        count: number of rows.
        notes: gets what is noticed.
    """
