"""The suites of one profile, as a user's directory or the shipped one has them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from rlchecks import evidence
from rlchecks.diagnosis.parameters import FILE as FINDINGS_FILE
from rlchecks.diagnosis.parameters import PROFILES, Parameters
from rlchecks.diagnosis.parameters import load as load_parameters
from rlchecks.errors import SuiteError, UsageError
from rlchecks.health import Suite, load_suite
from rlchecks.signals.catalogue import SIGNALS

SHIPPED = Path(__file__).parent / "expectations"
"""Directory of the suites that come with rlchecks."""

PROMOTION_FILE = "promotion.json"


@dataclass(frozen=True)
class Suites:
    """Everything that decides, for one profile.

    Attributes:
        health: expectations over the signals table.
        promotion: expectations over the evidence table.
        parameters: thresholds of the findings.
    """

    health: Suite
    promotion: Suite
    parameters: Parameters


def health_file(profile: str) -> str:
    """Name of the health suite of a profile; ``chat`` is the default and has no suffix."""
    return "training_health.json" if profile == "chat" else f"training_health.{profile}.json"


def load(profile: str, directory: str | Path | None = None) -> Suites:
    """Load and check the suites of a profile.

    Args:
        profile: one of :data:`rlchecks.diagnosis.PROFILES`.
        directory: a directory made by :func:`copy_to`; None means the shipped one.

    Raises:
        UsageError: there is no such profile.
        SuiteError: a file is missing or unusable.
    """
    if profile not in PROFILES:
        raise UsageError(f"Unknown profile {profile!r}; known are {', '.join(PROFILES)}.")
    place = SHIPPED if directory is None else Path(directory)
    if not place.is_dir():
        raise SuiteError(f"{place}: no such directory of expectations; make one with: rlchecks init {place}")
    health = load_suite(place / health_file(profile), SIGNALS)
    shipped_health = health if directory is None else load_suite(SHIPPED / health_file(profile), SIGNALS)
    promotion = load_suite(place / PROMOTION_FILE, evidence.COLUMNS)
    _require_unnamed(place / PROMOTION_FILE, promotion)
    return Suites(health, promotion, load_parameters(profile, place, health, shipped_health))


def _require_unnamed(path: Path, promotion: Suite) -> None:
    """Refuse a promotion suite that would let a finding pass that it does not name."""
    if not any(
        one.column == "unnamed_finding" and one.on_failure != "warn" and one.kwargs.get("value_set") == (False,)
        for one in promotion.expectations
    ):
        raise SuiteError(
            f"{path}: no expectation holds or rejects on unnamed_finding, so that a new finding could pass unseen; "
            "copy that expectation from the shipped promotion.json."
        )


def copy_to(directory: Path) -> list[Path]:
    """Copy the shipped suites into a directory, to be edited; nothing that exists is overwritten.

    Raises:
        UsageError: a file of that name is already there.
    """
    names = [health_file(profile) for profile in PROFILES] + [PROMOTION_FILE, FINDINGS_FILE]
    present = [name for name in names if (directory / name).exists()]
    if present:
        raise UsageError(f"{directory}: already holds {', '.join(present)}; choose another directory.")
    directory.mkdir(parents=True, exist_ok=True)
    return [Path(shutil.copyfile(SHIPPED / name, directory / name)) for name in names]
