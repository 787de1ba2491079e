from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from rlchecks.readers.trl_rules import apply, generation
from rlchecks.run import RunLog
from rlchecks.schema import STEPS

KEYS = frozenset({"completions/mean_length", "frac_reward_zero_std", "entropy", "step_time", "kl"})


def run_of(rows: list[dict[str, Any]], **fields: Any) -> RunLog:
    table = pa.Table.from_pylist(
        [
            {"run_id": "r", "split": "train", "step": step, "extra": [], "extra_text": [], **row}
            for step, row in enumerate(rows)
        ],
        schema=STEPS,
    )
    return RunLog("r", "r", "r", fields.pop("framework", "trl_grpo"), table, **fields)


def facts(rows: list[dict[str, Any]], **fields: Any) -> dict[str, str]:
    return dict(apply(run_of(rows, **fields), KEYS).facts)


def lengths(*pairs: tuple[float, float]) -> list[dict[str, Any]]:
    return [{"reward": 0.5, "clipped_ratio": clipped, "max_length": longest} for clipped, longest in pairs]


@pytest.mark.parametrize(
    ("keys", "era"),
    [
        ({"completion_length"}, "0.14 to 0.16"),
        ({"completions/mean_length"}, "0.17"),
        ({"completions/mean_length", "completion_length"}, "0.17"),
        ({"completions/mean_length", "frac_reward_zero_std"}, "0.18 to 0.19"),
        ({"completions/mean_length", "frac_reward_zero_std", "entropy"}, "0.20 to 0.25"),
        ({"completions/mean_length", "frac_reward_zero_std", "entropy", "step_time"}, "0.26 or later"),
        ({"reward"}, "unknown"),
    ],
)
def test_generations_are_told_by_the_keys_that_came(keys: set[str], era: str) -> None:
    assert generation(keys) == era


def test_the_length_limit_is_the_one_length_of_cut_answers() -> None:
    assert facts(lengths((0.0, 50), (0.1, 64), (0.5, 64)))["max_completion_length"] == "64 (inferred)"


@pytest.mark.parametrize(
    "rows",
    [
        lengths((0.0, 64), (0.0, 64)),
        lengths((0.1, 64), (0.1, 60)),
        lengths((0.1, 60), (0.0, 64)),
        [{"reward": 0.5, "clipped_ratio": 0.5}, {"reward": 0.5, "max_length": 64.0}],
        [{"reward": 0.5}],
    ],
    ids=["none cut", "two lengths", "longer uncut", "never together", "not logged"],
)
def test_the_length_limit_is_unknown_otherwise(rows: list[dict[str, Any]]) -> None:
    assert "max_completion_length" not in facts(rows)


def test_a_limit_from_the_settings_is_not_overruled() -> None:
    rows = lengths((0.1, 64))
    assert facts(rows, facts={"max_completion_length": "64", "beta": "0.04"})["max_completion_length"] == "64"


def test_cut_answers_of_many_lengths_point_to_another_end_token() -> None:
    doubtful = apply(run_of(lengths(*((0.98, 40.0 + step) for step in range(10)))), KEYS)
    assert len(doubtful.warnings) == 1
    assert "another token than the tokenizer's end token" in doubtful.warnings[0]
    for rows in (lengths(*((0.98, 64.0),) * 10), lengths(*((0.5, 40.0 + step) for step in range(10)))):
        assert apply(run_of(rows), KEYS).warnings == ()


def test_a_settings_beta_is_not_overruled() -> None:
    run = run_of([{"reward": 0.5}], facts={"beta": "0.04"})
    assert apply(run, KEYS - {"kl"}).facts["beta"] == "0.04"


def test_rloo_with_a_kl_penalty_warns_about_its_share_of_groups_without_spread() -> None:
    run = run_of([{"reward": 0.5}], facts={"trainer": "RLOO"})
    assert len(apply(run, KEYS).warnings) == 1
    assert apply(run, KEYS - {"kl"}).warnings == ()
