"""Console output through the public readers."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.console import LOOKED_AT, ConsoleReader
from rlchecks.readers.registry import ReadOptions, reader_named
from rlchecks.run import RunLog
from tests.readers.consoles import printed, rows_of

Write = Callable[[str, str | bytes], Path]

DATA = Path(__file__).parent / "data" / "console"
VERL = "step:{0} - actor/lr:0.000 - critic/score/mean:0.{0:03} - response_length/mean:12.000\n"


def steps(run: RunLog) -> list[int]:
    return list(run.training_steps["step"].to_pylist())


def rewards(run: RunLog) -> list[float | None]:
    return list(run.training_steps["reward"].to_pylist())


def test_the_console_output_of_trl_is_read(write: Write) -> None:
    rows = rows_of(12)
    run = read_run(write("a.log", "Loading\n" + printed(rows) + "done\n"))
    assert run.framework == "trl_grpo"
    assert steps(run) == list(range(1, 13))
    assert rewards(run) == [row["reward"] for row in rows]
    assert run.training_steps["epoch"].to_pylist() == [row["epoch"] for row in rows]
    assert run.graders == ("accuracy",)
    assert run.facts["step"] == "number of the row (inferred)"
    assert run.facts["trl_keys"] == "0.20 to 0.25 (inferred)"
    assert run.warnings == ("the rows were printed without a step: they are numbered",)
    assert [one.bytes for one in run.inputs] == [(write("a.log", "x").parent / "a.log").stat().st_size] or run.inputs


@pytest.mark.parametrize(("name", "rel"), [("terminal.log", 1e-3), ("terminal-4.51.log", 1e-12)])
def test_what_transformers_prints_on_a_terminal_is_read(name: str, rel: float) -> None:
    # A run that was killed and resumed from step 10, and a second one with evaluations.
    reader = reader_named("console")
    assert isinstance(reader, ConsoleReader)
    assert reader.parts(DATA / name) == ["1", "2"]
    for part, seed in (("1", 1), ("2", 2)):
        run = read_run(f"{DATA / name}#{part}")
        assert steps(run) == list(range(2, 25, 2))
        assert rewards(run) == pytest.approx([0.1 * seed + step / 77 for step in range(2, 25, 2)], rel=rel)
        assert run.planned_steps == 24
        assert run.facts["step"] == run.facts["planned_steps"] == "progress bar (inferred)"
        assert run.repeated_steps == (2 if seed == 1 else 0)
        assert run.validation["step"].to_pylist() == ([] if seed == 1 else [12, 24])
        assert ("printed_numbers" in run.facts) == (name == "terminal.log")
    assert run.validation["score"].to_pylist() == pytest.approx([0.412, 0.424])


def test_what_transformers_prints_into_a_file_is_read() -> None:
    run = read_run(DATA / "file.log")
    assert steps(run) == list(range(2, 25, 2))
    assert run.planned_steps == 24
    assert run.warnings == ()


def test_several_runs_of_a_file_are_named(write: Write) -> None:
    path = write("sweep.log", printed(rows_of(5)) + printed(rows_of(7, shift=0.5)))
    with pytest.raises(
        NotARunError, match=r"2 runs \('1', '2'\), expected one; name one of them, such as .*sweep\.log#1"
    ):
        read_run(path)
    first, second = read_run(f"{path}#1"), read_run(f"{path}#2")
    assert (len(steps(first)), len(steps(second))) == (5, 7)
    assert first.name == "sweep"
    assert second.name == "sweep-2"
    assert [str(source) for source in find_runs(path.parent).sources] == [f"{path}#1", f"{path}#2"]
    with pytest.raises(NotARunError, match="no run '3' in it; it has '1', '2'"):
        read_run(f"{path}#3")


def test_a_training_without_reward_beside_one_with_reward_is_left_out(write: Write) -> None:
    sft = [{"loss": 0.5, "learning_rate": 0.1, "epoch": number / 9} for number in range(1, 4)]
    run = read_run(write("both.log", printed([*sft, {"train_runtime": 1.5, "epoch": 0.33}, *rows_of(5)])))
    assert steps(run) == [1, 2, 3, 4, 5]
    assert "1 other run in it without a reward: left out" in run.warnings
    with pytest.raises(NotARunError, match="3 logged rows, none with a reward"):
        read_run(write("sft.log", printed(sft)))


def test_a_column_can_be_declared_to_be_the_reward(write: Write) -> None:
    rows = [{"loss": 0.5, "score_of_mine": 0.25 * number, "epoch": number / 9} for number in range(1, 4)]
    run = read_run(write("own.log", printed(rows)), columns={"score_of_mine": "reward"})
    assert rewards(run) == [0.25, 0.5, 0.75]


def test_verl_lines_with_three_decimals_say_so_and_lose_what_rounding_left_nothing_of(write: Write) -> None:
    text = "Total training steps: 40\n" + "".join(VERL.format(step) for step in range(1, 10))
    run = read_run(write("verl.out", text))
    assert run.framework == "verl"
    assert run.planned_steps == 40
    assert rewards(run) == [step / 1000 for step in range(1, 10)]
    assert run.facts["printed_numbers"] == "rounded to 3 decimals (inferred)"
    assert run.training_steps["learning_rate"].null_count == 9
    assert "'actor/lr': rounding left nothing but 0 of it: taken as missing" in run.warnings
    precise = read_run(write("new.out", text.replace("0.000", "0.0").replace("12.000", "12.5")))
    assert "printed_numbers" not in precise.facts
    assert precise.training_steps["learning_rate"].to_pylist() == [0.0] * 9


@pytest.mark.parametrize(
    ("framework", "line", "reward"),
    [
        ("openrlhf", "Global step {0}: {{'policy_loss': 0.5, 'reward': 0.{0}, 'response_clip_ratio': 0.0}}", 0.1),
        ("slime", "rollout {0}: {{'rollout/raw_reward': 0.{0}, 'rollout/rewards': 0.0}}", 0.1),
        ("skyrl", "INFO - Step {0}: \n{{'reward/avg_raw_reward': '0.{0}000', 'policy/policy_lr': '0.0000'}}", 0.1),
        ("torchtune", "Step {0} | rewards:tensor(0.{0}) successes:0.5 clipfrac:0.0 ", 0.1),
        ("nemo_rl", "===== Step {0}/9 =====\n📊 Training Results:\n  • Loss: 0.1000\n  • Avg Reward: 0.{0}000", 0.1),
        ("ms_swift", "{{'loss': 0.5, 'reward': 0.{0}, 'epoch': 0.{0}, 'global_step/max_steps': '{0}/9'}}", 0.1),
    ],
)
def test_the_lines_of_other_trainers_are_read(framework: str, line: str, reward: float, write: Write) -> None:
    text = "".join(line.format(step) + "\n" for step in range(1, 6))
    run = read_run(write("a.log", text))
    assert run.framework == framework
    assert steps(run) == [1, 2, 3, 4, 5]
    assert rewards(run) == pytest.approx([reward * step for step in range(1, 6)])
    assert run.planned_steps == (9 if framework in ("nemo_rl", "ms_swift") else None)
    if framework == "skyrl":
        assert run.training_steps["learning_rate"].null_count == 5


def test_what_was_lost_is_said(write: Write) -> None:
    rows = rows_of(6)
    text = printed(rows[:3]) + repr(rows[3])[:200] + "OOM\n" + printed(rows[4:])
    text += "step:9 - a/b:0.5\n" + repr(rows[5])[:120]
    run = read_run(write("a.log", text))
    assert len(steps(run)) == 5
    assert "1 row cut apart or mixed with other output (first near line 4): left out" in run.warnings
    assert "the last row is cut off: left out" in run.warnings


def test_bytes_that_are_no_utf8_are_replaced_and_said(write: Write) -> None:
    rows = rows_of(3)
    data = printed(rows).encode().replace(b"accuracy", b"accur\xff\xfecy") + b"\x80 noise\n"
    run = read_run(write("a.log", data))
    assert "3 rows with bytes that are no UTF-8: these are replaced" in run.warnings
    assert run.graders == ("accur\ufffd\ufffdcy",)
    assert rewards(run) == [row["reward"] for row in rows]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_refused(encoding: str, write: Write) -> None:
    path = write("a.log", ("noise " * 20 + "\n" + printed(rows_of(3))).encode(encoding))
    with pytest.raises(InputError, match="the text is UTF-16, expected UTF-8; save it as UTF-8"):
        ConsoleReader().read(path, ReadOptions())


@pytest.mark.parametrize("name", ["a.log", "a.out", "a.txt", "a.err", "A.LOG", "a.log.1", "nohup"])
def test_console_output_is_known_by_a_row_in_it(name: str, write: Write) -> None:
    assert len(steps(read_run(write(name, "chatter\n" * 20_000 + printed(rows_of(3)))))) == 3


@pytest.mark.parametrize("name", ["a.md", "a.py", "a.json", "a.yaml"])
def test_other_files_are_no_console_output(name: str, write: Write) -> None:
    assert not ConsoleReader().detect(write(name, printed(rows_of(3))), b"{")


def test_a_row_is_found_far_behind_the_beginning(write: Write) -> None:
    chatter = b"Step 1: think about it, step by step.\n" * 27_600
    path = write("a.log", b"")
    with open(path, "wb") as file:
        for _ in range(LOOKED_AT // len(chatter) + 3):
            file.write(chatter)
        for _ in range(40):
            file.write(chatter + printed(rows_of(30)).encode() * 30)
    assert ConsoleReader().detect(path, chatter)


def test_a_file_that_vanishes_is_none_of_ours(tmp_path: Path) -> None:
    assert not ConsoleReader().detect(tmp_path / "absent.log", b"")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "(main_task pid=1) {'actor_rollout_ref': {'actor': {'lr': 1.0}}}\nTraceback (most recent call last):\n"
            "ray.exceptions.RayTaskError(AssertionError): ray::main\nAssertionError: no actor\n\n",
            "text without a logged step, whose last error is 'AssertionError: no actor'",
        ),
        ("Could not override 'trainer.x'.\nKey 'x' is not in struct\n", "whose last error is \"?'Could not override"),
        ("GRPOTrainer: starting\nbye\n", "console output of a training run without a logged step"),
        ("hello\nworld\n", "text that begins with 'hello'"),
        ("", "an empty file"),
    ],
)
def test_a_log_without_a_step_is_refused_and_its_last_error_named(text: str, told: str, write: Write) -> None:
    with pytest.raises(NotARunError, match=told) as caught:
        read_run(write("grpo.log", text))
    assert "looked for console output of a trainer" in str(caught.value)


def test_of_a_tree_only_logs_of_training_are_mentioned(write: Write, tmp_path: Path) -> None:
    write("good/a.log", printed(rows_of(3)))
    write("crash.log", "(main_task pid=1) {'actor_rollout_ref': 1}\nKilled\n")
    write("pip.log", "Collecting torch\nERROR: no matching distribution\n")
    write("README.txt", "step by step\n")
    found = find_runs(tmp_path)
    assert [source.path.name for source in found.sources] == ["a.log"]
    assert [(refusal.source.name, refusal.kind) for refusal in found.refused] == [("crash.log", "not_a_run")]


def test_a_copy_of_a_log_that_went_on_is_found(write: Write, tmp_path: Path) -> None:
    write("a/part.log", printed(rows_of(10)))
    write("b/whole.log", printed(rows_of(20)))
    found = find_runs(tmp_path)
    assert [source.path.name for source in found.sources] == ["whole.log"]
    assert [refusal.kind for refusal in found.refused] == ["copy"]


def test_the_run_keeps_its_id_while_the_log_grows(write: Write) -> None:
    path = write("a.log", printed(rows_of(3)))
    before = read_run(path).run_id
    write("a.log", printed(rows_of(9)))
    assert read_run(path).run_id == before
    write("a.log", printed(rows_of(9)) + printed(rows_of(4)))
    assert read_run(f"{path}#1").run_id == before
    assert read_run(f"{path}#2").run_id != before


@pytest.mark.slow
def test_a_long_log_of_generations_is_read_in_bounded_memory(write: Write) -> None:
    path = write("a.log", b"")
    answer = b"<think> Let me see: {'a': [1, 2]} step: 1 and {'reward': 0.5, 'answer': 7} and so on.\n" * 400
    rows = rows_of(1000)
    with open(path, "wb") as file:
        for row in rows:
            file.write(answer + repr(row).encode() + b"\n")
    tracemalloc.start()
    run = read_run(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 32 << 20
    assert rewards(run) == [row["reward"] for row in rows]
    assert peak < 16 << 20
