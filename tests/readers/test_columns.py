from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.readers.aliases import framework
from rlchecks.readers.columns import Notes, gather, to_table
from rlchecks.readers.rows import Rows
from rlchecks.schema import STEPS


def build(rows: list[dict[str, Any]], name: str = "trl_grpo", split: str = "train") -> tuple[pa.Table, Notes]:
    notes = Notes()
    kept = Rows.of(rows)
    values = [(key, kept.column(key)) for key in kept.keys]
    columns = gather(split, len(rows), values, framework(name), notes, leave_out={"step"})
    return to_table("id", split, np.arange(len(rows)), columns), notes


def extra(table: pa.Table, row: int = 0) -> dict[str, float]:
    return dict(table["extra"][row].as_py())


def test_null_is_missing_and_nan_and_infinity_are_values() -> None:
    table, _ = build([{"reward": math.nan}, {"reward": None}, {"reward": -math.inf}, {"kl": 0.1}])
    rewards = table["reward"].combine_chunks()
    assert rewards.is_valid().to_pylist() == [True, False, True, False]
    assert math.isnan(rewards[0].as_py())
    assert rewards[2].as_py() == -math.inf
    assert table["kl"].to_pylist() == [None, None, None, 0.1]


def test_the_table_has_the_archives_schema() -> None:
    table, _ = build([{"step": 1, "epoch": 0.5, "reward": 0.5, "odd": 1, "note": "x"}])
    assert table.schema.equals(STEPS)
    table.validate(full=True)
    assert table["epoch"].to_pylist() == [0.5]
    assert extra(table) == {"odd": 1.0}
    assert table["extra_text"].to_pylist() == [[("note", "x")]]


def test_no_rows_make_an_empty_table() -> None:
    table, _ = build([])
    assert table.schema.equals(STEPS)
    assert len(table) == 0


def test_reward_functions_and_unmapped_keys_are_extras_and_only_the_latter_are_reported() -> None:
    table, notes = build([{"rewards/f/mean": 0.5, "rewards/f/std": 0.1, "clip_ratio/high_max": 0.0, "note": "x"}])
    assert extra(table) == {"reward/f": 0.5, "reward_std/f": 0.1, "clip_ratio/high_max": 0.0}
    assert list(notes.unmapped) == ["clip_ratio/high_max", "note"]


def test_the_first_name_wins_and_the_other_is_kept_and_told_if_it_differs() -> None:
    rows = [{"completions/mean_length": 1014.0, "completion_length": 1408.0}, {"completion_length": 9.0}]
    table, notes = build(rows)
    assert table["mean_length"].to_pylist() == [1014.0, 9.0]
    assert extra(table) == {"completion_length": 1408.0}
    assert notes.differing == {"completion_length": "completions/mean_length"}
    assert not notes.unmapped


def test_two_names_with_the_same_values_need_no_mention() -> None:
    _, notes = build([{"completions/mean_length": 96.0, "completion_length": 96.0}])
    assert not notes.differing


def test_a_metric_that_is_no_number_is_kept_as_text_and_counted() -> None:
    table, notes = build([{"reward": "n/a"}, {"reward": True}, {"reward": "0.5"}])
    assert table["reward"].to_pylist() == [None, None, 0.5]
    assert table["extra_text"].to_pylist() == [[("reward", "n/a")], [("reward", "true")], []]
    assert (notes.texts, notes.quoted) == ({"reward": 2}, 1)


@pytest.mark.parametrize(
    ("key", "value", "name"), [("truncated", 3.0, "clipped_ratio"), ("response_length", -1.0, "mean_length")]
)
def test_values_outside_of_a_metrics_range_unmap_their_key(key: str, value: float, name: str) -> None:
    table, notes = build([{key: 0.5}, {key: value}], "table")
    assert table[name].null_count == 2
    assert extra(table, 1) == {key: value}
    assert notes.outside == {key: name}
    assert build([{key: 0.5}, {key: math.nan}, {key: 1.0}], "table")[0][name].null_count == 0


def test_a_few_strays_are_missing_and_the_metric_stays() -> None:
    rows = [{"clipped_ratio": 0.97} for _ in range(99)]
    rows.insert(7, {"clipped_ratio": 1.01})
    table, notes = build(rows, "table")
    assert table["clipped_ratio"].to_pylist() == [0.97] * 7 + [None] + [0.97] * 92
    assert extra(table, 7) == {"clipped_ratio": 1.01}
    assert notes.strays == {"clipped_ratio": ("clipped_ratio", 1)}
    assert (notes.outside, notes.unreadable, notes.unmapped) == ({}, set(), {})


@pytest.mark.parametrize(("count", "stays"), [(1, True), (2, True), (3, False)])
def test_up_to_two_in_a_hundred_are_strays(count: int, stays: bool) -> None:
    rows = [{"entropy": -1.0 if row < count else 0.5} for row in range(100)]
    table, notes = build(rows, "table")
    assert table["entropy"].null_count == (count if stays else 100)
    assert notes.unreadable == (set() if stays else {"entropy"})


def test_a_stray_and_a_second_name_of_the_metric_are_both_kept() -> None:
    rows: list[dict[str, Any]] = [{"clipped_ratio": 0.5, "truncated": 0.5} for _ in range(99)]
    table, _ = build([*rows, {"clipped_ratio": 0.5, "truncated": 2.0}], "table")
    assert table["clipped_ratio"].to_pylist() == [0.5] * 100
    assert [extra(table, row) for row in (0, 99)] == [{"truncated": 0.5}, {"truncated": 2.0}]


def test_a_metric_is_unreadable_only_if_the_training_rows_have_no_other_key_for_it() -> None:
    percent = [{"clipped_ratio": 97.0}, {"clipped_ratio": 98.0}]
    assert build(percent, "table")[1].unreadable == {"clipped_ratio"}
    assert build(percent, "table", "eval")[1].unreadable == set()
    both = [{"clipped_ratio": 0.5, "truncated": 7}]
    assert build(both, "table")[1].unreadable == set()


@pytest.mark.parametrize("text", ["97%", " 90.5 %", "+1 nats", ".5x", "12 345"])
def test_numbers_with_something_behind_them_unmap_their_key_and_make_the_metric_unreadable(text: str) -> None:
    table, notes = build([{"reward": 0.5, "clipped_ratio": text}] * 3, "table")
    assert table["clipped_ratio"].null_count == 3
    assert notes.unreadable == {"clipped_ratio"}
    assert list(notes.unmapped) == ["clipped_ratio"]
    assert notes.written == {"clipped_ratio": text}
    assert not notes.texts


def test_a_few_such_numbers_and_words_for_nothing_are_missing_and_the_metric_stays() -> None:
    rows = [{"reward": 0.5, "kl": value} for value in (*[0.1] * 98, "3%", "N/A")]
    table, notes = build(rows, "table")
    assert not notes.unreadable
    assert table["kl"].null_count == 2
    table, notes = build([{"reward": 0.5, "kl": value} for value in (0.1, "N/A", "-")], "table")
    assert not notes.unreadable
    assert notes.texts == {"kl": 2}


def test_kl_may_be_negative() -> None:
    # The k1 estimator, a mean of log ratios, has either sign (Schulman 2020, Approximating KL Divergence).
    table, notes = build([{"kl": -0.1}, {"kl": 0.2}], "table")
    assert table["kl"].to_pylist() == [-0.1, 0.2]
    assert not notes.unmapped


def test_evaluation_rows_lose_the_prefix_of_what_is_known() -> None:
    table, notes = build([{"eval_reward": 0.5, "eval_rewards/f/mean": 0.4, "eval_runtime": 3.0}], split="eval")
    assert table["reward"].to_pylist() == [0.5]
    assert extra(table) == {"reward/f": 0.4, "eval_runtime": 3.0}
    assert list(notes.unmapped) == ["eval_runtime"]


def test_lone_surrogates_in_keys_and_texts_are_written_out() -> None:
    table, _ = build([{"\ud800": "\udfff", "rewards/\ud800/mean": 1.0}])
    assert table["extra_text"].to_pylist() == [[(r"\ud800", r"\udfff")]]
    assert extra(table) == {r"reward/\ud800": 1.0}


VALUES = st.none() | st.floats(allow_nan=False) | st.booleans() | st.text(max_size=3)
KEYS = st.sampled_from(["reward", "kl", "odd", "rewards/f/mean", "completion_length", "completions/mean_length", "x"])


@settings(deadline=None)
@given(st.lists(st.dictionaries(KEYS, VALUES), max_size=12))
def test_nothing_that_was_logged_is_lost(rows: list[dict[str, Any]]) -> None:
    table, _ = build(rows)
    table.validate(full=True)
    for row, logged in zip(table.to_pylist(), rows, strict=True):
        kept = [value for name, value in row.items() if name not in ("run_id", "split", "step") and value is not None]
        kept = [value for value in kept if not isinstance(value, list)]
        kept += [value for name in ("extra", "extra_text") for _, value in row[name]]
        assert len(kept) == sum(value is not None for value in logged.values())
