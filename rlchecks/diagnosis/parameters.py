"""The thresholds that findings use: joint patterns from ``findings.toml``, levels from the health suite.

Neither needs Great Expectations: the suite's JSON is read as it stands.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlchecks.diagnosis.finding import Severity
from rlchecks.errors import SuiteError

if TYPE_CHECKING:
    from rlchecks.health import Suite

PROFILES = ("chat", "reasoning", "hosted")
"""Kinds of task with healthy ranges of their own."""

FILE = "findings.toml"
_LARGEST = 1e300


@dataclass(frozen=True)
class Parameters:
    """Thresholds of one profile.

    Attributes:
        profile: ``chat``, ``reasoning`` or ``hosted``.
        tables: table name of ``findings.toml`` to its keys, the profile's overrides applied.
        warn_above: column of the health suite to the largest value that does not warn.
        hold_above: column of the health suite to the largest value that does not hold the promotion.
        hold_below: column of the health suite to the smallest value that does not hold the promotion.
        sha256: of the ``findings.toml`` in use.
    """

    profile: str
    tables: Mapping[str, Mapping[str, float | str | list[str]]]
    warn_above: Mapping[str, float]
    hold_above: Mapping[str, float]
    hold_below: Mapping[str, float]
    sha256: str

    def limit(self, table: str, key: str) -> float:
        """A number of ``findings.toml``."""
        value = self.tables[table][key]
        assert isinstance(value, int | float)  # the loader has checked it
        return float(value)

    def words(self, table: str) -> frozenset[str]:
        """The words of a table of ``findings.toml``, in lower case."""
        words = self.tables[table]["words"]
        assert isinstance(words, list)  # the loader has checked it
        return frozenset(word.lower() for word in words)

    def severity(self, code: str, key: str = "severity") -> Severity:
        """A severity of ``findings.toml``."""
        return Severity[str(self.tables[code][key]).upper()]


def load(profile: str, directory: Path, health: Suite, shipped_health: Suite) -> Parameters:
    """Read the thresholds of a profile.

    Args:
        profile: one of :data:`PROFILES`.
        directory: the user's expectations directory; a missing ``findings.toml`` means the shipped one.
        health: the profile's health suite in use.
        shipped_health: the suite shipped for that profile; its limits stand in for expectations that were removed,
            since removing an expectation must not silence a finding.

    Raises:
        SuiteError: the file is no TOML, or has an unknown table or key, or a value of the wrong kind.
    """
    shipped = _read(_shipped_path())
    path = directory / FILE
    given = _read(path) if path.is_symlink() or path.exists() else {}
    tables = {name: dict(table) for name, table in shipped.items() if name not in PROFILES}
    own = given.get(profile, {})
    if not isinstance(own, dict):
        raise SuiteError(f"{path}, {profile}: expected a table of tables, found {type(own).__name__}.")
    overrides = [given, shipped.get(profile, {}), own]
    for place, changes in zip(("", f"{profile}.", f"{profile}."), overrides, strict=True):
        for name, table in changes.items():
            if not place and name in PROFILES:
                continue
            if not isinstance(table, dict):
                raise SuiteError(f"{path}, {place}{name}: expected a table of keys, found {type(table).__name__}.")
            known = tables.get(name)
            if known is None:
                raise SuiteError(f"{path}, [{place}{name}]: unknown table; known are {', '.join(sorted(tables))}.")
            allowed = known.keys() | shipped.get(profile, {}).get(name, {}).keys()
            for key, value in table.items():
                _check(path, f"{place}{name}", key, value, allowed)
                known[key] = value
    warn, hold, below = _limits(shipped_health)
    own_warn, own_hold, own_below = _limits(health)
    used = path if path.is_file() else _shipped_path()
    digest = hashlib.sha256(used.read_bytes()).hexdigest()
    return Parameters(profile, tables, warn | own_warn, hold | own_hold, below | own_below, digest)


def _check(path: Path, table: str, key: str, value: object, allowed: set[str]) -> None:
    if key not in allowed:
        raise SuiteError(f"{path}, [{table}] {key}: unknown key; known are {', '.join(sorted(allowed))}.")
    if key.startswith("severity"):
        words = [severity.label for severity in Severity]
        if value not in words:
            raise SuiteError(f"{path}, [{table}] {key}: expected one of {', '.join(words)}, found {value!r}.")
    elif key == "words":
        if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
            raise SuiteError(f"{path}, [{table}] {key}: expected a list of words, found {value!r}.")
    elif isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise SuiteError(f"{path}, [{table}] {key}: expected a finite number, found {value!r}.")


def _limits(suite: Suite) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    warn: dict[str, float] = {}
    hold: dict[str, float] = {}
    below: dict[str, float] = {}
    for expectation in suite.expectations:
        largest, smallest = expectation.kwargs.get("max_value"), expectation.kwargs.get("min_value")
        if isinstance(largest, int | float):
            (warn if expectation.on_failure == "warn" else hold)[expectation.column] = float(largest)
        if isinstance(smallest, int | float) and expectation.on_failure != "warn":
            below[expectation.column] = float(smallest)
    return warn, hold, below


def _shipped_path() -> Path:
    return Path(__file__).parent.parent / "expectations" / FILE


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, no UTF-8, or an integer of thousands of digits
        raise SuiteError(f"{path}: not readable as TOML: {error}.") from None
    except OSError as error:
        raise SuiteError(f"{path}: cannot be read: {error.strerror}.") from None
