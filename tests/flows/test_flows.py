"""The shipped flows, run by the installed command on Prefect's temporary server, and without any server."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.installed]

SCRIPT = Path(sys.executable).with_name("rlchecks")
# Port 9 (discard) is closed on any machine of this century.
DEAD = "http://127.0.0.1:9/api"
GATE_TASKS = 8


def start(place: Path, home: Path, *words: str | Path, **environment: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return subprocess.Popen(
        [SCRIPT, *map(str, words)],
        cwd=place,
        env=kept | {"PREFECT_HOME": str(home)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def query(home: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(f"file:{home / 'prefect.db'}?mode=ro", uri=True)) as database:
        return [row[0] for row in database.execute(statement)]


def test_four_gates_at_once_lose_neither_verdict_nor_task(tmp_path: Path, example_run: Path) -> None:
    home = tmp_path / "prefect"
    gate = ("gate", example_run, "--heldout", example_run / "eval", "--json")
    running = [start(tmp_path, home, *gate, "--run-id", f"run-{at}", "--reports", f"reports-{at}") for at in range(4)]
    ended = [(*one.communicate(timeout=300), one.returncode) for one in running]
    assert [code for _, _, code in ended] == [1] * 4, [errors for _, errors, _ in ended]
    assert [errors for _, errors, _ in ended] == [""] * 4
    documents = [json.loads(output) for output, _, _ in ended]
    assert {one["decision"] for one in documents} == {"REJECT"}
    assert {one["orchestrator"] for one in documents} == {"Prefect"}
    assert Counter(query(home, "select state_type from flow_run")) == {"COMPLETED": 4}
    assert Counter(query(home, "select state_type from task_run")) == {"COMPLETED": 4 * GATE_TASKS}
    events = query(home, "select payload from events where event = 'rlchecks.verdict.reject'")
    assert {json.loads(payload)["verdict"] for payload in events} == {one["id"] for one in documents}
    kinds = Counter(key.split("-")[0] for key in query(home, "select key from artifact"))
    assert kinds == {"verdict": 4, "findings": 4, "report": 4}
    assert {name.split("-")[0] for name in query(home, "select name from flow_run")} == {
        "gate " + str(example_run).split("-")[0]
    }


def test_a_dead_server_costs_the_record_and_not_the_verdict(tmp_path: Path, example_run: Path) -> None:
    gate = ("gate", example_run, "--heldout", example_run / "eval", "--run-id", "mine")
    one = start(tmp_path, tmp_path / "prefect", *gate, PREFECT_API_URL=DEAD)
    output, errors = one.communicate(timeout=120)
    assert one.returncode == 3
    assert "Traceback" not in output + errors
    assert "not recorded" in errors
    document = json.loads((tmp_path / "reports" / "mine" / "checkpoint-100" / "verdict.json").read_text())
    assert document["decision"] == "REJECT"
    assert document["orchestrator"].startswith("not recorded")


def test_ingest_and_audit_are_recorded_with_their_shards(tmp_path: Path) -> None:
    home, runs = tmp_path / "prefect", tmp_path / "runs"
    runs.mkdir()
    for at in range(20):
        rows = [str(0.3 + at / 100 + step / 200) for step in range(30)]
        (runs / f"{at}.csv").write_text("\n".join(["reward", *rows]))
    one = start(tmp_path, home, "audit", runs, "--workers", "2", "--json")
    output, errors = one.communicate(timeout=200)
    assert (one.returncode, errors) == (0, "")
    assert len(json.loads(output)["runs"]) == 20
    names = Counter(name.rsplit("-", 1)[0] for name in query(home, "select name from task_run"))
    assert names["ingest-shard"] == names["audit-shard"] >= 2
    assert set(query(home, "select state_type from task_run")) == {"COMPLETED"}


def test_an_input_that_cannot_be_used_is_a_failed_flow_and_one_sentence(tmp_path: Path, example_run: Path) -> None:
    home = tmp_path / "prefect"
    one = start(tmp_path, home, "gate", example_run, "--heldout", "no-such-file.jsonl")
    output, errors = one.communicate(timeout=120)
    assert one.returncode == 3
    assert output == ""
    assert len(errors.strip().splitlines()) == 1
    assert "no-such-file.jsonl" in errors
    assert query(home, "select state_type from flow_run") == ["FAILED"]
