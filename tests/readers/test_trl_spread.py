from __future__ import annotations

import pyarrow as pa
import pytest

from rlchecks.readers.trl_spread import Evidence, semantics
from rlchecks.schema import STEPS

LATE = Evidence(frozenset(), "0.26 or later")


def train(
    spreads: list[float | None],
    own: list[float],
    *,
    rewards: list[float | None] | None = None,
    means: list[float] | None = None,
    fractions: list[float] | None = None,
) -> pa.Table:
    count = len(spreads)
    rewards = rewards or [0.5] * count
    means = means or [0.5] * count
    fractions = fractions or [0.25] * count
    rows = [
        {
            "run_id": "r",
            "split": "train",
            "step": step,
            "reward": rewards[step],
            "reward_std": spreads[step],
            "zero_std_fraction": fractions[step],
            "extra": [("reward/f", means[step]), ("reward_std/f", own[step])],
            "extra_text": [],
        }
        for step in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=STEPS)


EQUAL = train([0.4, 0.3], [0.4, 0.3])


# Source: grpo_trainer.py of huggingface/trl at the tags; 0.22.0 and 0.22.1 swapped the branches of scale_rewards.
@pytest.mark.parametrize(
    ("version", "meaning"),
    [
        *[("0.14.0", "within_group"), ("0.21.0", "within_group"), ("0.22.0", "batch"), ("0.22.1", "batch")],
        *[("0.22.2", "within_group"), ("0.26.2", "within_group"), ("0.27.0", "batch"), ("1.9.0", "batch")],
        *[("0.27", "batch"), ("1.0.0rc1", "batch"), ("0.22", "batch")],
    ],
)
def test_a_known_version_decides(version: str, meaning: str) -> None:
    assert semantics(EQUAL, ("f",), LATE._replace(version=version)) == meaning


def test_the_setting_makes_it_the_batch() -> None:
    assert semantics(EQUAL, ("f",), LATE._replace(version="0.24.0", scale_rewards="batch")) == "batch"
    assert semantics(EQUAL, ("f",), LATE._replace(version="0.24.0", scale_rewards="group")) == "within_group"


def test_what_only_later_versions_write_makes_it_the_batch() -> None:
    unequal = train([0.4], [0.3])
    assert semantics(unequal, ("f",), LATE._replace(logs_completions=True)) == "batch"
    assert semantics(unequal, ("f",), LATE._replace(keys=frozenset({"policy_loss"}))) == "batch"


@pytest.mark.parametrize("era", ["0.14 to 0.16", "0.17", "0.18 to 0.19"])
def test_early_generations_log_the_spread_within_groups(era: str) -> None:
    assert semantics(EQUAL, ("f",), LATE._replace(era=era)) == "within_group"


def test_one_row_that_differs_proves_the_spread_within_groups() -> None:
    assert semantics(train([0.4, 0.3], [0.4, 0.31]), ("f",), LATE) == "within_group"


def test_equal_rows_with_several_groups_are_the_batch() -> None:
    assert semantics(EQUAL, ("f",), LATE) == "batch"
    assert semantics(train([0.4], [0.4 * (1 + 1e-7)]), ("f",), LATE) == "batch"


def test_equal_rows_with_perhaps_one_group_prove_nothing() -> None:
    assert semantics(train([0.4, 0.0], [0.4, 0.0], fractions=[0.0, 1.0]), ("f",), LATE) == "unknown"


@pytest.mark.parametrize(
    "table",
    [
        train([0.4], [0.3], rewards=[1.0]),
        train([None], [0.3]),
        train([0.4], [float("nan")]),
        train([0.4], [0.3], rewards=[None]),
        train([], []),
    ],
    ids=["weighted", "no spread", "unscored", "no reward", "no rows"],
)
def test_rows_that_cannot_be_compared_prove_nothing(table: pa.Table) -> None:
    assert semantics(table, ("f",), LATE) == "unknown"


def test_several_functions_prove_nothing() -> None:
    assert semantics(EQUAL, ("f", "g"), LATE) == "unknown"
    assert semantics(EQUAL, (), LATE) == "unknown"
    assert semantics(EQUAL, ("g",), LATE) == "unknown"
