from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import pyarrow as pa
import pytest

from rlchecks.health import Suite
from rlchecks.health.column import Column

Build = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("array", "kind", "missing"),
    [
        (pa.array([1.0, None, nan, inf, -inf]), "number", [False, True, True, True, True]),
        (pa.array([1, None], pa.int32()), "number", [False, True]),
        (pa.array([1.0, nan], pa.float32()), "number", [False, True]),
        (pa.array([True, None, False]), "flag", [False, True, False]),
        (pa.array(["a", None]), "text", [False, True]),
        (pa.array(["a", None], pa.large_string()), "text", [False, True]),
        (pa.nulls(2), "nothing", [True, True]),
        (pa.nulls(2, pa.float64()), "nothing", [True, True]),
        (pa.nulls(2, pa.string()), "nothing", [True, True]),
        (pa.nulls(2, pa.bool_()), "nothing", [True, True]),
        (pa.array([nan, inf]), "nothing", [True, True]),
        (pa.array([[1.0]]), "unusable", [True]),
        (pa.array(["a"]).dictionary_encode(), "unusable", [True]),
    ],
)
def test_null_and_what_is_not_finite_is_missing(array: pa.Array, kind: str, missing: list[bool]) -> None:
    column = Column.read(pa.table({"c": array}), "c")
    assert (column.kind, column.missing.tolist()) == (kind, missing)


def test_a_column_that_the_table_lacks_is_missing_in_every_row() -> None:
    column = Column.read(pa.table({"other": [1, 2, 3]}), "c")
    assert (column.kind, column.missing.tolist()) == ("nothing", [True] * 3)


def test_a_column_that_stands_twice_cannot_be_judged(load: Callable[..., Suite], between: Build) -> None:
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([9.0])], names=["c", "c"])
    complaint = Column.read(table, "c").complaint(load(between("c", max_value=5)).expectations[0])
    assert complaint is not None
    assert "stands twice" in complaint


def test_a_column_of_another_kind_cannot_be_judged(load: Callable[..., Suite], between: Build, in_set: Build) -> None:
    numbers, flags, texts = (Column.read(pa.table({"c": values}), "c") for values in ([1.0], [True], ["x"]))
    limit, no = load(between("c", max_value=5), in_set("c", [False])).expectations
    one = load(in_set("c", ["x"])).expectations[0]
    assert numbers.complaint(limit) is flags.complaint(no) is texts.complaint(one) is None
    for column, spec in [(flags, limit), (texts, limit), (numbers, no), (texts, no), (numbers, one), (flags, one)]:
        assert "but the suite expects" in (column.complaint(spec) or "")


@pytest.mark.parametrize(
    ("kwargs", "failing"),
    [
        ({"min_value": 1}, [True, False, False, False]),
        ({"min_value": 1, "strict_min": True}, [True, True, False, False]),
        ({"max_value": 2}, [False, False, False, True]),
        ({"max_value": 2, "strict_max": True}, [False, False, True, True]),
        ({"min_value": 1, "max_value": 2}, [True, False, False, True]),
    ],
)
def test_limits_belong_to_the_range_unless_strict(
    load: Callable[..., Suite], between: Build, kwargs: dict[str, Any], failing: list[bool]
) -> None:
    column = Column.read(pa.table({"c": [0.0, 1.0, 2.0, 3.0, nan]}), "c")
    assert column.failing(load(between("c", **kwargs)).expectations[0]).tolist() == [*failing, False]
