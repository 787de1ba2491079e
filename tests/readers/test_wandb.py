"""Weights & Biases: real logs of two SDKs, runs over several files, and what must not be taken for a number."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.quicklook import look
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.wandb import WandbReader
from rlchecks.run import RunLog
from tests.readers.record_logs import BLOCK, field, frame, history, items, run, write_wandb

DATA = Path(__file__).parent / "data" / "wandb"
WHOLE = sorted(DATA.glob("*/whole/wandb"))


def numbered(records: list[bytes]) -> list[bytes]:
    return [field(1, number) + record for number, record in enumerate(records, start=1)]


def trained(steps: range, **more: object) -> list[bytes]:
    """Rows as transformers' callback logs them."""
    return [
        history({"train/reward": step / 10, "train/loss": 1.0, "train/global_step": step, "_step": call, **more})
        for call, step in enumerate(steps)
    ]


def values(log: RunLog, name: str) -> list[float | None]:
    found: list[float | None] = log.training_steps[name].to_pylist()
    return found


def extra(log: RunLog) -> list[Mapping[str, float]]:
    return [dict(row) for row in log.training_steps["extra"].to_pylist()]


@pytest.mark.parametrize("folder", WHOLE, ids=lambda folder: folder.parent.parent.name)
def test_a_real_run_is_read_in_full(folder: Path) -> None:
    log = read_run(folder)
    assert (log.name, log.framework, log.planned_steps) == ("toy", "trl_grpo", 12)
    assert values(log, "step") == [1, 2, 3, 4, 5, 6]
    assert repr(values(log, "reward")) == "[0.1, nan, inf, -inf, 0.5, 0.6]"
    assert values(log, "mean_length") == [31.0, 32.0, 33.0, 34.0, 35.0, 36.0]
    assert log.validation.select(["step", "score"]).to_pylist() == [{"step": 3, "score": 0.5}]
    assert log.warnings == ()
    assert log.repeated_steps == 0
    # A dictionary is taken apart; a key with a dot stays what it is.
    last = extra(log)[-1]
    assert (last["nested.inner.deep"], last["nested.flat"], last["a.dot"]) == (2.0, 1.5, 3.0)
    assert extra(log)[1]["profiling/toy"] == 0.1
    assert log.facts["not_read"] == "'answers', 'list', 'spread', 'text'"
    wanted = {"beta": "0.04", "num_generations": "8", "max_completion_length": "64", "transformers_version": "5.24.0"}
    assert wanted.items() <= log.facts.items()
    assert log.facts["exit_code"] == "0"
    assert log.facts["wandb_version"] == folder.parent.parent.name
    assert log.facts["wandb_run_id"] == WandbReader().parts(folder)[0]


@pytest.mark.parametrize("folder", WHOLE, ids=lambda folder: folder.parent.parent.name)
def test_folder_directory_and_file_are_the_same_run(folder: Path, tmp_path: Path) -> None:
    (directory,) = folder.iterdir()
    (file,) = directory.iterdir()
    logs = [read_run(path) for path in (folder, directory, file)]
    assert len({log.run_id for log in logs}) == 1
    # As text, since a NaN does not equal itself.
    assert len({repr(log.steps.to_pylist()) for log in logs}) == 1
    assert [source.bytes for source in logs[0].inputs] == [file.stat().st_size]
    # Below the folder nothing is found a second time, nor by the link that the SDK makes.
    copy = tmp_path / "wandb"
    shutil.copytree(folder, copy)
    (copy / "latest-run").symlink_to(directory.name)
    assert [str(source) for source in find_runs(tmp_path).sources] == [str(copy)]
    assert len(find_runs(copy / "latest-run").sources) == 1


def test_secrets_stay_where_they_are() -> None:
    log = read_run(DATA / "0.31.0" / "whole")
    assert b"a secret" in Path(log.inputs[0].path).read_bytes()
    assert "secret" not in repr(log)


def test_a_run_that_was_resumed_by_its_id_is_one_run() -> None:
    log = read_run(DATA / "0.31.0" / "resumed")
    assert values(log, "step") == [1, 2, 3, 4, 5, 6, 7, 8]
    assert values(log, "reward") == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    assert log.repeated_steps == 2
    assert "attempts" not in log.facts
    assert len(log.inputs) == 2


@pytest.mark.parametrize("name", ["healthy-s1", "resumed", "kl-drift", "reward-inf"])
def test_real_runs_have_the_numbers_of_their_trainer_state(shared_data: Path, name: str) -> None:
    directory = shared_data / "trl" / name
    log, state = read_run(directory / "wandb"), read_run(directory)
    for column in state.training_steps.column_names:
        if column not in ("run_id", "extra", "extra_text"):
            assert repr(values(log, column)) == repr(values(state, column)), column
    assert (log.framework, log.planned_steps, log.graders) == (state.framework, state.planned_steps, state.graders)
    for fact in ("reward_std_semantics", "trl_keys", "metrics_not_loggable", "transformers_version", "logging_steps"):
        assert log.facts[fact] == state.facts[fact]
    assert log.facts["max_completion_length"] == state.facts["max_completion_length"].removesuffix(" (inferred)")


@pytest.mark.parametrize("name", ["healthy-s1", "resumed", "kl-drift", "reward-inf"])
def test_real_runs_have_the_findings_of_their_trainer_state(shared_data: Path, name: str) -> None:
    directory = str(shared_data / "trl" / name)
    runs = look((directory, f"{directory}/wandb"), "chat", None, {})["runs"]
    state, log = ([finding["code"] for finding in run["findings"]] for run in runs)
    assert state
    assert log == state


def test_a_real_run_that_was_killed_and_went_on_under_another_id_is_one_run(shared_data: Path) -> None:
    folder = shared_data / "trl" / "resumed" / "wandb"
    assert [str(source) for source in find_runs(folder).sources] == [str(folder)]
    log = read_run(folder)
    assert len(log.training_steps) == 100
    # The second log begins at 41; of the first only what reached the disk counts.
    assert log.repeated_steps == 15
    assert log.facts["attempts"] == "yg9hjook, cpg3dpz7 (inferred)"
    assert log.facts["wandb_run_id"] == "yg9hjook"
    assert [warning for warning in log.warnings if "ends within a record" in warning] == [
        "run-yg9hjook.wandb: the file ends within a record, as that of a run that was killed or still goes on:"
        " 68 bytes at its end left out"
    ]


def test_logs_of_one_run_need_common_settings_and_steps_that_follow(tmp_path: Path) -> None:
    def make(run_id: str, time: str, steps: range, name: str = "a", **config: object) -> None:
        write_wandb(tmp_path, run_id, time, numbered([run(run_id, name, **config), *trained(steps)]))

    make("first", "000001", range(1, 10), seed=1)
    make("other-seed", "000002", range(8, 20), seed=2)
    make("other-name", "000003", range(8, 20), name="b", seed=1)
    make("unnamed1", "000004", range(1, 10), name="", seed=1)
    make("unnamed2", "000005", range(8, 20), name="", seed=1)
    make("again", "000006", range(1, 10), seed=1)
    make("more", "000007", range(9, 20), seed=1)
    make("later", "000008", range(30, 40), seed=1)
    ids = ["first", "other-seed", "other-name", "unnamed1", "unnamed2", "again", "later"]
    assert WandbReader().parts(tmp_path) == ids
    log = read_run(f"{tmp_path}#again")
    assert log.facts["attempts"] == "again, more (inferred)"
    assert read_run(f"{tmp_path}#more").run_id == log.run_id
    assert values(log, "step") == list(range(1, 20))
    assert log.repeated_steps == 1
    with pytest.raises(NotARunError, match="7 runs"):
        read_run(tmp_path)


def test_calls_are_counted_where_nothing_else_moves(tmp_path: Path) -> None:
    # As a trainer with its own loop logged: a group of metrics a call, and a step that stays 0.
    rows = [
        {"train/avg_reward": 0.5, "train/global_step": 0, "_step": 0},
        {"train/loss": 1.5, "train/global_step": 0, "_step": 1},
        {"train/avg_reward": 0.6, "train/global_step": 0, "_step": 2},
        {"train/loss": 1.4, "train/global_step": 0, "_step": 3},
    ]
    path = write_wandb(tmp_path, "a", "000001", numbered([run("a"), *map(history, rows)]))
    log = read_run(path)
    assert values(log, "step") == [0, 1, 2, 3]
    assert repr(values(log, "reward")) == "[0.5, None, 0.6, None]"
    assert log.repeated_steps == 0


def test_a_step_that_the_run_declares_itself_is_used(tmp_path: Path) -> None:
    rows = [{"reward": 0.1 * step, "my/step": 10 * step, "_step": step} for step in range(4)]
    declared = field(12, field(2, "*") + field(4, "my/step"))
    path = write_wandb(tmp_path, "a", "000001", numbered([run("a"), declared, *map(history, rows)]))
    assert values(read_run(path), "step") == [0, 10, 20, 30]


def test_the_step_of_a_record_counts_if_no_item_has_it(tmp_path: Path) -> None:
    records = [history({"reward": 0.1 * step}) for step in range(3)]
    with_steps = [field(2, items({"reward": 0.5}, 1) + field(2, field(1, step))) for step in (0, 5, 7)]
    assert values(read_run(write_wandb(tmp_path, "a", "000001", numbered(with_steps))), "step") == [0, 5, 7]
    log = read_run(write_wandb(tmp_path, "b", "000001", numbered(records)))
    assert values(log, "step") == [1, 2, 3]
    assert "rows are numbered" in log.warnings[0]


def test_values_that_are_no_numbers_are_left_out_and_named(tmp_path: Path) -> None:
    odd: dict[str | tuple[str, ...], object] = {
        "reward": 0.5,
        "quoted": "12.5",
        "flag": True,
        "none": None,
        "list": [1.0],
        "histogram": {"_type": "histogram", "values": [1], "bins": [0, 1]},
        ("table", "_type"): "table-file",
        ("table", "nrows"): 64,
        ("table", "deep", "size"): 99,
        ("answer",): "x" * 65,
        "_step": 1,
    }
    broken = field(2, field(1, field(2, "reward") + field(16, "0.7")) + field(1, field(2, "bad") + field(16, "0x1")))
    path = write_wandb(tmp_path, "a", "000001", numbered([history({"reward": 0.1, "_step": 0}), history(odd), broken]))
    log = read_run(path)
    assert log.facts["not_read"] == "'answer', 'histogram', 'list', 'table'"
    assert "1 value of 'bad' left out: no valid JSON" in log.warnings
    assert {"table.nrows", "table.deep.size", "histogram", "bad", "none"}.isdisjoint(log.unmapped)
    assert extra(log)[1]["quoted"] == 12.5


def test_a_key_twice_in_a_row_is_told(tmp_path: Path) -> None:
    twice = field(2, items({"reward": 0.5}, 1) + items({"reward": 0.7, "_step": 1}, 1))
    log = read_run(write_wandb(tmp_path, "a", "000001", numbered([history({"reward": 0.1, "_step": 0}), twice])))
    assert values(log, "reward") == [0.1, 0.7]
    assert "1 value of a key given twice in one row: the last one counts" in log.warnings


def test_exit_code_and_origin_are_facts(tmp_path: Path) -> None:
    origin = field(18, 1) + field(23, field(1, "parent") + field(2, 40.0) + field(3, "_step"))
    records = numbered([field(17, field(1, "a") + origin), *trained(range(1, 4)), field(18, field(1, -9))])
    log = read_run(write_wandb(tmp_path, "a", "000001", records))
    assert log.facts["exit_code"] == "-9"
    assert log.facts["resumed"] == "true"
    assert log.facts["forked_from"] == "parent at _step 40"


def test_the_version_of_trl_is_in_the_list_of_packages(tmp_path: Path) -> None:
    more = {"train/reward_std": 0.1, "train/completions/mean_length": 9.0, "train/completions/clipped_ratio": 0.0}
    path = write_wandb(tmp_path, "a", "000001", numbered(trained(range(1, 4), **more)))
    files = path.parent / "files"
    files.mkdir()
    (files / "requirements.txt").write_text("torch==2.9.0\ntrl==0.20.0\n")
    for place in (path, path.parent, tmp_path):
        assert read_run(place).framework_version == "0.20.0"
    assert WandbReader().beside(path)[0] == files


def test_runs_without_rows_or_without_a_header_do_not_hide_others(tmp_path: Path) -> None:
    write_wandb(tmp_path, "good", "000001", numbered([run("good"), *trained(range(1, 4))]))
    # Killed before anything was logged: only what it printed reached the disk.
    write_wandb(tmp_path, "silent", "000002", numbered([field(13, field(3, "hello")) for _ in range(9)]))
    for name, content in (("empty", b""), ("torn", b":W&B"), ("strange", b"PK\3\4" * 9)):
        path = tmp_path / f"run-20260101_000003-{name}" / f"run-{name}.wandb"
        path.parent.mkdir()
        path.write_bytes(content)
    found = find_runs(tmp_path)
    assert [str(source) for source in found.sources] == [f"{tmp_path}#good"]
    reasons = {str(refusal.source).rpartition("#")[2]: refusal.reason for refusal in found.refused}
    assert reasons["silent"] == "no row of metrics was logged."
    assert "the file is empty" in reasons["empty"]
    assert "cut off within the header" in reasons["torn"]
    assert "begins with" in reasons["strange"]
    with pytest.raises(NotARunError, match="0 logged rows, none with a reward"):
        read_run(f"{tmp_path}#silent")


def test_an_empty_log_of_a_resumed_run_is_passed_over(tmp_path: Path) -> None:
    write_wandb(tmp_path, "a", "000001", numbered([run("a"), *trained(range(1, 4))]))
    write_wandb(tmp_path, "a", "000002", [])
    (tmp_path / "offline-run-20260101_000002-a" / "run-a.wandb").write_bytes(b"")
    log = read_run(tmp_path)
    assert values(log, "step") == [1, 2, 3]
    assert log.warnings == ("run-a.wandb: passed over: the file is empty",)


def test_other_directories_are_not_taken_for_runs(tmp_path: Path) -> None:
    data = frame(numbered([run("a", "one"), *trained(range(1, 4))]))
    other = tmp_path / "mine"
    other.mkdir()
    (other / "copy.wandb").write_bytes(data)
    (other / "metrics.jsonl").write_text("".join(f'{{"step": {step}, "reward": 0.5}}\n' for step in range(3)))
    names = [source.path.name for source in find_runs(tmp_path).sources]
    assert names == ["copy.wandb", "metrics.jsonl"]
    assert read_run(other / "copy.wandb").name == "one"
    assert not WandbReader().detect(tmp_path, b"")


def test_a_link_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    elsewhere = write_wandb(tmp_path / "elsewhere", "a", "000001", numbered(trained(range(1, 4))))
    directory = tmp_path / "tree" / "run-20260101_000001-a"
    directory.mkdir(parents=True)
    (directory / "run-a.wandb").symlink_to(elsewhere)
    found = find_runs(tmp_path / "tree")
    assert found.sources == []
    assert "link out of the tree" in found.refused[0].reason


def test_records_that_are_no_messages_are_left_out(tmp_path: Path) -> None:
    good = numbered(trained(range(1, 4)))
    log = read_run(write_wandb(tmp_path, "a", "000001", [*good[:2], b"\xff\xff", good[2]]))
    assert values(log, "step") == [1, 2, 3]
    assert log.warnings == ("1 record left out: no message of Weights & Biases",)


def test_a_block_that_is_missing_makes_no_new_rows(tmp_path: Path) -> None:
    rows = [{"reward": call / 1000, "kl": call / 10, "note": "x" * (call % 60), "_step": call} for call in range(2000)]
    records = numbered([history({**row}) for row in rows])
    whole = frame(records)
    path = write_wandb(tmp_path, "a", "000001", [])
    for block in range(1, len(whole) // BLOCK):
        path.write_bytes(whole[: block * BLOCK] + whole[(block + 1) * BLOCK :])
        log = read_run(path)
        steps = log.training_steps.select(["step", "reward", "kl"]).to_pylist()
        assert all(row["reward"] == row["step"] / 1000 and row["kl"] == row["step"] / 10 for row in steps)
        assert len(steps) < len(rows)
        assert any("missing" in warning or "damaged" in warning for warning in log.warnings)


def outcome(path: Path, data: bytes, known: Mapping[int, Mapping[str, object]]) -> int | None:
    """Read damaged bytes; the number of rows, all of which are true, or None for an error."""
    path.write_bytes(data)
    try:
        log = read_run(path)
    except InputError:
        return None
    for row in log.training_steps.select(["step", "reward", "kl", "mean_length"]).to_pylist():
        assert repr(row) == repr(known[row["step"]])
    return len(log.training_steps)


@pytest.fixture
def known() -> dict[int, Mapping[str, object]]:
    steps = read_run(DATA / "0.16.6" / "whole").training_steps
    return {row["step"]: row for row in steps.select(["step", "reward", "kl", "mean_length"]).to_pylist()}


@pytest.mark.parametrize("stride", [pytest.param(97, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def test_a_log_cut_off_anywhere_has_true_rows(
    tmp_path: Path, known: dict[int, Mapping[str, object]], stride: int
) -> None:
    (file,) = (DATA / "0.16.6").glob("whole/wandb/*/*.wandb")
    whole = file.read_bytes()
    rows = [outcome(tmp_path / "run-a.wandb", whole[:end], known) for end in range(0, len(whole), stride)]
    counts = [count for count in rows if count is not None]
    assert counts == sorted(counts)
    assert counts[-1] == len(known)
    # Once there is a reward, no cut makes an error of it.
    assert None not in rows[rows.index(1) :]


@pytest.mark.parametrize("bits", [pytest.param(200, id="some"), pytest.param(3000, id="many", marks=pytest.mark.slow)])
def test_a_log_with_a_flipped_bit_has_true_rows_and_a_warning(
    tmp_path: Path, known: dict[int, Mapping[str, object]], bits: int
) -> None:
    (file,) = (DATA / "0.16.6").glob("whole/wandb/*/*.wandb")
    whole = file.read_bytes()
    path = tmp_path / "run-a.wandb"
    for place in random.Random(2).sample(range(56, len(whole) * 8), bits):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        if outcome(path, bytes(damaged), known) is not None:
            assert read_run(path).warnings


def test_nothing_in_a_record_makes_more_than_an_error(tmp_path: Path) -> None:
    deep = "[" * 100_000
    values: list[object] = [10**400, -(10**30), 1e308, math.inf, {"a": {"b": {"c": 1}}}, "", "nan", [[]], {}]
    records = [history({"reward": 0.5, f"odd{place}": value, "_step": place}) for place, value in enumerate(values)]
    records += [
        field(2, field(1, field(2, "reward") + field(16, deep)) + items({"_step": 90}, 1)),
        field(2, field(1, field(16, "1")) + field(1, field(2, b"\xff\xfe") + field(16, "1"))),
        field(2, field(1, field(2, "reward") + field(16, "0.5")) + field(2, field(1, 2**62))),
        field(2, field(1, field(2, "\x1b[31mreward\n") + field(16, "0.5"))),
        field(17, field(1, "a") + field(8, "\x1b[2Jname\0") + field(4, field(1, field(1, "beta") + field(16, deep)))),
        field(5, field(1, field(1, "max_steps") + field(16, "1" * 5000))),
        field(18, b""),
    ]
    log = read_run(write_wandb(tmp_path, "a", "000001", numbered(records)))
    assert log.facts["exit_code"] == "0"
    assert values_of(log) == {0.5}
    assert all(warning.isprintable() for warning in log.warnings)


def values_of(log: RunLog) -> set[float]:
    return {value for value in values(log, "reward") if value is not None}


def test_a_row_with_the_keys_of_an_object_is_flat_in_both_forms(tmp_path: Path) -> None:
    nested = write_wandb(tmp_path / "1", "a", "000001", [history({("train", "reward"): 0.5, "_step": 1})])
    as_object = write_wandb(tmp_path / "2", "a", "000001", [history({"train": {"reward": 0.5}, "_step": 1})])
    columns = {"train.reward": "reward"}
    logs = [json.dumps(read_run(path, columns=columns).steps.to_pylist()) for path in (nested, as_object)]
    assert logs[0] == logs[1]
    assert '"reward": 0.5' in logs[0]
