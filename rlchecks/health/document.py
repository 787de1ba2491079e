"""Reading a suite's JSON strictly: what Great Expectations would silently drop or weaken is refused here."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, ValidationError, model_validator

from rlchecks.errors import SuiteError
from rlchecks.health.suite import TYPES, ExpectationSpec, OnFailure, OnMissing, Scalar, Suite

SEVERITY: dict[OnFailure, str] = {"hold": "critical", "reject": "critical", "warn": "warning"}
"""Great Expectations' severity that belongs to each effect."""

_REFUSED = {
    "mostly": "it would pass a column with failing rows; every row has to stand for itself",
    "row_condition": "a condition that matches no row would pass; check the column without it",
    "condition_parser": "conditions are refused, since one that matches no row would pass",
}

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Between(_Model):
    column: str
    min_value: FiniteFloat | None = None
    max_value: FiniteFloat | None = None
    strict_min: bool = False
    strict_max: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> _Between:
        low, high = self.min_value, self.max_value
        if low is None and high is None:
            raise ValueError("min_value or max_value is required")
        if low is not None and high is not None:
            if low > high:
                raise ValueError(f"min_value {low:g} is above max_value {high:g}")
            if low == high and (self.strict_min or self.strict_max):
                raise ValueError("no value can satisfy it: min_value equals max_value and a limit is strict")
        return self


class _InSet(_Model):
    column: str
    value_set: list[bool] | list[FiniteFloat] | list[str] = Field(min_length=1)


class _NotNull(_Model):
    column: str


class _Meta(_Model):
    title: _Text
    why: _Text
    advice: _Text
    on_failure: OnFailure
    on_missing: OnMissing
    code: _Name | None = None
    code_passed: _Name | None = None


class _Expectation(_Model):
    meta: _Meta
    severity: str
    # Great Expectations writes these; none of them has a meaning here.
    id: str | None = None
    notes: str | list[str] | None = None
    description: str | None = None

    @model_validator(mode="after")
    def _agrees(self) -> _Expectation:
        wanted = SEVERITY[self.meta.on_failure]
        if self.severity != wanted:
            raise ValueError(f'severity must be "{wanted}" to agree with on_failure "{self.meta.on_failure}"')
        return self


class _BetweenExpectation(_Expectation):
    type: Literal["expect_column_values_to_be_between"]
    kwargs: _Between


class _InSetExpectation(_Expectation):
    type: Literal["expect_column_values_to_be_in_set"]
    kwargs: _InSet


class _NotNullExpectation(_Expectation):
    type: Literal["expect_column_values_to_not_be_null"]
    kwargs: _NotNull

    @model_validator(mode="after")
    def _same_effect(self) -> _NotNullExpectation:
        # Here missing is the only way to fail, so that two effects would contradict each other.
        if self.meta.on_missing != self.meta.on_failure:
            raise ValueError("on_missing must equal on_failure, since a missing value is its only failure")
        return self


class _Document(_Model):
    name: _Text
    expectations: list[
        Annotated[_BetweenExpectation | _InSetExpectation | _NotNullExpectation, Field(discriminator="type")]
    ] = Field(min_length=1)
    id: str | None = None
    meta: dict[str, Any] | None = None
    notes: str | list[str] | None = None


def load_suite(path: Path, known: Collection[str]) -> Suite:
    """Read a suite in Great Expectations' own JSON.

    Args:
        path: the file.
        known: the columns that the table to be validated can have.

    Returns:
        the suite, with every expectation of the file.

    Raises:
        SuiteError: the file cannot be read, is not such a suite, or could pass without having checked anything.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SuiteError(f"{path}: the suite cannot be read: {error.strerror}.") from None
    try:
        raw = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant)
        document = _Document.model_validate(raw)
    except ValidationError as error:
        raise SuiteError(f"{path}{_first(error)}.") from None
    except (ValueError, RecursionError) as error:
        raise SuiteError(f"{path}: not usable as JSON: {error}.") from None
    specs = tuple(_spec(expectation) for expectation in document.expectations)
    _check_columns(path, specs, known)
    return Suite(document.name, sha256(content).hexdigest(), specs)


def _spec(expectation: _BetweenExpectation | _InSetExpectation | _NotNullExpectation) -> ExpectationSpec:
    meta = expectation.meta
    given = expectation.kwargs.model_dump(exclude_defaults=True)
    column = given.pop("column")
    kwargs: dict[str, Scalar | tuple[Scalar, ...]] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in given.items()
    }
    code = meta.code or f"health_{column}"
    return ExpectationSpec(
        expectation.type,
        column,
        kwargs,
        code,
        meta.code_passed or code,
        meta.title,
        meta.why,
        meta.advice,
        meta.on_failure,
        meta.on_missing,
        expectation.severity,
    )


def _check_columns(path: Path, specs: Iterable[ExpectationSpec], known: Collection[str]) -> None:
    seen: dict[object, int] = {}
    spelled: dict[str, str] = {}
    for index, spec in enumerate(specs):
        place = f"{path}, expectations[{index}]"
        if spec.column not in known:
            close = get_close_matches(spec.column, known, n=3)
            others = [name for name in sorted(known) if name not in close]
            raise SuiteError(f"{place}: unknown column {spec.column!r}; known are {', '.join(close + others)}.")
        # Great Expectations matches column names without regard to case.
        if spelled.setdefault(spec.column.lower(), spec.column) != spec.column:
            raise SuiteError(f"{place}: column {spec.column!r} differs from another only in case; rename one.")
        same = (spec.type, spec.column, tuple(sorted(spec.kwargs.items())))
        if same in seen:
            raise SuiteError(f"{place}: repeats expectations[{seen[same]}]; remove one of the two.")
        seen[same] = index


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {repeated!r} stands twice in one object")
    return result


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number that a limit can have")


def _first(error: ValidationError) -> str:
    """Turn pydantic's first complaint into the end of a sentence: where, what was expected."""
    complaints = error.errors(include_url=False)
    complaint = complaints[0]
    kind, found = complaint["type"], complaint["input"]
    # The discriminator and the members of a union are steps of pydantic's path, not of the file's.
    steps = [step for step in complaint["loc"] if step not in TYPES and not str(step).startswith("list[")]
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    key = str(steps[-1]) if steps else ""
    if kind == "extra_forbidden":
        said = f"is refused: {_REFUSED[key]}" if key in _REFUSED else "is no key that is known here"
    elif kind == "union_tag_invalid":
        type_ = found.get("type") if isinstance(found, Mapping) else found
        said = f"unknown type {_short(type_)}; known are {', '.join(TYPES)}"
    elif kind == "union_tag_not_found":
        said = f"type is required: one of {', '.join(TYPES)}"
    elif kind == "missing":
        said = "is required"
    elif isinstance(found, Mapping) and "$PARAMETER" in found:
        said = "a $PARAMETER is refused, since nothing would fill it in; write the value"
    elif kind == "value_error":
        said = str(complaint["ctx"]["error"])
    else:
        said = f"{complaint['msg'][0].lower()}{complaint['msg'][1:]}, found {_short(found)}"
    more = f" ({len(complaints) - 1} more such errors)" if len(complaints) > 1 else ""
    joint = " " if said.startswith("is ") else ": "
    return f", {place}{joint}{said}{more}" if place else f": {said}{more}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
