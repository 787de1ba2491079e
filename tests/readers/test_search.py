from __future__ import annotations

import gzip
import json
import os
import shutil
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rlchecks.readers.looking as looking
import rlchecks.readers.registry as registry
import rlchecks.readers.tree as tree
from rlchecks.archive import Archive
from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import Source, find_runs, read_run
from rlchecks.readers.guarded import Guarded
from rlchecks.readers.search import search
from rlchecks.readers.search_result import Found
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
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (["tree/a", "tree/b"], [("tree/a/metrics.csv", "copy")])
    assert found.refused[0].reason == (
        f"taken for one more log of the run {tmp_path / 'tree' / 'a'}, as is 1 other there, and not read; name it to"
        " read it by itself."
    )


def test_a_stray_checkpoint_hides_no_other_run(write_state: WriteState, write: Write, tmp_path: Path) -> None:
    write_state(rows_of(5), "tree/checkpoint-5")
    write_state(rows_of(5, 0.1), "tree/checkpoint-5/checkpoint-3")
    write_state(rows_of(5, 0.2), "tree/other/run")
    write_state(rows_of(5, 0.3), "tree/other/checkpoint-3")
    write("tree/sweep/lr1/metrics.csv", CSV)
    write("tree/outputs/seed2/metrics.jsonl", '{"step": 1, "reward": 1}\n')
    write("tree/verl/log.jsonl", '{"step": 1, "data": {"critic/rewards/mean": 0.5}}\n')
    write("tree/a.csv", CSV + "3,0.5\n")
    write("tree/logs/b.csv", CSV + "3,0.8\n")
    assert names(find_runs(tmp_path), tmp_path) == (
        [
            "tree",
            "tree/checkpoint-5/checkpoint-3",
            "tree/other",
            "tree/other/run",
            "tree/outputs/seed2/metrics.jsonl",
            "tree/sweep/lr1/metrics.csv",
            "tree/verl/log.jsonl",
        ],
        [("tree/a.csv", "copy")],
    )


def test_a_run_of_another_reader_below_a_run_is_found_or_named(
    write_state: WriteState, write: Write, shared_data: Path, tmp_path: Path
) -> None:
    write("tree/log.jsonl", '{"step": 1, "data": {"critic/rewards/mean": 0.5}}\n')
    write("tree/rollouts/1.jsonl", '{"input": "a", "output": "b", "score": 1.0, "step": 1}\n')
    write_state(rows_of(5), "tree/trl")
    events = shared_data / "trl" / "healthy-s1" / "runs"
    for place in ("runs", "expA", "trl/runs"):
        shutil.copytree(events, tmp_path / "tree" / place)
    sources, refused = names(find_runs(tmp_path), tmp_path)
    assert [one[:9] for one in sources] == ["tree", "tree/expA", "tree/trl"]
    (line,) = find_runs(tmp_path).refused
    assert [(one[:13], kind) for one, kind in refused] == [("tree/runs/Nov", "copy")]
    assert line.reason.startswith(
        f"taken for one more log of the run {tmp_path / 'tree'}, as is 1 other in 2 runs, and"
    )


def test_what_lies_beside_a_stray_checkpoint_has_a_line_of_its_own(
    write_state: WriteState, write: Write, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        write_state(rows_of(5, len(name) / 7), f"tree/{name}")
        write(f"tree/{name}/console.csv", CSV)
    write_state(rows_of(5, 0.4), "tree/z/checkpoint-5")
    write("tree/z/other.csv", CSV)
    write("tree/z/README.md", "# Card")
    refused = find_runs(tmp_path).refused
    assert [str(one.source.relative_to(tmp_path)) for one in refused if "taken for" in one.reason] == [
        "tree/a/console.csv",
        "tree/z/other.csv",
    ]


def test_logs_that_a_run_is_read_with_are_not_named(write: Write, write_state: WriteState, tmp_path: Path) -> None:
    write("verl/log.jsonl", '{"step": 1, "data": {"critic/rewards/mean": 0.5}}\n')
    write("verl/rollouts/1.jsonl", '{"input": "a", "output": "b", "score": 1.0, "step": 1}\n')
    write_state(rows_of(5), "trl")
    write("trl/README.md", "# Card")
    write("trl/tokenizer.json", "{}")
    assert names(find_runs(tmp_path), tmp_path) == (["trl", "verl"], [])


def test_of_a_refused_run_what_is_in_it_is_looked_at(write: Write, tmp_path: Path) -> None:
    write("sft/trainer_state.json", '{"log_history": [{"step": 1, "loss": 0.3}]}')
    write("sft/checkpoint-1/trainer_state.json", '{"log_history": [{"step": 1, "loss": 0.3}]}')
    write("sft/runs/loss.csv", "step,loss\n1,0.5\n")
    write("sft/metrics.csv", CSV)
    write("sft/lr1/b.csv", "step,loss\n1,0.5\n")
    assert names(find_runs(tmp_path), tmp_path) == (
        ["sft/metrics.csv"],
        [("sft", "not_a_run"), ("sft/lr1/b.csv", "not_a_run")],
    )


def test_what_a_run_is_read_with_may_not_be_a_link_out_of_the_tree(
    write: Write, write_state: WriteState, tmp_path: Path
) -> None:
    outside = write("outside/x", "{}")
    for name in (
        "README.md",
        "checkpoint-3/args.json",
        "completions/completions_1.parquet",
        "wandb/run-1/files/requirements.txt",
    ):
        tree = tmp_path / name.partition("/")[0]
        write_state(rows_of(3), f"{tree.name}/run")
        write_state(rows_of(3), f"{tree.name}/run/checkpoint-3")
        link = tree / "run" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(outside)
        found = find_runs(tree)
        assert ("run", "unreadable") in names(found, tree)[1]
        told = f"{link.name!r} is a link out of the tree, which is not followed; put a copy in its place, or name"
        assert any(refusal.reason.startswith(told) for refusal in found.refused)
        state = tree / "run" / "trainer_state.json"
        state.rename(state.with_name("history.json"))
        shutil.rmtree(tree / "run" / "checkpoint-3")
        if name in ("README.md", "wandb/run-1/files/requirements.txt"):
            assert ("run/history.json", "unreadable") in names(find_runs(tree), tree)[1]
        assert find_runs(state.with_name("history.json")).sources


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
    write("photo.png", b"\x89PNG")
    assert find_runs(tmp_path) == ([], [])


def test_logs_without_a_reward_and_output_without_a_step_are_refused_with_the_reason(
    write: Write, tmp_path: Path
) -> None:
    write("sft.jsonl", '{"step": 1, "train_mean_nll": 0.3}\n')
    write("train.log", "{'loss': 0.1, 'reward': 0.5, 'epoch': 0.1}\n")
    write("notes.txt", "the reward was 1")
    write("crash.out", "(TaskRunner pid=7) ValueError: no such model\n")
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (
        ["train.log"],
        [("crash.out", "not_a_run"), ("sft.jsonl", "not_a_run")],
    )
    told = "no training log that is known: found rows with 'step', 'train_mean_nll'; "
    assert found.refused[1].reason.startswith(told)
    assert "last error is 'ValueError: no such model'" in found.refused[0].reason
    for refusal in found.refused:
        assert "looked for" not in refusal.reason
        assert str(tmp_path) not in refusal.reason


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
    assert names(found, tree) == ([], [("a.csv", "not_a_run"), ("run", "unreadable")])
    told = "a link out of the tree, as is 1 other link, and not followed; name what it leads to."
    assert found.refused[0].reason == told
    assert "'trainer_state.json' is a link out of the tree" in found.refused[1].reason


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
    write("/".join(["d"] * tree.MAX_DEPTH) + "/a.csv", CSV)
    write("/".join(["e"] * (tree.MAX_DEPTH + 1)) + "/a.csv", CSV + "3,1\n")
    assert len(find_runs(tmp_path).sources) == 1
    monkeypatch.setattr(tree, "MAX_ENTRIES", 3)
    (refusal,) = find_runs(tmp_path).refused
    assert "more than 3 files and directories: the rest was not searched" in refusal.reason
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


def test_an_empty_file_that_is_called_like_a_log_gets_a_line(write: Write, tmp_path: Path) -> None:
    for name in ("a.csv", "metrics.json", "train.log", "config.json", "notes.txt"):
        write(name, "")
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == ([], [(name, "not_a_run") for name in ("a.csv", "metrics.json", "train.log")])
    assert "an empty file" in found.refused[0].reason


def test_a_compressed_log_gets_a_line_and_other_compressed_files_none(write: Write, tmp_path: Path) -> None:
    write("a.csv.gz", gzip.compress(CSV.encode()))
    write("b.jsonl.gz", gzip.compress(b'{"step": 1, "reward": 0.5}\n'))
    write("sft.jsonl.GZ", gzip.compress(b'{"step": 1, "loss": 0.5}\n'))
    write("questions.jsonl.gz", gzip.compress(b'{"question": "2+2", "answer": "4"}\n'))
    write("model.tar.gz", gzip.compress(b"\0" * 100_000))
    write("torn.csv.gz", b"\x1f\x8bx")
    write("no.csv.gz", CSV)
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (
        [],
        [("a.csv.gz", "not_a_run"), ("b.jsonl.gz", "not_a_run"), ("sft.jsonl.GZ", "not_a_run")],
    )
    assert {refusal.reason for refusal in found.refused} == {"the file is compressed with gzip; decompress it first."}


def test_what_a_compressed_file_becomes_is_bounded(write: Write, tmp_path: Path) -> None:
    bomb = gzip.compress(b"step,reward\n" + b"0" * (200 << 20))
    write("bomb.csv.gz", bomb)
    tracemalloc.start()
    find_runs(tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


def runs_by_name(**runs: list[dict[str, float]]) -> str:
    return json.dumps({name: {str(step): row for step, row in enumerate(rows)} for name, rows in runs.items()})


def test_one_run_of_a_file_that_cannot_be_used_does_not_hide_the_others(write: Write, tmp_path: Path) -> None:
    good, bad = [{"reward": 0.1}, {"reward": 0.2}], [{"entropy": 0.1}, {"entropy": 0.2}]
    path = write("a.json", runs_by_name(b=good, bad=bad, a=[{"reward": 0.3}, {"reward": 0.4}]))
    found = find_runs(tmp_path)
    assert found.sources == [Source(path, "b"), Source(path, "a")]
    assert names(found, tmp_path)[1] == [("a.json#bad", "not_a_run")]


def test_a_file_of_which_no_run_can_be_used_gets_one_line(write: Write, tmp_path: Path) -> None:
    bad = [{"entropy": 0.1}, {"entropy": 0.2}]
    write("a.json", runs_by_name(x=bad, y=bad))
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == ([], [("a.json", "not_a_run")])
    assert found.refused[0].reason.startswith("2 runs in it, none that can be used; the first: ")


def test_copies_of_one_of_several_runs_are_found(write: Write, tmp_path: Path) -> None:
    row = [{"reward": 0.1}, {"reward": 0.2}]
    path = write("a.json", runs_by_name(x=row, y=[{"reward": 0.5}, {"reward": 0.6}], z=[*row, {"reward": 0.4}]))
    found = find_runs(tmp_path)
    assert found.sources == [Source(path, "y"), Source(path, "z")]
    assert names(found, tmp_path)[1] == [("a.json#x", "copy")]
    assert found.refused[0].reason == f"an earlier checkpoint of {path}#z: its 2 steps are the first of 3"


def test_files_that_are_nobodys_are_not_opened(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    read_head = looking.read_head
    monkeypatch.setattr(looking, "read_head", lambda path: opened.append(path.name) or read_head(path))
    for name in ("weights.safetensors", "model.bin", "train.py", "photo.png", "a.csv", "notes.md", "noext", "x.gz"):
        write(name, CSV)
    find_runs(tmp_path)
    assert opened == ["a.csv"]


def test_a_directory_is_listed_once_however_many_readers_there_are(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.csv", "b/c.csv", "b/d/e.md"):
        write(name, CSV)
    listed: list[str] = []
    for module, function in ((os, "scandir"), (os, "listdir")):
        original = getattr(module, function)
        monkeypatch.setattr(
            module, function, lambda path, original=original: listed.append(Path(path).name) or original(path)
        )
    find_runs(tmp_path)
    assert sorted(listed) == sorted([tmp_path.name, "b", "d"])


def test_a_search_tells_how_many_files_it_looked_at(write: Write, tmp_path: Path) -> None:
    for name in ("a.csv", "b/c.csv", "b/d/e.md", "b/f.png"):
        write(name, CSV)
    counts: list[int] = []
    search(tmp_path, seen=counts.append)
    assert counts == [1, 3, 4]


class Claims:
    """A reader that claims a directory with a file ``mine``, and may not be asked about any other."""

    name = "claims"
    looks_for = "a directory with mine"
    suffixes: frozenset[str] = frozenset()

    def holds(self, names: Any) -> bool:
        return "mine" in names

    def detect(self, path: Path, head: bytes) -> bool:
        assert (path / "mine").exists()
        raise ValueError("a fault")

    def read(self, path: Path, options: Any) -> Any:
        raise AssertionError


def test_a_faulty_reader_costs_the_places_that_it_claims(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "readers", lambda: (Guarded(Claims()), *registry.readers()))
    write("a/mine", "x")
    write("a/b/c.csv", CSV)
    found = find_runs(tmp_path)
    assert names(found, tmp_path) == (["a/b/c.csv"], [("a", "unreadable")])
    assert "the reader 'claims' failed in detect" in found.refused[0].reason


def test_a_directory_that_was_refused_does_not_hide_what_is_below(write: Write, tmp_path: Path) -> None:
    write("sft/trainer_state.json", '{"log_history": [{"step": 1, "loss": 0.3}]}')
    write("sft/rl/trainer_state.json", '{"log_history": [{"step": 1, "reward": 0.3}]}')
    assert names(find_runs(tmp_path), tmp_path) == (["sft/rl"], [("sft", "not_a_run")])
