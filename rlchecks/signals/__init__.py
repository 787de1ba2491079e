"""Signals: the steps table of many runs becomes one row of numbers per run."""

from rlchecks.signals.catalogue import SIGNALS, WINDOW, Signal
from rlchecks.signals.compute import RunFacts, compute, facts_of, rows

__all__ = ["SIGNALS", "WINDOW", "RunFacts", "Signal", "compute", "facts_of", "rows"]
