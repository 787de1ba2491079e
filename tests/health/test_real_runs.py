"""The health suite on real runs: what is sound stays calm, what is sick does not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import rlchecks
from rlchecks.health import SuiteResult, load_suite, validate
from rlchecks.readers import read_run
from rlchecks.signals import SIGNALS, compute, facts_of

# run to the columns that fail, and those that are missing without being ignored.
EXPECTED: dict[str, tuple[set[str], set[str]]] = {
    "clipped": ({"clipped_ratio_late"}, set()),
    "collapse-flat": (set(), set()),
    "defaults-grad-accum": ({"n_reward_rows"}, set()),
    "hack-lazy-s30": (set(), set()),
    "healthy-kl-s4": (set(), set()),
    "healthy-s1": (set(), set()),
    "kl-drift": (set(), set()),
    "length-hack-s6": ({"clipped_ratio_late"}, set()),
    "mid-healthy-kl": (set(), set()),
    "nan-crash": (set(), set()),
    "nan-survives": ({"n_reward_rows", "non_finite_fraction"}, set()),
    # TRL 0.15 logs neither.
    "old-healthy-kl": (set(), {"clipped_ratio_late", "zero_std_fraction_late"}),
    "restarted": (set(), set()),
    "resumed": (set(), set()),
    "reward-inf": ({"non_finite_fraction"}, set()),
    "reward-none": (set(), set()),
    "starved-ceiling": ({"zero_std_fraction_late"}, set()),
    "starved-floor": ({"zero_std_fraction_late"}, set()),
    "two-rewards-conv-eval": (set(), set()),
}


@pytest.fixture(scope="module")
def result(shared_data: Path) -> SuiteResult:
    runs = [read_run(shared_data / "trl" / name, run_id=name) for name in EXPECTED]
    signals = compute(pa.concat_tables([run.steps for run in runs]), [facts_of(run) for run in runs])
    path = Path(rlchecks.__file__).parent / "expectations" / "training_health.json"
    return validate(load_suite(path, SIGNALS), signals)


@pytest.mark.parametrize("run", range(len(EXPECTED)), ids=EXPECTED.keys())
def test_a_real_run_fails_what_it_should_and_nothing_else(result: SuiteResult, run: int) -> None:
    failed, missing = list(EXPECTED.values())[run]
    checks = result.checks(run)
    assert {check.column for check in checks if check.outcome == "failed"} == failed
    assert {check.column for check in checks if check.outcome == "missing"} == missing
    assert not any(check.outcome == "errored" for check in checks)
