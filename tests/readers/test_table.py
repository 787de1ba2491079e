from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError, NotARunError, UsageError
from rlchecks.readers import ReadOptions, read_run
from rlchecks.readers.table import TableReader, looks_like_a_log
from rlchecks.run import RunLog

Write = Callable[[str, str | bytes], Path]


def split(run: RunLog, name: str) -> list[dict[str, Any]]:
    return list(run.steps.filter(pc.equal(run.steps["split"], name)).to_pylist())


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_csv_with_plain_names_is_read(write: Write) -> None:
    text = "iteration,mean_reward,response_length,truncated,kl_div,note\n0,0.1,100,0.0,0.00,a\n1,0.3,120,0.5,,b\n"
    run = read_run(write("my run.csv", text))
    assert run.framework == "table"
    assert run.name == "my run"
    assert run.run_id.startswith("my-run-")
    assert [(row["step"], row["reward"], row["mean_length"], row["clipped_ratio"]) for row in split(run, "train")] == [
        (0, 0.1, 100.0, 0.0),
        (1, 0.3, 120.0, 0.5),
    ]
    assert run.steps["kl"].to_pylist() == [0.0, None]
    assert run.unmapped == ("note",)
    assert run.warnings == ()


def test_the_same_rows_read_alike_from_every_format(tmp_path: Path) -> None:
    rows = [{"step": step, "reward": step / 7, "kl": None if step == 2 else step / 3} for step in range(1, 4)]
    (tmp_path / "a.jsonl").write_text(lines(*rows))
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.csv").write_text(
        "step,reward,kl\n" + "".join(f"{r['step']},{r['reward']},{'' if r['kl'] is None else r['kl']}\n" for r in rows)
    )
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    tables = [read_run(tmp_path / f"a.{end}", run_id="r").steps for end in ("jsonl", "json", "csv", "parquet")]
    assert all(table.equals(tables[0]) for table in tables)
    assert tables[0]["kl"].null_count == 1


def test_repeated_steps_of_a_csv_keep_the_last_and_are_counted(write: Write) -> None:
    steps = [*range(1, 58), *range(41, 101)]
    text = "step,reward\n" + "".join(f"{step},{0.1 if row < 57 else 0.9}\n" for row, step in enumerate(steps))
    run = read_run(write("resumed.csv", text))
    rows = split(run, "train")
    assert [row["step"] for row in rows] == list(range(1, 101))
    assert [row["reward"] for row in rows] == [0.1] * 40 + [0.9] * 60
    assert run.repeated_steps == 17
    assert run.warnings[0].startswith("the log goes back to an earlier step 1 time")


def test_several_rows_a_step_cannot_be_told_from_a_resume(write: Write) -> None:
    run = read_run(write("a.jsonl", lines(*({"step": n // 4, "reward": n / 100} for n in range(12)))))
    assert [row["reward"] for row in split(run, "train")] == [0.03, 0.07, 0.11]
    assert run.repeated_steps == 9
    assert "9 rows with the same step as another" in run.warnings[0]


def test_sparse_rows_of_a_tracker_become_one_row_a_step(write: Write) -> None:
    rows = [
        {"_step": 0, "train/global_step": 1, "train/reward": 0.1},
        {"_step": 1, "train/global_step": 1, "train/kl": 0.2},
        {"_step": 2, "train/global_step": 1, "eval/reward": 0.3},
        {"_step": 3, "train/global_step": 2, "train/reward": 0.4},
    ]
    run = read_run(write("history.jsonl", lines(*rows)))
    assert [(row["step"], row["reward"], row["kl"]) for row in split(run, "train")] == [(1, 0.1, 0.2), (2, 0.4, None)]
    assert run.validation.select(["step", "score"]).to_pylist() == [{"step": 1, "score": 0.3}]
    assert run.repeated_steps == 0


def test_validation_columns_never_fill_the_training_reward(write: Write) -> None:
    text = "step,train_mean_reward,full_valid_mean_reward\n1,0.1,0.5\n2,0.2,\n3,,0.6\n"
    run = read_run(write("a.csv", text))
    assert [(row["step"], row["reward"]) for row in split(run, "train")] == [(1, 0.1), (2, 0.2)]
    assert [(row["step"], row["score"]) for row in run.validation.to_pylist()] == [(1, 0.5), (3, 0.6)]


def test_numbers_as_text_are_told_in_json_and_not_in_csv(write: Write) -> None:
    run = read_run(write("a.jsonl", lines({"step": "1", "reward": "0.5"}, {"step": "2", "reward": "-inf"})))
    assert split(run, "train")[1]["reward"] == float("-inf")
    assert run.warnings == ("2 numbers logged as text: read as numbers",)
    assert read_run(write("a.csv", "step,reward\n1,0.5\n")).warnings == ()


def test_a_torn_last_line_keeps_the_rows_before(write: Write) -> None:
    run = read_run(write("a.jsonl", lines({"step": 1, "reward": 0.5}) + '{"step": 2, "rew'))
    assert len(run.steps) == 1
    assert run.warnings == ("line 2 was not written to its end: left out",)


def test_trl_rows_in_a_table_are_read_as_trls(write: Write) -> None:
    row = {"step": 1, "epoch": 0.1, "reward": None, "reward_std": 0.1, "frac_reward_zero_std": 0.0, "clip_ratio": 0.2}
    row |= {"completions/mean_length": 9.0, "completions/clipped_ratio": 0.5, "rewards/f/mean": None}
    run = read_run(write("log_history.json", json.dumps([row, {"step": 1, "train_runtime": 9.0, "train_loss": 0.1}])))
    assert run.framework == "trl_grpo"
    (read,) = split(run, "train")
    assert (read["clipped_ratio"], read["policy_clip_fraction"], read["zero_std_fraction"]) == (0.5, 0.2, None)
    assert len(split(run, "summary")) == 1
    assert run.facts["trl_keys"] == "0.18 to 0.19 (inferred)"


def test_a_count_of_cut_answers_is_no_share_of_them(write: Write) -> None:
    run = read_run(write("a.csv", "step,reward,truncated\n1,0.5,0\n2,0.5,7\n"))
    assert run.steps["clipped_ratio"].null_count == 2
    assert run.unmapped == ("truncated",)
    assert run.facts["metrics_unreadable"] == "clipped_ratio"


def test_metrics_in_per_cent_are_recorded_as_unreadable(write: Write) -> None:
    text = "step,reward,clipped_ratio,zero_std_fraction\n1,0.5,97.0,50.0\n2,0.5,98.0,60.0\n"
    run = read_run(write("a.csv", text))
    assert run.facts["metrics_unreadable"] == "clipped_ratio,zero_std_fraction"
    why = "'clipped_ratio' has values outside 0 to 1, so it cannot be clipped_ratio: left unmapped"
    assert run.warnings[0] == f"{why}; if it is in per cent, divide it by 100 in the log"


def test_one_stray_is_told_and_leaves_the_metric(write: Write) -> None:
    rows = "".join(f"{step},0.5,{1.01 if step == 30 else 0.97}\n" for step in range(60))
    run = read_run(write("a.csv", "step,reward,clipped_ratio\n" + rows))
    assert run.steps["clipped_ratio"].null_count == 1
    assert run.warnings == ("'clipped_ratio': 1 value outside 0 to 1, which clipped_ratio cannot be: taken as missing",)
    assert "metrics_unreadable" not in run.facts
    assert run.unmapped == ()


def test_odd_names_are_read_as_the_user_says(write: Write) -> None:
    path = write("a.csv", "t,punkte,laenge\n5,0.5,100\n")
    with pytest.raises(NotARunError, match="found rows with 't', 'punkte', 'laenge'"):
        read_run(path)
    run = read_run(path, columns={"t": "step", "punkte": "reward", "laenge": "mean_length"})
    assert [(row["step"], row["reward"], row["mean_length"]) for row in split(run, "train")] == [(5, 0.5, 100.0)]
    with pytest.raises(UsageError, match="'punkt'"):
        read_run(path, columns={"punkt": "reward"})
    with pytest.raises(UsageError, match="no canonical metric"):
        read_run(path, columns={"punkte": "punkte"})


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"question_id": 1, "checkpoint": "base", "judge": "j", "score": 1.0, "step": 0}], "held-out evaluation"),
        ([{"step": 1, "prompt": "2+2", "completion": "4", "reward": 1.0}], "one row for each answer"),
        ([{"step": 1, "loss": 0.1}], "none with a reward"),
    ],
)
def test_tables_of_other_things_are_no_runs(rows: list[dict[str, Any]], reason: str, write: Write) -> None:
    path = write("a.jsonl", lines(*rows))
    reader = TableReader()
    assert not reader.detect(path, path.read_bytes())
    with pytest.raises(NotARunError, match=reason):
        reader.read(path, ReadOptions())
    assert looks_like_a_log(path, path.read_bytes()) == ("loss" in rows[0])


def test_files_of_other_kinds_are_no_tables(write: Write, tmp_path: Path) -> None:
    reader = TableReader()
    path = write("a.log", "step,reward\n1,0.5\n")
    assert not reader.detect(path, path.read_bytes())
    assert not looks_like_a_log(path, path.read_bytes())
    (tmp_path / "dir.csv").mkdir()
    assert not reader.detect(tmp_path / "dir.csv", b"")
    with pytest.raises(NotARunError, match="no table"):
        reader.read(path, ReadOptions())


@pytest.mark.parametrize("word", ["holdout", "held-out", "dev", "validation_ood", "Test"])
def test_rows_of_a_named_evaluation_set_are_no_training_rows(tmp_path: Path, word: str) -> None:
    rows = [{"step": step, "reward": 0.1, "split": "train"} for step in range(1, 31)]
    rows += [{"step": step, "reward": 0.9, "split": word} for step in range(31, 40)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    train = read_run(log).training_steps
    assert (train.num_rows, train["reward"].to_pylist()[-1]) == (30, 0.1)


def test_a_percentage_of_a_known_framework_is_not_taken_for_a_share(tmp_path: Path) -> None:
    row = {"critic/score/mean": 0.5, "training/global_step": 1, "response_length/clip_ratio": 35.0}
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row | {"training/global_step": step}) + "\n" for step in range(1, 9)))
    run = read_run(log)
    assert run.framework == "verl"
    assert run.facts["metrics_unreadable"] == "clipped_ratio"
    assert run.steps["clipped_ratio"].null_count == run.steps.num_rows


def test_usual_names_in_capitals_and_with_blanks_are_known(write: Write) -> None:
    header = "Global Step,Mean Reward,Response-Length,KL,Val Reward,Clip Ratio,Reward/Style"
    run = read_run(write("a.csv", header + "\n10,0.5,100,0.1,0.3,0.2,1\n20,0.6,110,0.2,0.4,0.2,1\n"))
    rows = run.training_steps
    assert rows["step"].to_pylist() == [10, 20]
    assert [rows[name].to_pylist() for name in ("reward", "mean_length", "kl")] == [[0.5, 0.6], [100, 110], [0.1, 0.2]]
    assert run.validation["score"].to_pylist() == [0.3, 0.4]
    # What is ambiguous in its plain spelling is so in every other one, and no reward function is made of a name.
    assert run.unmapped == ("Clip Ratio", "Reward/Style")
    assert any("'Clip Ratio' is not used" in warning for warning in run.warnings)


def test_of_two_names_that_only_their_spelling_tells_apart_none_is_guessed(write: Write) -> None:
    with pytest.raises(NotARunError):
        read_run(write("a.csv", "step,Mean Reward,mean-reward\n1,0.5,0.1\n"))
    run = read_run(write("b.csv", "step,reward,KL,K L,kl\n1,0.5,0.1,0.2,0.3\n"))
    assert run.training_steps["kl"].to_pylist() == [0.3]
    declared = read_run(write("c.csv", "step,Mean Reward\n1,0.5\n"), columns={"Mean Reward": "reward"})
    assert declared.training_steps["reward"].to_pylist() == [0.5]


def test_answers_under_names_in_capitals_are_no_steps(write: Write) -> None:
    with pytest.raises(NotARunError):
        read_run(write("a.csv", "Prompt,Response,Reward\nq,a,0.5\n"))


@pytest.mark.parametrize(
    "text", ["step;reward\n1;0,53\n2;0,5\n", 'step,reward\n1,"1,234"\n', "step;reward\n1;1.234,5\n"]
)
def test_a_decimal_comma_is_refused_with_the_cell_and_what_to_do(text: str, write: Write) -> None:
    with pytest.raises(InputError, match=r"row 1: 'reward' is '.*', expected a number with a decimal point; write"):
        read_run(write("a.csv", text))


def test_commas_in_a_column_without_a_meaning_do_no_harm(write: Write) -> None:
    run = read_run(write("a.csv", "step;reward;devices\n1;0.5;0,1\n"))
    assert run.training_steps["reward"].to_pylist() == [0.5]
