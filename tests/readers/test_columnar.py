"""JSON objects that are logs: columns, steps, wrappers, several runs; and the many that are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.columnar import ColumnarReader
from rlchecks.readers.columnar_rows import logs_in
from rlchecks.run import RunLog

Write = Callable[[str, str | bytes], Path]
STEPS = [10, 20, 30]
REWARDS = [0.1, 0.2, 0.3]
COLUMNS = {"step": STEPS, "reward": REWARDS, "actor/ppo_kl": [0.01, 0.02, 0.03]}
BY_STEP = {str(s): {"reward": r, "actor/ppo_kl": 0.01} for s, r in zip(STEPS, REWARDS, strict=True)}
ROWS = [{"step": s, "reward": r} for s, r in zip(STEPS, REWARDS, strict=True)]


def column(run: RunLog, name: str, split: str = "train") -> list[object]:
    return [row[name] for row in run.steps.to_pylist() if row["split"] == split]


@pytest.mark.parametrize(
    "document",
    [
        COLUMNS,
        BY_STEP,
        {"history": COLUMNS},
        {"model": "m", "n_points": 3, "data": BY_STEP},
        {"config": {"lr": 1e-6, "layers": {"a": 1}}, "history": ROWS},
        {"run": {"log": {"data": BY_STEP}}},
        {"train": COLUMNS, "config": {"beta": 0}},
    ],
)
def test_every_shape_of_one_run(write: Write, document: dict[str, Any]) -> None:
    run = read_run(write("log.json", json.dumps(document)))
    assert column(run, "step") == STEPS
    assert column(run, "reward") == REWARDS
    assert column(run, "kl") == [None] * 3
    assert run.warnings == ()


def test_columns_without_steps_are_numbered(write: Write) -> None:
    run = read_run(write("log.json", json.dumps({"reward": REWARDS, "loss": [1, None, 3]})))
    assert column(run, "step") == [1, 2, 3]
    assert column(run, "loss") == [1.0, None, 3.0]
    assert any("no row has a step" in warning for warning in run.warnings)


def test_columns_of_another_length_are_left_out_and_told(write: Write) -> None:
    run = read_run(write("log.json", json.dumps({**COLUMNS, "val_reward": [0.5], "times": [1, 2]})))
    assert column(run, "step", "eval") == []
    assert run.warnings == ("2 columns of another length than 3 left out",)


def test_rows_by_step_beside_columns_get_their_name_as_prefix(write: Write) -> None:
    document = {"steps": STEPS, "reward": REWARDS, "eval": {"10": {"reward": 0.4}, "30": {"reward": 0.6}}}
    run = read_run(write("log.json", json.dumps(document)))
    assert column(run, "reward") == REWARDS
    assert column(run, "step", "eval") == [10, 30]
    assert column(run, "reward", "eval") == [0.4, 0.6]


def test_train_and_eval_are_two_parts_of_one_run(write: Write) -> None:
    document = {"train": COLUMNS, "val": {"step": [10, 30], "reward": [0.4, 0.6]}}
    path = write("log.json", json.dumps(document))
    run = read_run(path)
    assert column(run, "reward") == REWARDS
    assert column(run, "reward", "eval") == [0.4, 0.6]
    assert ColumnarReader().parts(path) == []


def test_several_runs_in_one_object(write: Write) -> None:
    other = {"step": [1, 2], "reward": [1, 2]}
    path = write("sweep.json", json.dumps({"lr 1e-6": COLUMNS, "lr 1e-5": BY_STEP, "c": {"log": other}}))
    with pytest.raises(NotARunError, match="3 runs"):
        read_run(path)
    found = find_runs(path.parent)
    assert sorted(source.part or "" for source in found.sources) == ["c", "lr 1e-5", "lr 1e-6"]
    runs = [read_run(str(source)) for source in found.sources]
    assert {run.name for run in runs} == {"sweep c", "sweep lr 1e-5", "sweep lr 1e-6"}
    assert len({run.run_id for run in runs}) == 3
    assert column(read_run(f"{path}#c"), "step") == [1, 2]
    with pytest.raises(NotARunError, match="no run 'd' in it"):
        read_run(f"{path}#d")


def test_what_a_column_was_logged_as_is_believed(write: Write) -> None:
    data = {str(step): {"kl": 0.1, "entropy": 0.5, "reward": 0.5} for step in (1, 2)}
    run = read_run(
        write("log.json", json.dumps({"kl_key": "actor/ppo_kl", "entropy_key": "actor/entropy", "data": data}))
    )
    assert column(run, "kl") == [None, None]
    assert column(run, "kl_sampler") == [0.1, 0.1]
    assert column(run, "entropy") == [0.5, 0.5]


def test_settings_beside_the_log_are_facts_and_nothing_else_is(write: Write) -> None:
    document = {"beta": 0.04, "max_steps": 60, "metrics_not_loggable": "reward", "name": "x", "history": COLUMNS}
    run = read_run(write("log.json", json.dumps(document)))
    assert run.facts["beta"] == "0.04"
    assert run.planned_steps == 60
    assert "reward" not in run.facts.get("metrics_not_loggable", "").split(",")
    assert "name" not in run.facts


def test_a_run_without_a_reward_is_found_and_refused(write: Write) -> None:
    path = write(
        "log.json",
        json.dumps({"a": {str(s): {"entropy": 0.1, "actor/ppo_kl": 0.2} for s in range(1, 13)}, "b": BY_STEP}),
    )
    assert ColumnarReader().parts(path) == ["a", "b"]
    with pytest.raises(
        NotARunError, match=r"a: 12 logged rows, none with a reward \(keys: 'actor/ppo_kl', 'entropy', 'step'\)"
    ):
        read_run(f"{path}#a")
    run = read_run(f"{path}#b")
    assert column(run, "reward") == REWARDS


@pytest.mark.parametrize(
    "document",
    [
        {"name": "left-pad", "version": "1.3.0", "files": ["index.js"], "engines": {"node": ">= 8"}},
        {"compilerOptions": {"target": "es2020", "lib": ["dom"]}},
        {"hidden_size": 4096, "eos_token_id": [1, 2], "rope_scaling": {"factor": 8.0}},
        {"accuracy": 0.5, "n": 100},
        {"math": {"accuracy": 0.5}, "code": {"accuracy": 0.25}},
        {"0": {"prediction": "a", "score": 1.0}, "1": {"prediction": "b", "score": 0.0}},
        {
            "0": {"prompt": "p", "completion": "c", "reward": 1.0},
            "1": {"prompt": "p", "completion": "d", "reward": 0.0},
        },
        {"embedding": [0.1, 0.2, 0.3]},
        {"steps": [1, 2, 3], "names": [4, 5, 6]},
        {"added_tokens": [{"id": 0, "content": "<s>"}, {"id": 1, "content": "</s>"}]},
        {"weight_map": {"a.weight": "model-1.safetensors"}, "metadata": {"total_size": 5}},
        {"metric": "reward", "values": [1, 2, 3]},
        {"reward": [0.5]},
        {"reward": 0.5, "step": 10},
        {"2": {"reward": 1.0}, "1": {"reward": 2.0}},
        {"1": {"reward": 1.0}},
        [1, 2],
        "text",
        None,
    ],
)
def test_other_json_is_no_log(write: Write, document: object) -> None:
    assert logs_in(document) == {}
    path = write("other.json", json.dumps(document))
    assert not ColumnarReader().detect(path, path.read_bytes())


def test_a_cut_off_log_is_said_to_be_cut_off(write: Write) -> None:
    text = json.dumps({"reward": [0.1 * n for n in range(50)], "step": list(range(50))})
    for length in range(20, len(text), 23):
        with pytest.raises(InputError, match="the file may be cut off"):
            read_run(write("log.json", text[:length]))


def test_keys_given_twice_are_told(write: Write) -> None:
    run = read_run(write("log.json", '{"reward": [9, 9], "reward": [0.1, 0.2], "step": [1, 2]}'))
    assert column(run, "reward") == [0.1, 0.2]
    assert run.warnings == ("1 object with a key given twice: the last value counts",)


def test_a_large_log_is_known_by_its_beginning(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlchecks.readers.columnar._LARGEST_LOOK", 100)
    path = write("log.json", json.dumps({"reward": REWARDS * 50}))
    assert column(read_run(path), "reward") == REWARDS * 50
    other = write("other.json", json.dumps({"values": REWARDS * 50}))
    with pytest.raises(NotARunError, match="no training log that is known"):
        read_run(other)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=True), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["step", "reward", "kl", "data", "1", "2", "train", "eval", "kl_key"]), inner, max_size=4
        ),
    ),
    max_leaves=20,
)


@given(json_values)
@settings(max_examples=300, deadline=None)
def test_whatever_the_document_its_runs_have_rows_with_known_keys(document: object) -> None:
    for log in logs_in(document).values():
        assert len(log.rows) >= 2
        assert all(isinstance(row, dict) for row in log.rows)


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
@settings(max_examples=80, deadline=None)
def test_bit_flips_end_in_rows_or_one_error(tmp_path_factory: pytest.TempPathFactory, place: int, bit: int) -> None:
    path = tmp_path_factory.mktemp("flip") / "log.json"
    data = bytearray(json.dumps({"a": COLUMNS, "config": {"x": 1}}).encode())
    data[place % len(data)] ^= 1 << bit
    path.write_bytes(data)
    outcome: RunLog | InputError
    try:
        outcome = read_run(path)
    except InputError as error:
        outcome = error
    assert isinstance(outcome, InputError) or outcome.training_steps.num_rows in (2, 3)
