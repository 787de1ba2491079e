"""TensorBoard's event files as runs."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

from rlchecks import suites
from rlchecks.diagnosis import diagnose
from rlchecks.errors import InputError, NotARunError
from rlchecks.metrics import METRICS
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.tensorboard import TensorBoardReader
from rlchecks.run import RunLog
from rlchecks.signals import compute
from rlchecks.signals.compute import facts_of
from tests.readers.tensorboard_files import DATA, NAME, VERSION, log, scalar, steps, text, value, write
from tests.readers.tensorboard_files import event as event_of
from tests.readers.tensorboard_files import field as field_of
from tests.readers.tensorboard_files import frame as frame_of

FIRST, SECOND = "Nov30_14-12-48_host", "Nov30_14-13-30_host"
# Both from TRL 1.16, of which the settings are known, and from 0.15 and 0.21.
TRL_RUNS = (
    *("clipped", "collapse-flat", "defaults-grad-accum", "hack-lazy-s30", "healthy-kl-s4", "healthy-s1", "kl-drift"),
    *("length-hack-s6", "mid-healthy-kl", "nan-crash", "nan-survives", "old-healthy-kl", "restarted", "resumed"),
    *("reward-inf", "reward-none", "starved-ceiling", "starved-floor", "two-rewards-conv-eval"),
)


def column(run: RunLog, name: str, split: str = "train") -> dict[int, float | None]:
    rows = run.steps.filter(pc.equal(run.steps["split"], split))
    return dict(zip(rows["step"].to_pylist(), rows[name].to_pylist(), strict=True))


def same(one: float | None, other: float | None) -> bool:
    """Whether two numbers are the same in single precision."""
    if one is None or other is None:
        return one is other
    return np.array_equal(np.float32(one), np.float32(other), equal_nan=True)


def findings(run: RunLog) -> list[str]:
    row = compute(run.steps, [facts_of(run)], run.validation).to_pylist()[0]
    return [finding.code for finding in diagnose(row, suites.load("chat").parameters)]


@pytest.mark.parametrize("name", TRL_RUNS)
def test_what_trl_wrote_to_tensorboard_is_what_it_wrote_to_its_state(name: str, shared_data: Path) -> None:
    state = read_run(shared_data / "trl" / name)
    run = read_run(str(find_runs(shared_data / "trl" / name / "runs").sources[-1]))
    assert run.name.split()[0] == name
    assert (run.framework, run.planned_steps, run.graders) == (state.framework, state.planned_steps, state.graders)
    for key in ("trl_keys", "reward_std_semantics", "metrics_not_loggable", "logging_steps"):
        assert run.facts.get(key) == state.facts.get(key)
    for split in ("train", "eval"):
        for metric in METRICS:
            logged, kept = column(run, metric, split), column(state, metric, split)
            assert logged.keys() == kept.keys()
            assert [step for step in kept if not same(logged[step], kept[step])] == []
    assert findings(run) == findings(state)


def test_most_numbers_are_the_same_doubles_as_in_the_state(shared_data: Path) -> None:
    equal = total = 0
    for name in ("healthy-s1", "kl-drift", "old-healthy-kl"):
        state = read_run(shared_data / "trl" / name)
        run = read_run(shared_data / "trl" / name / "runs")
        for metric in ("reward", "reward_std", "kl", "entropy", "learning_rate", "mean_length", "clipped_ratio"):
            pairs = zip(column(run, metric).values(), column(state, metric).values(), strict=True)
            equal += sum(one == other for one, other in pairs)
            total += len(state.training_steps)
    assert equal > 0.97 * total


def test_a_resumed_run_is_one_run(shared_data: Path) -> None:
    runs = shared_data / "trl" / "resumed" / "runs"
    assert [str(source) for source in find_runs(runs).sources] == [str(runs)]
    run = read_run(runs)
    assert (len(run.training_steps), run.repeated_steps, run.planned_steps) == (100, 17, 100)
    assert run.facts["attempts"] == "Nov30_14-12-48_vm, Nov30_14-13-30_vm (inferred)"
    assert len(run.inputs) == 2
    assert run.warnings == ("the log goes back to an earlier step 1 time: of 17 rows logged again, the last is kept",)


def test_a_restarted_run_is_two_runs(shared_data: Path) -> None:
    directory = shared_data / "trl" / "restarted" / "runs"
    sources = [str(source) for source in find_runs(directory).sources]
    assert sources == [f"{directory}#Nov30_14-11-44_vm", f"{directory}#Nov30_14-12-17_vm"]
    runs = [read_run(source) for source in sources]
    assert [len(run.training_steps) for run in runs] == [35, 60]
    assert [run.repeated_steps for run in runs] == [0, 0]
    assert len({run.run_id for run in runs}) == 2
    assert runs[0].run_id == read_run(directory / "Nov30_14-11-44_vm").run_id
    with pytest.raises(NotARunError, match=r"2 runs .* expected one; name one of them"):
        read_run(directory)
    with pytest.raises(NotARunError, match="no run 'Nov30' in it"):
        read_run(f"{directory}#Nov30")


@pytest.mark.parametrize("kind", ["simple", "new_style", "double", "tensorboardx"])
def test_runs_of_every_writer_are_read(kind: str) -> None:
    run = read_run(DATA / kind)
    assert (run.name, run.framework, run.graders) == (kind, "trl_grpo", ("accuracy_reward",))
    assert column(run, "reward") == {step: 0.25 + step / 64 for step in range(1, 13)}
    assert [step for step, kl in column(run, "kl").items() if kl is not None and math.isnan(kl)] == [5, 10]
    assert set(column(run, "learning_rate").values()) == {0.0001}
    assert run.warnings == ()
    assert read_run(next((DATA / kind).iterdir())).run_id == run.run_id


def test_what_transformers_writes_at_the_start_is_read() -> None:
    run = read_run(DATA / "simple")
    assert run.planned_steps == 12
    wanted = {"beta": "0.04", "num_generations": "8", "max_completion_length": "64", "scale_rewards": "group"}
    wanted |= {"loss_type": "dapo", "logging_steps": "1", "transformers_version": "5.24.0"}
    assert wanted.items() <= run.facts.items()
    assert "eval_steps" not in run.facts


def test_two_starts_and_a_directory_of_settings_are_one_run() -> None:
    runs = DATA / "runs"
    found = find_runs(runs)
    assert [str(source) for source in found.sources] == [str(runs)]
    assert found.refused == []
    run = read_run(runs)
    assert (len(run.training_steps), run.repeated_steps) == (12, 3)
    assert [Path(file.path).parent.name for file in run.inputs] == [FIRST, SECOND]


def test_copies_and_earlier_states_of_a_run_are_found_once(tmp_path: Path) -> None:
    shutil.copytree(DATA / "simple", tmp_path / "run")
    shutil.copytree(DATA / "simple", tmp_path / "elsewhere" / "copy")
    write(tmp_path / "early", log(steps(1, 5)))
    write(tmp_path / "later", log(steps(1, 9)))
    found = find_runs(tmp_path)
    assert [source.path.name for source in found.sources] == ["later", "run"]
    assert [(refusal.source.name, refusal.kind) for refusal in found.refused] == [("early", "copy"), ("copy", "copy")]


def test_several_files_of_one_directory_are_one_run(tmp_path: Path) -> None:
    write(tmp_path / "exp", log(steps(41, 60)), "events.out.tfevents.1796048010.host.2.0")
    write(tmp_path / "exp", log(steps(1, 50)), "events.out.tfevents.1796047968.host.1.0")
    run = read_run(tmp_path / "exp")
    assert (len(run.training_steps), run.repeated_steps) == (60, 10)
    assert len(run.inputs) == 2


def test_directories_with_other_names_are_runs_of_their_own(tmp_path: Path) -> None:
    for number, name in enumerate(["lr-1", "lr-2", FIRST]):
        write(tmp_path / "runs" / name, log([(1, {"train/reward": number / 2}), *steps(2, 9)]))
    found = find_runs(tmp_path)
    assert [source.path.name for source in found.sources] == [FIRST, "lr-1", "lr-2"]
    assert len({read_run(source.path).run_id for source in found.sources}) == 3


def test_a_run_inside_of_another_ones_directory_is_found(tmp_path: Path) -> None:
    write(tmp_path / "exp", log(steps(1, 9)))
    write(tmp_path / "exp" / "second", log(steps(3, 9)))
    assert [source.path.name for source in find_runs(tmp_path).sources] == ["exp", "second"]


def test_runs_below_several_starts_are_found(tmp_path: Path) -> None:
    write(tmp_path / FIRST, log(steps(1, 9)))
    write(tmp_path / SECOND, log(steps(2, 9)))
    write(tmp_path / SECOND / "deeper", log(steps(5, 9)))
    found = find_runs(tmp_path)
    assert [(source.path.name, source.part) for source in found.sources] == [(tmp_path.name, None), ("deeper", None)]


def test_event_files_never_hide_another_log(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"step": step, "reward": step / 8}) + "\n" for step in range(1, 6))
    write(tmp_path / "exp", log([(step, {"cpu": 0.5}) for step in range(9)]))
    write(tmp_path / "exp", rows.encode(), "metrics.jsonl")
    found = find_runs(tmp_path)
    assert [source.path.name for source in found.sources] == ["metrics.jsonl"]
    assert len(read_run(tmp_path / "exp").training_steps) == 5
    write(tmp_path / "exp", log(steps(1, 9)))
    assert [source.path.name for source in find_runs(tmp_path).sources] == ["exp"]
    assert len(read_run(tmp_path / "exp").training_steps) == 9


def test_what_lies_beside_event_files_may_be_anything(tmp_path: Path) -> None:
    write(tmp_path / "exp", log(steps(1, 9)))
    write(tmp_path / "exp", b"", "empty.jsonl")
    write(tmp_path / "exp", b"{", "broken.json")
    (tmp_path / "exp" / "gone.csv").symlink_to("nowhere")
    assert [source.path.name for source in find_runs(tmp_path).sources] == ["exp"]


def test_several_starts_never_hide_another_log(tmp_path: Path) -> None:
    write(tmp_path / FIRST, log(steps(1, 9)))
    write(tmp_path / SECOND, log(steps(2, 9)))
    write(tmp_path, b"# Notes", "README.md")
    assert len(find_runs(tmp_path).sources) == 1
    write(tmp_path, b"step,reward\n1,0.5\n2,0.7\n", "metrics.csv")
    assert [source.path.name for source in find_runs(tmp_path).sources] == [FIRST, SECOND, "metrics.csv"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (VERSION, "event files without scalars"),
        (log([(1, {"loss": 0.5})]), "1 logged row, none with a reward"),
        (log([(1, {"step": 1.0})]), "none with a reward"),
        (b"", "the file is empty"),
        (b"reward,step\n1,2\n", "no event file of TensorBoard"),
    ],
)
def test_what_is_no_run_is_refused(data: bytes, sentence: str, tmp_path: Path) -> None:
    path = write(tmp_path / "exp", data)
    for one in (path, path.parent):
        with pytest.raises(InputError, match=sentence) as error:
            read_run(one)
        assert str(path.parent) in str(error.value)
    if b"loss" not in data:
        found = find_runs(tmp_path)
        assert found.sources == []
        assert len(found.refused) == 1


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path / "exp", b"", "events.out.tfevents.1000000000.host")
    write(tmp_path / "exp", VERSION, "events.out.tfevents.1000000001.host")
    write(tmp_path / "exp", log(steps(1, 9)), "events.out.tfevents.1000000002.host")
    assert [source.path.name for source in find_runs(tmp_path).sources] == ["exp"]
    run = read_run(tmp_path / "exp")
    assert len(run.training_steps) == 9
    assert run.warnings == ("events.out.tfevents.1000000000.host: passed over: the file is empty",)


def test_a_file_with_another_name_is_known_by_its_content(tmp_path: Path) -> None:
    path = write(tmp_path / "exp", log(steps(1, 9)), "my-run.tfevents")
    assert len(read_run(path).training_steps) == 9
    assert read_run(path).name == "my-run"


def test_users_names_count(tmp_path: Path) -> None:
    path = write(tmp_path, log([(step, {"my/return": step / 4}) for step in range(1, 6)]))
    assert column(read_run(path, columns={"my/return": "reward"}), "reward")[5] == 1.25


def test_evaluations_are_kept_apart(tmp_path: Path) -> None:
    logged = [*steps(1, 5), (5, {"eval/reward": 0.75}), *steps(6, 10)]
    run = read_run(write(tmp_path, log(logged)))
    assert column(run, "reward")[5] == 5 / 64
    assert column(run, "reward", "eval") == {5: 0.75}


@pytest.mark.parametrize("arguments", ["{", "[" * 100_000, "[1]", '{"max_steps": "x", "beta": [1]}', "é" * 100])
def test_texts_of_any_kind_do_no_harm(arguments: str, tmp_path: Path) -> None:
    run = read_run(write(tmp_path, text("args/text_summary", arguments) + log(steps(1, 9))))
    assert (len(run.training_steps), run.planned_steps) == (9, None)
    assert "beta" not in run.facts


def test_the_latest_start_says_how_long_the_run_is_to_be(tmp_path: Path) -> None:
    for name, first, most in ((FIRST, 1, 50), (SECOND, 10, 100)):
        data = text("args/text_summary", json.dumps({"max_steps": most})) + log(steps(first, first + 20))
        write(tmp_path / name, data, f"events.out.tfevents.{1796047968 + first}.host.1.0")
    assert read_run(tmp_path).planned_steps == 100


def test_steps_that_are_no_steps_are_left_out_and_told(tmp_path: Path) -> None:
    run = read_run(write(tmp_path, log([*steps(1, 5), (-7, {"train/reward": 9.0}), (2**62, {"train/reward": 9.0})])))
    assert column(run, "reward") == {step: step / 64 for step in range(1, 6)}
    assert run.warnings == ("2 scalars of a step that is none (first: -7) left out",)


def test_without_any_usable_step_rows_are_numbered(tmp_path: Path) -> None:
    run = read_run(write(tmp_path, log([(2**61 + step, {"train/reward": step / 64}) for step in range(1, 6)])))
    assert column(run, "reward") == {step: step / 64 for step in range(1, 6)}
    assert any("rows are numbered" in warning for warning in run.warnings)


def test_names_and_values_of_a_hostile_log_do_no_harm(tmp_path: Path) -> None:
    more = b"".join(scalar(name, math.inf, 1) for name in (b"\xff\x1b[31m", b"../../x", b"\0", b""))
    run = read_run(write(tmp_path, log(steps(1, 9)) + more))
    assert len(run.training_steps) == 9
    run.steps.validate(full=True)


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, bytes, dict[int, float | None]]:
    path = write(tmp_path / "exp", log(steps(126, 129)))
    return path, path.read_bytes(), column(read_run(path), "reward")


def test_a_file_cut_anywhere_gives_the_rows_before_or_one_error(small: tuple[Path, bytes, dict[int, Any]]) -> None:
    path, data, rewards = small
    lengths = set()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        try:
            run = read_run(path)
        except InputError:
            continue
        found = column(run, "reward")
        assert found.items() <= {**rewards, max(found): found[max(found)]}.items()
        lengths.add(len(run.training_steps))
    assert lengths == {1, 2, 3, 4}


def test_a_flipped_bit_anywhere_is_told_and_changes_no_reward(small: tuple[Path, bytes, dict[int, Any]]) -> None:
    path, data, rewards = small
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        run = read_run(path)
        assert "damaged: " in run.warnings[0]
        found = {step: reward for step, reward in column(run, "reward").items() if reward is not None}
        assert found.items() <= rewards.items()
        assert len(found) >= len(rewards) - 1


@pytest.mark.slow
def test_a_large_file_of_pictures_needs_little_memory(tmp_path: Path, peak: Callable[[Path], int]) -> None:
    picture = frame_of(event_of(field_of(5, field_of(1, field_of(1, b"p") + field_of(4, bytes(3 << 20)))), step=1))
    path = tmp_path / NAME
    with open(path, "wb") as file:
        file.write(VERSION)
        for step in range(1, 101):
            file.write(picture + scalar("train/reward", 0.5, step))
    assert len(read_run(path).training_steps) == 100
    assert peak(path) < 150 << 20


@pytest.fixture
def peak() -> Callable[[Path], int]:
    """The memory that reading a file takes, in bytes."""
    import tracemalloc

    def measure(path: Path) -> int:
        tracemalloc.start()
        try:
            read_run(path)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure


def test_the_directory_tells_the_name(tmp_path: Path) -> None:
    path = write(tmp_path / "my-run" / "runs" / FIRST, log(steps(1, 9)))
    for one in (path, path.parent, path.parent.parent, tmp_path / "my-run"):
        assert read_run(one).name == "my-run"


def test_a_tree_is_searched_by_names_alone() -> None:
    reader = TensorBoardReader()
    assert reader.holds(["a", NAME])
    assert reader.holds([FIRST, SECOND])
    assert not reader.holds([FIRST, "a"])
    assert not reader.named(NAME)
    assert not reader.named("model.safetensors")


def test_a_link_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", log(steps(1, 9)))
    (tmp_path / "tree" / "exp").mkdir(parents=True)
    (tmp_path / "tree" / "exp" / NAME).symlink_to(outside)
    found = find_runs(tmp_path / "tree")
    assert found.sources == []
    assert "a link out of the tree" in found.refused[0].reason
    shutil.rmtree(tmp_path / "tree")


def test_summaries_of_several_scalars_are_rows(tmp_path: Path) -> None:
    records = [
        frame_of(event_of(field_of(5, value("reward", step / 64) + value("loss", 0.5)), step=step))
        for step in range(30)
    ]
    run = read_run(write(tmp_path, VERSION + b"".join(records)))
    assert column(run, "reward") == {step: step / 64 for step in range(30)}
    assert set(column(run, "loss").values()) == {0.5}
