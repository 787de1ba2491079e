"""Results in the terminal, with rich. Text from logs is never markup and never a terminal command."""

from __future__ import annotations

from rlchecks.report.terminal.decision import verdict
from rlchecks.report.terminal.evaluated import evaluation
from rlchecks.report.terminal.ingested import ingest
from rlchecks.report.terminal.judges import judges
from rlchecks.report.terminal.runs import audit, diagnosis, signals, table

__all__ = ["audit", "diagnosis", "evaluation", "ingest", "judges", "signals", "table", "verdict"]
