"""Ingestion: what is found, read once, archived and told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rlchecks.archive import Archive
from rlchecks.errors import InputError, UsageError
from rlchecks.ingest import ingest
from rlchecks.requests import IngestRequest
from rlchecks.runner import LocalRunner


def table(path: Path, level: float = 0.5, rows: int = 20) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["step,reward,mean_length", *(f"{step},{level + step / 100},{100 + step}" for step in range(1, rows + 1))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    def run(*paths: Path, **options: Any) -> dict[str, Any]:
        options = {"archive": str(tmp_path / "archive"), "workers": 1} | options
        return ingest(IngestRequest(tuple(map(str, paths)), **options), LocalRunner())

    return run


def test_a_run_is_archived_with_its_signals_and_told_metric_by_metric(ask: Any, tmp_path: Path) -> None:
    document = ask(table(tmp_path / "log.csv"))
    (run,) = document["runs"]
    assert document["version"] == 1
    assert (run["steps"], run["first_step"], run["last_step"]) == (20, 1, 20)
    assert run["metrics"]["reward"] == pytest.approx({"first": 0.51, "last": 0.7, "mean": 0.605, "count": 20})
    archive = Archive(tmp_path / "archive")
    assert archive.run_ids() == [run["run_id"]]
    assert archive.signals()["reward_gain"][0].as_py() > 0


def test_a_second_ingest_changes_nothing(ask: Any, tmp_path: Path) -> None:
    path = table(tmp_path / "log.csv")
    first = ask(path)
    before = {file: file.read_bytes() for file in (tmp_path / "archive").rglob("*.parquet")}
    assert ask(path) == first
    assert {file: file.read_bytes() for file in (tmp_path / "archive").rglob("*.parquet")} == before


def test_a_folder_is_searched_and_strangers_are_skipped(ask: Any, tmp_path: Path) -> None:
    for name, level in (("a", 0.1), ("b", 0.2), ("c", 0.3)):
        table(tmp_path / "runs" / f"{name}.csv", level)
    (tmp_path / "runs" / "supervised.csv").write_text("step,loss\n1,2.5\n2,2.4\n")
    document = ask(tmp_path / "runs")
    assert len(document["runs"]) == 3
    assert not document["refused"]
    assert [Path(one["source"]).name for one in document["skipped"]] == ["supervised.csv"]


def test_tables_with_names_of_their_own_are_found_by_the_declared_reward(ask: Any, tmp_path: Path) -> None:
    path = table(tmp_path / "runs" / "own.csv")
    path.write_text(path.read_text().replace("reward", "my_score"))
    assert not ask(tmp_path / "runs")["runs"]
    (run,) = ask(tmp_path / "runs", columns={"my_score": "reward"})["runs"]
    assert run["metrics"]["reward"]["count"] == 20


def test_a_file_that_was_named_is_refused_not_skipped(ask: Any, tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("item,price\npen,2\n")
    document = ask(path)
    assert not document["runs"]
    assert document["refused"][0]["source"].endswith("prices.csv")
    assert document["refused"][0]["reason"]


def test_a_broken_log_does_not_stop_the_others(ask: Any, tmp_path: Path, example_run: Path) -> None:
    table(tmp_path / "runs" / "fine.csv")
    shutil.copytree(example_run, tmp_path / "runs" / "broken")
    for path in (tmp_path / "runs" / "broken").rglob("trainer_state.json"):
        path.write_text('{"log_history": [{"step": 1, "reward"')
    document = ask(tmp_path / "runs")
    assert [Path(run["source"]).name for run in document["runs"]] == ["fine.csv"]
    assert "broken" in document["refused"][0]["source"]


def test_a_path_that_does_not_exist_is_named(ask: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        ask(tmp_path / "nowhere")


def test_one_id_is_for_one_run(ask: Any, tmp_path: Path) -> None:
    first, second = table(tmp_path / "a.csv", 0.1), table(tmp_path / "b.csv", 0.2)
    assert ask(first, run_id="mine")["runs"][0]["run_id"] == "mine"
    with pytest.raises(UsageError, match="--run-id"):
        ask(first, second, run_id="mine")


def test_infinite_values_are_told_in_words_that_json_has(ask: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("step,reward\n1,inf\n2,0.5\n3,nan\n")
    document = ask(path)
    assert document["runs"][0]["metrics"]["reward"] == {"first": "Infinity", "last": "NaN", "mean": 0.5, "count": 3}
    json.dumps(document, allow_nan=False)


@pytest.mark.slow
def test_shards_in_processes_give_what_one_process_gives(ask: Any, tmp_path: Path) -> None:
    for at in range(40):
        table(tmp_path / "runs" / f"{at}.csv", at / 100)
    alone = ask(tmp_path / "runs", archive=str(tmp_path / "one"), workers=1)
    together = ask(tmp_path / "runs", archive=str(tmp_path / "two"), workers=2)
    assert alone == together
    assert Archive(tmp_path / "two").signals().num_rows == 40
