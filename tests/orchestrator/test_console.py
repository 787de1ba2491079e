"""Which of Prefect's messages reach the terminal."""

from __future__ import annotations

import logging

import pytest

from rlchecks.orchestrator.console import is_for_the_terminal


def record(logger: str, message: str, level: int = logging.ERROR, *, failed: bool = False) -> logging.LogRecord:
    exception = (ValueError, ValueError("no"), None) if failed else None
    return logging.LogRecord(logger, level, __file__, 1, message, (), exception)


@pytest.mark.parametrize("logger", ["prefect.flow_runs", "prefect.task_runs"])
def test_a_runs_own_failure_is_left_to_the_caller(logger: str) -> None:
    assert not is_for_the_terminal(record(logger, "Encountered exception during execution", failed=True))
    assert not is_for_the_terminal(record(logger, "Finished in state Failed('no')"))
    assert not is_for_the_terminal(record(logger, "Crash detected! Execution was aborted"))


def test_other_warnings_and_errors_are_shown() -> None:
    assert is_for_the_terminal(record("prefect.flow_runs", "the disk is nearly full", logging.WARNING))
    assert is_for_the_terminal(record("prefect.events.clients", "Unable to connect", failed=True))
