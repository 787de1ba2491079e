from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import read_run
from rlchecks.readers.trl import TrlReader
from rlchecks.run import RunLog

WriteState = Callable[..., Path]

BASE = {"epoch": 0.1, "grad_norm": 0.3, "learning_rate": 1e-4, "loss": 0.01, "reward": 0.5, "reward_std": 0.2}
LENGTHS = {f"completions/{kind}_length": 20.0 for kind in ("mean", "min", "max")}
TERMINATED = {f"completions/{kind}_terminated_length": 18.0 for kind in ("mean", "min", "max")}
CLIPS = {f"clip_ratio/{kind}": 0.0 for kind in ("low_mean", "low_min", "high_mean", "high_max", "region_mean")}
FUNCTION = {"rewards/f/mean": 0.5, "rewards/f/std": 0.4}
SINCE_17 = {**BASE, **LENGTHS, **TERMINATED, **CLIPS, **FUNCTION, "completions/clipped_ratio": 0.25, "num_tokens": 9.0}
SINCE_18 = {**SINCE_17, "frac_reward_zero_std": 0.5}
# Keys of one training row by the version that logs them: TRL's grpo_trainer.py at these tags.
ROWS: dict[str, dict[str, Any]] = {
    "0.14": {**BASE, "completion_length": 20.0, "rewards/f": 0.5, "kl": 0.1},
    "0.16": {**BASE, "completion_length": 20.0, "rewards/f": 0.5, "kl": 0.1, "clip_ratio": 0.1, "num_tokens": 9.0},
    "0.17": {**SINCE_17, "kl": 0.1},
    "0.18": {**SINCE_18, "kl": 0.1},
    "0.20": {**SINCE_18, "entropy": 1.5},
    "0.26": {**SINCE_18, "entropy": 1.5, "step_time": 2.0},
    "1.x": {
        **SINCE_18,
        "entropy": 1.5,
        "step_time": 2.0,
        "aux_loss": 0.0,
        "sampling/importance_sampling_ratio/mean": 1.0,
    },
    "unsloth": {**SINCE_18, "completion_length": 20.0, "kl": 0.0},
}
ERA = {
    "0.14": "0.14 to 0.16",
    "0.16": "0.14 to 0.16",
    "0.17": "0.17",
    "0.18": "0.18 to 0.19",
    "0.20": "0.20 to 0.25",
    "0.26": "0.26 or later",
    "1.x": "0.26 or later",
    "unsloth": "0.18 to 0.19",
}


def rows_of(version: str, count: int = 3) -> list[dict[str, Any]]:
    return [{**ROWS[version], "step": step + 1} for step in range(count)]


def split(run: RunLog, name: str) -> list[dict[str, Any]]:
    return list(run.steps.filter(pc.equal(run.steps["split"], name)).to_pylist())


@pytest.mark.parametrize("version", ROWS)
def test_every_key_generation_reads_without_warnings(version: str, write_state: WriteState) -> None:
    run = read_run(write_state(rows_of(version)))
    assert run.warnings == ()
    assert run.framework == ("unsloth" if version == "unsloth" else "trl_grpo")
    assert run.facts["trl_keys"] == f"{ERA[version]} (inferred)"
    assert run.graders == ("f",)
    assert (run.planned_steps, run.repeated_steps, run.facts["logging_steps"]) == (60, 0, "1")
    for row in split(run, "train"):
        assert (row["reward"], row["reward_std"], row["mean_length"]) == (0.5, 0.2, 20.0)
        assert dict(row["extra"])["reward/f"] == 0.5


@pytest.mark.parametrize("version", ROWS)
def test_what_a_generation_cannot_log_is_named_and_nothing_that_it_logged(
    version: str, write_state: WriteState
) -> None:
    run = read_run(write_state(rows_of(version)))
    named = set(run.facts["metrics_not_loggable"].split(","))
    logged = {name for name, value in split(run, "train")[0].items() if value is not None}
    assert not named & logged
    old = version in ("0.14", "0.16")
    assert named >= {"kl_sampler", "aborted_ratio", "reasoning_tokens"}
    assert ("clipped_ratio" in named) is old
    assert ("zero_std_fraction" in named) is (old or version == "0.17")
    assert ("entropy" in named) is (version in ("0.14", "0.16", "0.17", "0.18", "unsloth"))
    assert ("step_time" in named) is (version not in ("0.26", "1.x"))
    assert "kl" not in named


@pytest.mark.parametrize("version", ROWS)
def test_policy_clipping_is_kept_apart_from_cut_answers(version: str, write_state: WriteState) -> None:
    row = split(read_run(write_state(rows_of(version))), "train")[0]
    assert row["clipped_ratio"] == (None if version in ("0.14", "0.16") else 0.25)
    assert row["policy_clip_fraction"] == {"0.14": None, "0.16": 0.1}.get(version, 0.0)


@pytest.mark.parametrize("version", ROWS)
def test_beta_is_zero_where_no_kl_is_logged(version: str, write_state: WriteState) -> None:
    run = read_run(write_state(rows_of(version)))
    assert run.facts.get("beta") == (None if "kl" in ROWS[version] else "0 (inferred)")


def test_keys_of_two_generations_in_one_log_are_told_by_key(write_state: WriteState) -> None:
    mixed = {**BASE, "completions/clipped_ratio": 0.25, "rewards/f": 0.5, "completions/mean_length": 20.0, "step": 1}
    run = read_run(write_state([mixed, {**ROWS["0.14"], "step": 2}]))
    assert [row["mean_length"] for row in split(run, "train")] == [20.0, 20.0]
    assert [row["clipped_ratio"] for row in split(run, "train")] == [0.25, None]
    assert run.graders == ("f",)


def test_bare_nan_and_infinity_are_values_and_null_is_missing(write: Callable[[str, str], Path]) -> None:
    text = '{"log_history": [{"step": 1, "reward": NaN, "grad_norm": -Infinity, "kl": null}]}'
    (row,) = split(read_run(write("run/trainer_state.json", text)), "train")
    assert math.isnan(row["reward"])
    assert (row["grad_norm"], row["kl"]) == (-math.inf, None)


def test_the_placeholder_of_unscored_batches_is_missing(write_state: WriteState) -> None:
    rows = rows_of("1.x", 4)
    rows[1].update(reward=None, frac_reward_zero_std=0.0)
    rows[2].update(reward=math.nan, frac_reward_zero_std=0.0)
    rows[3].update(frac_reward_zero_std=0.0)
    run = read_run(write_state(rows))
    assert [row["zero_std_fraction"] for row in split(run, "train")] == [0.5, None, None, 0.0]
    assert run.warnings == ("frac_reward_zero_std of 2 rows without a reward is TRL's placeholder 0: taken as missing",)


def test_the_asynchronous_trainers_kl_is_that_to_the_sampler(write_state: WriteState) -> None:
    row = {**BASE, "kl": 0.1, "completions/mean_length": 20.0, "weight_sync_time_s": 1.0, "rewards/f": 0.5, "step": 1}
    run = read_run(write_state([row]))
    assert run.framework == "trl_async_grpo"
    (read,) = split(run, "train")
    assert (read["kl"], read["kl_sampler"]) == (None, 0.1)
    assert run.facts["reward_std_semantics"] == "within_group"
    assert set(run.facts["metrics_not_loggable"].split(",")) >= {"kl", "clipped_ratio", "zero_std_fraction"}
    assert "beta" not in run.facts


def test_text_truth_values_and_objects_are_survived(write_state: WriteState) -> None:
    row = {**ROWS["1.x"], "loss": "1.547e-05", "flag": True, "nested": {"a": [1]}, "grad_norm": 10**400, "step": 1}
    run = read_run(write_state([row]))
    (read,) = split(run, "train")
    assert read["loss"] == 1.547e-05
    assert dict(read["extra_text"]) == {"flag": "true", "nested": '{"a": [1]}', "grad_norm": str(10**400)}
    assert run.warnings == (
        "1 number logged as text: read as numbers",
        "'grad_norm': 1 value not numeric, kept as text",
    )


def test_a_key_given_twice_is_told(write: Callable[[str, str], Path]) -> None:
    run = read_run(write("run/trainer_state.json", '{"log_history": [{"step": 1, "reward": 0.1, "reward": 0.2}]}'))
    assert split(run, "train")[0]["reward"] == 0.2
    assert run.warnings == ("1 object with a key given twice: the last value counts",)


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ('{"log_history": [{"step": 1, "reward"', InputError, "line 1, column 38: no valid JSON"),
        ("[]", NotARunError, "no object, expected one with log_history"),
        ('{"a": 1}', NotARunError, r"no list log_history \(keys: 'a'\)"),
        ('{"log_history": {}}', NotARunError, "no list log_history"),
        ('{"log_history": []}', NotARunError, "nothing was logged yet"),
        ('{"log_history": [{"step": 1}, 3]}', InputError, r"log_history\[1\]: expected an object"),
        ('{"log_history": [{"step": 1, "loss": 3}]}', NotARunError, "none with a reward"),
        ('{"log_history": [{"step": 1, "rewards/chosen": 3}]}', NotARunError, "none with a reward"),
        ("", InputError, "the file is empty"),
    ],
)
def test_unusable_states_are_refused_with_the_reason(
    text: str, kind: type[InputError], reason: str, write: Callable[[str, str], Path]
) -> None:
    with pytest.raises(kind, match=reason) as caught:
        read_run(write("run/trainer_state.json", text))
    assert isinstance(caught.value, NotARunError) == (kind is NotARunError)


@pytest.mark.parametrize("steps", [0, -1, "many", None, 10**400, True])
def test_an_odd_number_of_planned_steps_is_unknown(steps: Any, write_state: WriteState) -> None:
    assert read_run(write_state(rows_of("1.x"), max_steps=steps)).planned_steps is None


def test_the_reader_knows_directories_states_and_renamed_states(write_state: WriteState, tmp_path: Path) -> None:
    state = write_state(rows_of("1.x"))
    reader = TrlReader()
    assert reader.detect(state.parent, b"")
    assert reader.detect(state, b"")
    assert reader.detect(tmp_path / "state_1000.json", state.read_bytes())
    assert not reader.detect(tmp_path, b"")
    assert not reader.detect(tmp_path / "config.json", b'{"model_type": "llama"}')


def test_the_opening_stays_while_the_log_grows(write_state: WriteState) -> None:
    reader = TrlReader()
    short = reader.opening(write_state(rows_of("1.x", 1), "a"))
    long = reader.opening(write_state(rows_of("1.x", 500), "b").parent)
    assert short == json.dumps(rows_of("1.x", 1)[0], sort_keys=True)
    assert long is not None
    assert long.splitlines()[0] == short
    longer = reader.opening(write_state(rows_of("1.x", 700), "c"))
    assert longer == long


def test_for_the_opening_a_log_with_a_reward_in_its_first_rows_is_not_read_whole(
    write_state: WriteState, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = write_state([{"step": 0, "eval_loss": 0.1}, *rows_of("1.x")])
    monkeypatch.delattr(TrlReader, "read")
    assert (TrlReader().opening(state) or "").splitlines()[0] == '{"eval_loss": 0.1, "step": 0}'


def test_a_reward_beyond_the_first_rows_is_found_for_the_opening(write_state: WriteState) -> None:
    rows = [{"step": step, "loss": 0.1, "padding": "x" * 100} for step in range(2000)] + rows_of("1.x")
    assert json.loads(TrlReader().opening(write_state(rows)) or "")["step"] == 0
    with pytest.raises(NotARunError, match="2000 logged rows, none with a reward"):
        TrlReader().opening(write_state(rows[:2000]))


def test_a_state_reads_the_same_by_its_own_path_and_by_its_directory(write_state: WriteState) -> None:
    state = write_state(rows_of("1.x"))
    by_file, by_directory = read_run(state), read_run(state.parent)
    assert by_file.run_id == by_directory.run_id
    assert by_file.steps.equals(by_directory.steps)
    assert [file.path for file in by_file.inputs] == [str(state)]
