from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rlchecks.readers.search as search
from rlchecks.archive import Archive
from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import Source, find_runs, read_run
from rlchecks.readers.search import Found
from rlchecks.readers.table import TableReader

Write = Callable[[str, str | bytes], Path]
WriteState = Callable[..., Path]
CSV = "step,reward\n1,0.5\n2,0.6\n"


def rows_of(count: int, seed: float = 0.0) -> list[dict[str, Any]]:
    return [{"step": step, "reward": seed + step / 1000, "kl": float("nan")} for step in range(1, count + 1)]


def names(found: Found, tmp_path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    sources = [str(source.path.relative_to(tmp_path)) for source in found.sources]
    return sources, [(str(refusal.source.relative_to(tmp_path)), refusal.kind) for refusal in found.refused]


def test_an_output_directory_is_one_run_whatever_it_holds(
    write_state: WriteState, write: Write, tmp_path: Path
) -> None:
    for where, count in [("tree/a", 60), ("tree/a/checkpoint-20", 20), ("tree/a/checkpoint-40", 40)]:
        write_state(rows_of(count), where)
    write("tree/a/metrics.csv", CSV)
    write("tree/a/wandb/history.jsonl", '{"step": 1, "reward": 1}\n')
    write("tree/a/console.log", "{'reward': 1}")
    write("tree/README.md", "reward: 1")
    write_state(rows_of(20, 0.1), "tree/b/checkpoint-20")
    assert names(find_runs(tmp_path), tmp_path) == (["tree/a", "tree/b"], [])


def test_output_directories_below_an_output_directory_are_runs(write_state: WriteState, tmp_path: Path) -> None:
    write_state(rows_of(5), "sweep")
    write_state(rows_of(5, 0.1), "sweep/lr1")
    write_state(rows_of(5, 0.2), "sweep/deep/lr2")
    assert names(find_runs(tmp_path), tmp_path)[0] == ["sweep", "sweep/deep/lr2", "sweep/lr1"]


def test_a_checkpoint_named_by_the_user_is_a_source(write_state: WriteState) -> None:
    checkpoint = write_state(rows_of(5), "run/checkpoint-5").parent
    assert find_runs(checkpoint).sources == [Source(checkpoint)]


@pytest.fixture
def archived(tmp_path: Path) -> Path:
    """A tree with a log, and an archive of it in which every table has rows."""
    log = tmp_path / "tree" / "a.csv"
    log.parent.mkdir()
    log.write_text(CSV)
    archive = Archive(log.parent / "archive")
    run = read_run(log)
    columns = {"run_id": [run.run_id], "step": [1]}
    answers = {"completion": ["4"], "prompt": ["2+2"], "split": ["train"]}
    tables = {"completions": columns | answers, "validation": columns | {"score": [0.5]}}
    archive.write_run(replace(run, **{name: pa.table(table) for name, table in tables.items()}))
    archive.write_signals(run.run_id, pa.table({"run_id": [run.run_id], "reward": [0.1], "step": [1]}))
    archive.write_evaluations(run.run_id, pa.table(columns | {"score": [1.0], "source_sha256": ["x"]}))
    return log.parent


def test_tables_of_an_archive_are_no_logs_and_not_mentioned(archived: Path, tmp_path: Path) -> None:
    files = list((archived / "archive").rglob("*.parquet"))
    assert {file.parent.name for file in files} == {
        "runs", "steps", "completions", "validation", "signals", "evaluations",
    }  # fmt: skip
    for columns in (None, {"score": "reward"}):
        assert names(find_runs(archived, columns), tmp_path) == (["tree/a.csv"], [])
    for file in files:
        assert not TableReader().detect(file, file.read_bytes())


def test_a_table_of_an_archive_that_is_named_is_told_to_be_one(archived: Path) -> None:
    (file,) = (archived / "archive" / "steps").iterdir()
    with pytest.raises(NotARunError, match="a table of an rlchecks archive"):
        read_run(file)
    (refusal,) = find_runs(file).refused
    assert "a table of an rlchecks archive" in refusal.reason


def test_logs_in_utf16_and_compressed_ones_are_not_passed_over(write: Write, tmp_path: Path) -> None:
    write("tree/a.csv", CSV.encode("utf-16"))
    write("tree/b.jsonl", gzip.compress(b'{"step": 1, "reward": 0.5}\n'))
    write("tree/notes.csv", "x,y\n1,2\n".encode("utf-16"))
    assert names(find_runs(tmp_path), tmp_path) == (["tree/a.csv"], [("tree/b.jsonl", "not_a_run")])
    with pytest.raises(InputError, match="save it as UTF-8"):
        read_run(tmp_path / "tree" / "a.csv")


def test_files_of_known_columns_are_runs(write: Write, tmp_path: Path) -> None:
    for name in ("x/a.csv", "x/b.CSV"):
        write(name, CSV.replace("0.5", str(len(name))) + f"3,{name == 'x/a.csv':d}\n")
    write("y/c.jsonl", '{"step": 1, "reward": 0.3}\n')
    assert names(find_runs(tmp_path), tmp_path) == (["x/a.csv", "x/b.CSV", "y/c.jsonl"], [])


def test_held_out_rows_and_other_files_are_not_mentioned(write: Write, tmp_path: Path) -> None:
    row = {"question_id": "q", "checkpoint": "base", "judge": "j", "score": 1.0, "step": 0, "epoch": 0}
    write("eval/base.jsonl", json.dumps(row) + "\n")
    write("config.json", '{"reward": 1, "step": 2}')
    write("questions.csv", "question,answer\n1,2\n")
    write("notes.txt", "the reward was 1")
    write("empty.csv", "")
    write("photo.png", b"\x89PNG")
    assert find_runs(tmp_path) == ([], [])


def test_logs_without_reward_and_console_output_are_refused_with_the_reason(write: Write, tmp_path: Path) -> None:
    write("sft.jsonl", '{"step": 1, "train_mean_nll": 0.3}\n')
    write("train.log", "{'loss': 0.1, 'reward': 0.5}")
    write("verl.out", "step:1 - critic/score/mean:0.5")
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (
        [],
        [("sft.jsonl", "not_a_run"), ("train.log", "not_a_run"), ("verl.out", "not_a_run")],
    )
    assert "found rows with 'step', 'train_mean_nll'; looked for a TRL output directory" in found.refused[0].reason
    assert "found console output of a training run" in found.refused[1].reason
    assert str(tmp_path) not in found.refused[0].reason


def test_states_of_other_trainers_and_damaged_ones_are_refused(write: Write, tmp_path: Path) -> None:
    write("sft/trainer_state.json", '{"log_history": [{"step": 1, "loss": 0.3}]}')
    write("torn/trainer_state.json", '{"log_history": [{"step": 1, "lo')
    write("table/a.parquet", b"PAR1 torn")
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (
        [],
        [("sft", "not_a_run"), ("table/a.parquet", "unreadable"), ("torn", "unreadable")],
    )
    assert "none with a reward" in found.refused[0].reason


def test_a_run_with_a_damaged_state_at_the_top_and_a_sound_checkpoint_is_a_source(
    write_state: WriteState, write: Write, tmp_path: Path
) -> None:
    write_state(rows_of(20), "run/checkpoint-20")
    write("run/trainer_state.json", '{"log_hist')
    assert names(find_runs(tmp_path), tmp_path) == (["run"], [])


def test_copies_and_earlier_states_of_a_run_are_no_runs_of_their_own(write_state: WriteState, tmp_path: Path) -> None:
    write_state(rows_of(30), "a/ckpt-300", max_steps=300)
    write_state(rows_of(50), "b/final", max_steps=500)
    shutil.copytree(tmp_path / "b" / "final", tmp_path / "b" / "final" / "backup" / "copy")
    write_state(rows_of(50, 0.1), "c/other")
    longer = rows_of(60)
    longer[10]["reward"] = 9.0
    write_state(longer, "d/same-beginning")
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (
        ["b/final", "c/other", "d/same-beginning"],
        [("a/ckpt-300", "copy"), ("b/final/backup/copy", "copy")],
    )
    original = tmp_path / "b" / "final"
    assert found.refused[0].reason == f"an earlier checkpoint of {original}: its 30 steps are the first of 50"
    assert found.refused[1].reason == f"a copy of {original}"


def test_copies_of_tables_are_found_too(write: Write, tmp_path: Path) -> None:
    write("a.csv", CSV)
    write("b.csv", CSV + "3,0.7\n")
    write("c.csv", CSV.replace("0.6", "0.9"))
    assert names(find_runs(tmp_path), tmp_path) == (["b.csv", "c.csv"], [("a.csv", "copy")])


def test_a_file_is_its_own_source(write: Write, tmp_path: Path) -> None:
    path = write("a.csv", CSV)
    assert find_runs(str(path)).sources == [Source(path)]
    found = find_runs(write("notes.md", "hello"))
    assert (found.sources, [refusal.kind for refusal in found.refused]) == ([], ["not_a_run"])
    assert "found text that begins with 'hello'" in found.refused[0].reason


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or directory"):
        find_runs(tmp_path / "absent")


def test_hidden_directories_are_passed_over(write: Write, tmp_path: Path) -> None:
    write(".cache/a.csv", CSV)
    assert find_runs(tmp_path) == ([], [])
    assert find_runs(tmp_path / ".cache").sources == [Source(tmp_path / ".cache" / "a.csv")]


def test_links_out_of_the_tree_are_not_followed(write: Write, write_state: WriteState, tmp_path: Path) -> None:
    outside = write("outside/a.csv", CSV)
    write_state(rows_of(3), "outside/run")
    tree = tmp_path / "tree"
    (tree / "run").mkdir(parents=True)
    (tree / "a.csv").symlink_to(outside)
    (tree / "dir").symlink_to(tmp_path / "outside")
    (tree / "loop").symlink_to(tree)
    (tree / "dangling.csv").symlink_to(tmp_path / "absent")
    (tree / "run" / "trainer_state.json").symlink_to(tmp_path / "outside" / "run" / "trainer_state.json")
    found = find_runs(tree)
    assert names(found, tree) == ([], [("run", "unreadable")])
    assert "'trainer_state.json' is a link out of the tree" in found.refused[0].reason


def test_links_to_files_inside_the_tree_are_followed(write: Write, write_state: WriteState, tmp_path: Path) -> None:
    blob = write_state(rows_of(3), "blobs").rename(tmp_path / "blobs" / "0f3a")
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "snapshots" / "trainer_state.json").symlink_to(blob)
    assert names(find_runs(tmp_path), tmp_path) == (["snapshots"], [])


def test_a_tree_that_is_reached_through_a_link_is_searched(write: Write, tmp_path: Path) -> None:
    write("real/a.csv", CSV)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert find_runs(tmp_path / "link").sources == [Source(tmp_path / "link" / "a.csv")]


def test_depth_and_number_of_entries_are_bounded(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("/".join(["d"] * search.MAX_DEPTH) + "/a.csv", CSV)
    write("/".join(["e"] * (search.MAX_DEPTH + 1)) + "/a.csv", CSV + "3,1\n")
    assert len(find_runs(tmp_path).sources) == 1
    monkeypatch.setattr(search, "MAX_ENTRIES", 3)
    (refusal,) = find_runs(tmp_path).refused
    assert "more than 3 files and directories: the rest of the tree was not searched" in refusal.reason
    assert refusal.kind == "unreadable"


def test_a_directory_that_cannot_be_listed_is_refused(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a/a.csv", CSV)
    write("b/b.csv", CSV)
    scandir = os.scandir

    def denied(path: Any) -> Any:
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    monkeypatch.setattr(os, "listdir", lambda path: [entry.name for entry in denied(path)])
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (["b/b.csv"], [("a", "unreadable")])
    assert "Permission denied" in found.refused[0].reason
