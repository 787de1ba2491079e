"""Builders of suite files, so that each test shows only what it changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.health import Suite, load_suite

Expectation = dict[str, Any]


@pytest.fixture
def between() -> Callable[..., Expectation]:
    def build(column: str, *, on_failure: str = "hold", on_missing: str = "hold", **kwargs: Any) -> Expectation:
        return make("expect_column_values_to_be_between", {"column": column, **kwargs}, on_failure, on_missing)

    return build


@pytest.fixture
def in_set() -> Callable[..., Expectation]:
    def build(column: str, values: list[Any], *, on_failure: str = "hold", on_missing: str = "hold") -> Expectation:
        return make(
            "expect_column_values_to_be_in_set", {"column": column, "value_set": values}, on_failure, on_missing
        )

    return build


@pytest.fixture
def present() -> Callable[..., Expectation]:
    def build(column: str, effect: str = "hold") -> Expectation:
        return make("expect_column_values_to_not_be_null", {"column": column}, effect, effect)

    return build


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(*expectations: Expectation, **top: Any) -> Path:
        path = tmp_path / "suite.json"
        path.write_text(json.dumps({"name": "a suite", "expectations": list(expectations), **top}))
        return path

    return write


@pytest.fixture
def load(write: Callable[..., Path]) -> Callable[..., Suite]:
    """Write the expectations to a file and load it; every column that they name is known."""

    def load(*expectations: Expectation) -> Suite:
        return load_suite(write(*expectations), {each["kwargs"]["column"] for each in expectations})

    return load


def make(kind: str, kwargs: dict[str, Any], on_failure: str, on_missing: str) -> Expectation:
    return {
        "type": kind,
        "kwargs": kwargs,
        "severity": "warning" if on_failure == "warn" else "critical",
        "meta": {
            "title": "What is looked at.",
            "why": "Why that is the limit.",
            "advice": "What to do.",
            "on_failure": on_failure,
            "on_missing": on_missing,
        },
    }
