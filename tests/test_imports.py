"""What an import costs: seconds and hundreds of megabytes, if it loads the orchestrator or the validator."""

from __future__ import annotations

import subprocess
import sys

import pytest

FRAMEWORKS = ("prefect", "great_expectations")
HEAVY = (*FRAMEWORKS, "pandas", "pyarrow", "duckdb", "altair", "vl_convert", "scipy", "numpy")


def loaded_after(statement: str, candidates: tuple[str, ...]) -> set[str]:
    program = f"{statement}\nimport sys\nprint(*({set(candidates)!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import rlchecks", HEAVY) == set()


@pytest.mark.parametrize(
    "module",
    [
        "rlchecks.archive",
        "rlchecks.cli",
        "rlchecks.diagnosis",
        "rlchecks.health",
        "rlchecks.heldout",
        "rlchecks.readers",
        "rlchecks.signals",
        "rlchecks.verdict",
    ],
)
def test_the_steps_work_without_orchestrator_and_validator(module: str) -> None:
    assert loaded_after(f"import {module}", FRAMEWORKS) == set()


def test_the_suites_thresholds_are_read_without_the_validator() -> None:
    statement = (
        "from pathlib import Path\n"
        "import rlchecks\n"
        "from rlchecks.health import load_suite, thresholds\n"
        "from rlchecks.signals import SIGNALS\n"
        "path = Path(rlchecks.__file__).parent / 'expectations' / 'training_health.json'\n"
        "assert thresholds(load_suite(path, SIGNALS))"
    )
    assert loaded_after(statement, FRAMEWORKS) == set()
