"""Reinforcement fine-tuning at OpenAI: events, checkpoints, and result files in base64."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.run import RunLog

Write = Callable[[str, str | bytes], Path]


def event(step: int, train: float, valid: float | None = None, **extra: Any) -> dict[str, Any]:
    """An event with metrics; the names are those of the example in OpenAI's guide."""
    grader = {
        "name": "model_grader",
        "type": "score_model",
        "train_reward_mean": train + 0.03,
        "valid_reward_mean": valid,
    }
    errors = {
        "name": "model_grader",
        "type": "score_model",
        "train_other_error_count": 2.0,
        "valid_other_error_count": 0.0,
    }
    return {
        "object": "fine_tuning.job.event",
        "id": f"ftevent-{step}",
        "created_at": 1746679000 + 60 * step,
        "level": "info",
        "message": f"Step {step}/20",
        "type": "metrics",
        "data": {
            "step": step,
            "total_steps": 20,
            "scores": {"graders": [grader], "train_reward_mean": train, "valid_reward_mean": valid},
            "usage": {"samples": {"train_reasoning_tokens_mean": 3000.0 + step, "valid_reasoning_tokens_mean": None}},
            "errors": {"graders": [errors]},
            "timing": {"step": {"sampling": 200.0, "full_iteration": 700.5}},
            "train_mean_reward": train,
            "full_valid_mean_reward": valid,
            "reasoning_tokens_mean": 3000.0 + step,
            "completion_tokens_mean": 3100.0 + step,
            "mean_unresponsive_rewards": 0.0,
        },
        **extra,
    }


MESSAGE = {
    "object": "fine_tuning.job.event",
    "id": "ftevent-m",
    "created_at": 1,
    "type": "message",
    "data": {},
    "message": "x",
}
EVENTS = [MESSAGE, event(1, 0.2), event(2, 0.3, 0.4), event(3, 0.5), event(4, 0.6, 0.7)]


def page(entries: Sequence[dict[str, Any]]) -> str:
    """A listing as the API returns it: the newest first."""
    return json.dumps({"object": "list", "data": list(entries)[::-1], "has_more": False}, indent=1)


def column(run: RunLog, name: str, split: str = "train") -> list[object]:
    return [row[name] for row in run.steps.to_pylist() if row["split"] == split]


def check(run: RunLog) -> None:
    """The run that all shapes of the same events have to be."""
    assert run.framework == "openai_rft_events"
    assert run.planned_steps == 20
    assert column(run, "step") == [1, 2, 3, 4]
    assert column(run, "reward") == [0.2, 0.3, 0.5, 0.6]
    assert column(run, "mean_length") == [3101.0, 3102.0, 3103.0, 3104.0]
    assert column(run, "reasoning_tokens") == [3001.0, 3002.0, 3003.0, 3004.0]
    assert column(run, "step_time") == [700.5] * 4
    assert run.graders == ("model_grader",)
    assert run.repeated_steps == 0


def test_a_listing_of_the_api(write: Write) -> None:
    run = read_run(write("events.json", page(EVENTS)))
    check(run)
    extra = dict(run.training_steps["extra"].to_pylist()[1])
    assert extra["reward/model_grader"] == pytest.approx(0.33)
    assert extra["errors.graders.model_grader.train_other_error_count"] == 2.0
    assert run.warnings == ()


def test_the_overall_reward_counts_and_not_the_graders(write: Write) -> None:
    run = read_run(write("events.json", page([event(1, 0.4216), event(2, 0.4216)])))
    assert column(run, "reward") == [0.4216, 0.4216]


@pytest.mark.parametrize("name", ["list.json", "lines.jsonl", "pages.jsonl", "pages.json"])
def test_other_shapes_of_the_same_events(write: Write, name: str) -> None:
    texts = {
        "list.json": json.dumps(EVENTS),
        "lines.jsonl": "".join(json.dumps(one) + "\n" for one in EVENTS),
        "pages.jsonl": json.dumps(json.loads(page(EVENTS[2:])))
        + "\n"
        + json.dumps(json.loads(page(EVENTS[:3])))
        + "\n",
        "pages.json": json.dumps([json.loads(page(EVENTS[3:])), json.loads(page(EVENTS[:4]))]),
    }
    check(read_run(write(name, texts[name])))


def test_validation_is_kept_apart(write: Write) -> None:
    run = read_run(write("events.json", page(EVENTS)))
    assert column(run, "step", "eval") == [2, 4]
    assert column(run, "reward", "eval") == [0.4, 0.7]
    checks = {(row["step"], row["grader"]): row["score"] for row in run.validation.to_pylist()}
    assert checks[2, None] == 0.4
    assert checks[4, "model_grader"] == 0.7


def test_events_without_times_are_put_in_the_order_of_their_steps(write: Write) -> None:
    bare = [{"type": "metrics", "data": one["data"]} for one in EVENTS[:0:-1]]
    check(read_run(write("events.json", json.dumps(bare))))


def test_a_resumed_job_repeats_steps_and_the_later_ones_count(write: Write) -> None:
    again = [
        event(3, 0.9, id="ftevent-a", created_at=1746680000),
        event(4, 0.95, id="ftevent-b", created_at=1746680060),
    ]
    run = read_run(write("events.json", page([*EVENTS, *again])))
    assert column(run, "reward") == [0.2, 0.3, 0.9, 0.95]
    assert run.repeated_steps == 2


def test_several_graders_are_reward_functions(write: Write) -> None:
    one = event(1, 0.5)
    names = ("style", "truth", "style")
    graders = [
        {"name": name, "train_reward_mean": 0.1 * place, "valid_reward_mean": None} for place, name in enumerate(names)
    ]
    one["data"]["scores"]["graders"] = graders
    run = read_run(write("events.json", page([one, event(2, 0.5)])))
    assert run.graders == ("model_grader", "style", "style#2", "truth")


def test_checkpoints(write: Write) -> None:
    metrics = {"step": 10, "train_mean_reward": 0.6, "full_valid_mean_reward": 0.7}
    checkpoints = [
        {
            "object": "fine_tuning.job.checkpoint",
            "id": f"c{step}",
            "step_number": step,
            "metrics": {**metrics, "step": step},
        }
        for step in (10, 20, 15)
    ]
    run = read_run(write("checkpoints.json", json.dumps({"object": "list", "data": checkpoints})))
    assert column(run, "step") == [10, 15, 20]
    assert column(run, "reward") == [0.6] * 3
    assert column(run, "reward", "eval") == [0.7] * 3


def test_a_job_of_another_kind_is_refused(write: Write) -> None:
    one = {**event(1, 0.5), "data": {"step": 1, "train_loss": 0.5}}
    with pytest.raises(NotARunError, match="1 logged row, none with a reward"):
        read_run(write("events.json", page([one])))
    path = write("messages/events.json", page([MESSAGE]))
    with pytest.raises(NotARunError, match="none of 1 entries is an event with metrics"):
        read_run(path)
    assert find_runs(path.parent).sources == []


def test_a_result_file_is_a_table_and_in_base64_the_same(write: Write) -> None:
    header = (
        "step,train_mean_reward,full_valid_mean_reward,completion_tokens_mean,errors/graders/0/train_other_error_count"
    )
    text = header + "\r\n1,0.25,,3000,0\r\n2,0.5,0.75,3100.5,1\r\n"
    plain = read_run(write("plain/results.csv", text))
    coded = read_run(write("coded/results.csv", base64.encodebytes(text.encode())))
    assert plain.framework == coded.framework == "openai_rft_csv"
    assert column(plain, "reward") == column(coded, "reward") == [0.25, 0.5]
    assert column(plain, "mean_length") == column(coded, "mean_length") == [3000.0, 3100.5]
    assert column(plain, "reward", "eval") == column(coded, "reward", "eval") == [0.75]
    assert coded.warnings == ("the file was base64 text: decoded",)
    assert plain.warnings == ()


def test_a_cut_off_result_file_in_base64(write: Write) -> None:
    rows = "".join(f"{step},0.5,0.75,3100\n" for step in range(1, 30))
    data = base64.b64encode(f"step,train_mean_reward,full_valid_mean_reward,completion_tokens_mean\n{rows}".encode())
    outcomes = set()
    for length in range(120, len(data), 7):
        path = write("results.csv", data[:length])
        try:
            run = read_run(path)
        except InputError as error:
            outcomes.add("cut off" in str(error) or "no rows" in str(error))
        else:
            steps = column(run, "step")
            assert steps == list(range(1, len(steps) + 1))
            assert set(column(run, "mean_length")) == {3100.0}
            assert len(steps) <= length // 16
    assert outcomes == {True}


def test_base64_of_something_else_is_no_log(write: Write) -> None:
    path = write("data.csv", base64.b64encode(b"name,age\nx,1\n" * 20))
    with pytest.raises(NotARunError):
        read_run(path)


def test_truncated_events(write: Write) -> None:
    lines = "".join(json.dumps(one) + "\n" for one in EVENTS).encode()
    ends = [place for place, byte in enumerate(lines, 1) if byte == ord("\n")]
    for length in range(ends[1], len(lines), 101):
        run = read_run(write("events.jsonl", lines[:length]))
        whole = sum(end <= length + 1 for end in ends) - 1
        assert column(run, "step") == list(range(1, whole + 1))
    listing = page(EVENTS)
    for length in range(300, len(listing), 301):
        with pytest.raises(InputError, match="cut off"):
            read_run(write("events.json", listing[:length]))


@pytest.mark.parametrize(
    "data",
    [
        {"step": 1, "scores": [1, 2], "train_mean_reward": 0.5},
        {"step": 1, "scores": {"graders": [{"name": {"a": 1}, "train_reward_mean": 0.1}]}, "train_mean_reward": 0.5},
        {"step": 1, "scores": {"graders": []}, "train_mean_reward": 0.5},
        {"step": 1, "train_mean_reward": 0.5, "deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}},
    ],
)
def test_odd_data_does_not_matter(write: Write, data: dict[str, Any]) -> None:
    events = [{**event(1, 0.5), "data": data}, event(2, 0.6), "text", None, {"type": "metrics", "data": None}]
    run = read_run(write("events.json", json.dumps(events)))
    assert column(run, "reward") == [0.5, 0.6]


def job(directory: Path, events: Sequence[dict[str, Any]], **others: str) -> Path:
    """Write a directory with the files of a job."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "events.json").write_text(page(events))
    for name, text in others.items():
        (directory / name.replace("_", ".")).write_text(text)
    return directory


RESULTS = "step,train_mean_reward,full_valid_mean_reward,pg_loss_sum\n" + "".join(
    f"{step},{reward},{valid},{step}.5\n"
    for step, reward, valid in ((1, 0.2, ""), (2, 0.3, 0.4), (3, 0.5, ""), (4, 0.6, 0.7), (5, 0.65, ""))
)


def test_the_files_of_one_job_are_one_run(tmp_path: Path) -> None:
    checkpoint = {
        "object": "fine_tuning.job.checkpoint",
        "id": "c",
        "step_number": 4,
        "metrics": {"train_mean_reward": 0.6},
    }
    job(tmp_path / "job", EVENTS[3:], checkpoints_json=page([checkpoint]), results_csv=RESULTS)
    run = read_run(tmp_path / "job")
    assert run.name == "job"
    assert column(run, "step") == [1, 2, 3, 4, 5]
    assert column(run, "reward") == [0.2, 0.3, 0.5, 0.6, 0.65]
    assert column(run, "reward", "eval") == [0.4, 0.7]
    assert column(run, "mean_length") == [None, None, 3103.0, 3104.0, None]
    assert [dict(row)["pg_loss_sum"] for row in run.training_steps["extra"].to_pylist()] == [1.5, 2.5, 3.5, 4.5, 5.5]
    assert run.facts["checkpoints"] == "4"
    assert run.planned_steps == 20
    assert len(run.inputs) == 3
    assert run.repeated_steps == 0
    assert run.warnings == ()
    assert [source.path for source in find_runs(tmp_path).sources] == [(tmp_path / "job").resolve()]


def test_a_result_file_does_not_undo_a_resumed_job(tmp_path: Path) -> None:
    again = [event(3, 0.9, id="a", created_at=1746680000), event(4, 0.95, id="b", created_at=1746680060)]
    run = read_run(job(tmp_path / "job", [*EVENTS, *again], results_csv=RESULTS))
    assert column(run, "reward") == [0.2, 0.3, 0.9, 0.95, 0.65]


def test_files_of_several_jobs_stay_runs_of_their_own(tmp_path: Path) -> None:
    directory = job(tmp_path / "jobs", EVENTS, results_csv=RESULTS)
    (directory / "events-2.json").write_text(page([event(step, 0.9) for step in (1, 2)]))
    assert len(find_runs(directory).sources) == 3
    with pytest.raises(NotARunError, match="3 runs"):
        read_run(directory)


def test_events_alone_are_a_file(tmp_path: Path) -> None:
    directory = job(tmp_path / "job", EVENTS, notes_csv="a,b\n1,2\n", config_json="{}")
    check(read_run(directory))
    assert [source.path.name for source in find_runs(directory).sources] == ["events.json"]
