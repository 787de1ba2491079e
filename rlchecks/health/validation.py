"""Validating a table with Great Expectations, and believing it only where it can be believed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rlchecks.health.column import Column, Rows
from rlchecks.health.result import ERRORED, FAILED, MISSING, NOT_APPLICABLE, PASSED, SuiteResult
from rlchecks.health.suite import Suite
from rlchecks.loading import uncollected

if TYPE_CHECKING:
    import pandas as pd

_INDEX = "index_in_file"
_RESULT_FORMAT = {
    # Positions in a plain RangeIndex: with index columns a sick fleet takes forty times as long.
    "result_format": "COMPLETE",
    "partial_unexpected_count": 0,
    "return_unexpected_index_query": False,
}

# Great Expectations keeps one current context for the whole process.
_lock = Lock()

Verdicts = dict[int, Rows | str]
"""Expectation's index to the rows that Great Expectations reports, or to the reason why there is no answer."""


def validate(suite: Suite, table: pa.Table) -> SuiteResult:
    """Validate every row of a table.

    A value passes only if it is present and finite, Great Expectations reports no failure for it, and our own
    comparison agrees. Where the two disagree, or there is no answer, the expectation is errored on every row.

    Args:
        suite: the suite.
        table: one row per run (signals) or per comparison (evidence). A column that it lacks is missing in all rows.

    Returns:
        an outcome for each row and expectation. Nothing is written to disk or sent anywhere.
    """
    columns = {spec.column: Column.read(table, spec.column) for spec in suite.expectations}
    answers = _great_expectations(suite, columns, table.num_rows) if table.num_rows else {}
    outcomes = np.full((table.num_rows, len(suite.expectations)), ERRORED, dtype=np.int8)
    notes: dict[int, str] = {}
    for index, spec in enumerate(suite.expectations):
        column = columns[spec.column]
        complaint = column.complaint(spec)
        answer = complaint or answers.get(index, "Great Expectations gave no result")
        if isinstance(answer, str):
            notes[index] = answer
            continue
        own = column.failing(spec)
        if not np.array_equal(answer, own):
            notes[index] = "Great Expectations and a direct comparison of the values disagree"
            continue
        outcomes[:, index] = np.where(column.missing, MISSING, np.where(own, FAILED, PASSED))
        if spec.on_missing == "ignore":
            outcomes[column.missing & ~column.infinite, index] = NOT_APPLICABLE
    return SuiteResult(suite, table, outcomes, notes)


def load_great_expectations() -> None:
    """Import Great Expectations, which takes seconds the first time; it sends nothing anywhere."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    if "great_expectations" not in sys.modules:
        with uncollected():
            import_module("great_expectations")


def _great_expectations(suite: Suite, columns: Mapping[str, Column], rows: int) -> Verdicts:
    load_great_expectations()
    from great_expectations import ExpectationSuite, get_context
    from great_expectations.data_context.data_context.context_factory import project_manager
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )
    from great_expectations.exceptions.exceptions import DataContextRequiredError

    config = DataContextConfig(
        analytics_enabled=False,
        progress_bars=ProgressBarsConfig(globally=False),
        # The default would make a temporary directory for data docs.
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
    )
    expectations = [
        {
            "type": spec.type,
            "kwargs": {"column": spec.column}
            | {key: list(value) if isinstance(value, tuple) else value for key, value in spec.kwargs.items()},
            "severity": spec.severity,
            "meta": {_INDEX: index},
        }
        for index, spec in enumerate(suite.expectations)
    ]
    with _lock:
        try:
            previous = project_manager.get_current_project()
        except DataContextRequiredError:
            previous = None
        try:
            context = get_context(mode="ephemeral", project_config=config)
            asset = context.data_sources.add_pandas("rlchecks").add_dataframe_asset("rows")
            batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": _frame(columns, rows)})
            result = batch.validate(
                ExpectationSuite(name=suite.name, expectations=expectations), result_format=_RESULT_FORMAT
            )
        except Exception as error:  # whatever it is, it is no pass
            reason = f"Great Expectations failed: {type(error).__name__}: {error}"
            return dict.fromkeys(range(len(expectations)), reason)
        finally:
            # A flow around us may have a context of its own.
            project_manager.set_project(previous)
    return _answers(suite, result.results, rows)


def _answers(suite: Suite, results: list[Any], rows: int) -> Verdicts:
    answers: Verdicts = {}
    for result in results:
        config = result.expectation_config
        index = config.meta.get(_INDEX) if config is not None and config.meta else None
        if not isinstance(index, int) or not 0 <= index < len(suite.expectations):
            continue
        spec = suite.expectations[index]
        if index in answers or config.type != spec.type or config.kwargs.get("column") != spec.column:
            answers[index] = "Great Expectations' result belongs to another expectation"
        else:
            answers[index] = _rows(result, rows)
    return answers


def _rows(result: Any, rows: int) -> Rows | str:
    found = result.result or {}
    positions = found.get("unexpected_index_list")
    if positions is None or found.get("element_count") != rows or found.get("unexpected_count") != len(positions):
        return f"Great Expectations could not check it: {_message(result.exception_info)}"
    if bool(result.success) != (not positions):
        return "Great Expectations contradicts itself: its success does not follow from its list of failing rows"
    failing = np.zeros(rows, dtype=bool)
    failing[np.asarray(positions, dtype=np.int64)] = True
    return failing


def _message(info: object) -> str:
    """Find the exception's message; it stands at the top or one level down, under the metric that failed."""
    if isinstance(info, Mapping):
        if info.get("exception_message"):
            return str(info["exception_message"])
        for value in info.values():
            if isinstance(value, Mapping):
                return _message(value)
    return "no rows were reported"


def _frame(columns: Mapping[str, Column], rows: int) -> pd.DataFrame:
    import pandas as pd

    series: dict[str, Any] = {}
    for name, column in columns.items():
        if column.kind == "number":
            series[name] = np.where(column.missing, np.nan, column.values)
        elif column.kind == "flag":
            series[name] = pd.arrays.BooleanArray(column.values, column.missing)
        elif column.kind == "text":
            series[name] = pd.Series(column.values, dtype=object)
        else:
            series[name] = np.full(rows, np.nan)
    return pd.DataFrame(series, index=pd.RangeIndex(rows))
