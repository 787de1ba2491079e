"""Keeping Prefect's tracebacks of a failed run off the terminal.

A run's exception reaches the caller, who reports it once. Prefect also logs it, with its traceback, for every task and
flow it passes: those records stay in Prefect's log, and leave the terminal.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_RUN_LOGGERS = ("prefect.flow_runs", "prefect.task_runs")


def is_for_the_terminal(record: logging.LogRecord) -> bool:
    """Whether the record says something that the caller does not learn otherwise."""
    reports_own_failure = record.exc_info is not None or record.getMessage().startswith(("Finished in state", "Crash"))
    return not (record.name.startswith(_RUN_LOGGERS) and reports_own_failure)


@contextmanager
def without_tracebacks() -> Iterator[None]:
    """Filter the terminal handlers that Prefect has installed in this process, while the block runs.

    Prefect's handler that sends log lines to its server does not complain on the terminal either when it cannot.
    """
    from prefect.logging.handlers import PrefectConsoleHandler

    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, PrefectConsoleHandler)]
    raise_exceptions, logging.raiseExceptions = logging.raiseExceptions, False
    for handler in handlers:
        handler.addFilter(is_for_the_terminal)
    try:
        yield
    finally:
        logging.raiseExceptions = raise_exceptions
        for handler in handlers:
            handler.removeFilter(is_for_the_terminal)
