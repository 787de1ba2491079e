"""The installed command: exit codes, one sentence for every mistake, and one document on stdout with --json."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

SCRIPT = Path(sys.executable).with_name("rlchecks")
Call = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.installed


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Run the console script in a directory of the test's own."""

    def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPT, *map(str, words)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100", **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A table whose columns have names of its own."""
    path = tmp_path / "own.csv"
    rows = [f"{step},{0.3 + step / 100},{150 + step % 7}" for step in range(1, 41)]
    path.write_text("\n".join(["step,my_score,tokens_out", *rows]) + "\n")
    return path


def refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    """It could not run, said why in one sentence, and showed no traceback."""
    assert done.returncode == 3, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_help_names_every_command(call: Call) -> None:
    done = call("--help")
    assert done.returncode == 0
    for command in ("gate", "audit", "ingest", "diagnose", "signals", "sql", "plan", "init", "serve"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gate"], "Missing argument 'RUN'"),
        (["gate", "run"], "Missing option '--heldout'"),
        (["gate", "run", "--heldout", "x", "--margin", "wide"], "--margin"),
        (["gate", "run", "--heldout", "x", "--profile", "poetry"], "chat, reasoning, hosted"),
        (["gate", "run", "--heldout", "x", "--judge", "a:9..1", "--local"], "must ascend"),
        (["gate", "no-such-run", "--heldout", "x", "--local"], "no-such-run"),
        (["nonsense"], "nonsense"),
        (["ingest", "nowhere", "--local"], "nowhere"),
        (["diagnose", "nowhere"], "nowhere"),
        (["diagnose", ".", "--column", "reward"], "OWN=NAME"),
        (["signals", "nowhere"], "nowhere"),
        (["plan", "--margin", "0"], "between 0 and 1"),
        (["plan", "--margin", "2"], "between 0 and 1"),
        (["gate", "", "--heldout", "x", "--local"], "run is empty"),
        (["gate", "run", "--heldout", "x", "--override", "why", "--local"], "--promote"),
        (["gate", "run", "--heldout", "a", "b", "c"], "repeat the option"),
        (["sql", "select 1", "--archive", "nowhere"], "nowhere"),
        (["gate", "x" * 300, "--heldout", "x", "--local"], "x" * 300),
        (["audit", "--expectations", "nowhere", "--local"], "rlchecks init"),
    ],
)
def test_a_wrong_call_ends_with_three_and_one_sentence(call: Call, words: list[str], sentence: str) -> None:
    refused(call(*words), sentence)


def test_the_worst_status_of_the_runs_is_the_exit_code(call: Call, tmp_path: Path) -> None:
    rise = [0.3 + step / 100 for step in range(40)]
    (tmp_path / "fine.csv").write_text("\n".join(["reward", *map(str, rise)]))
    (tmp_path / "short.csv").write_text("\n".join(["reward", *map(str, rise[:5])]))
    (tmp_path / "sick.csv").write_text("\n".join(["reward,clipped_ratio", *(f"{value},0.9" for value in rise)]))
    assert call("diagnose", "fine.csv").returncode == 0
    assert call("diagnose", "fine.csv", "short.csv").returncode == 2
    assert call("diagnose", "fine.csv", "short.csv", "sick.csv").returncode == 1


def test_a_table_with_columns_of_its_own_is_declared(call: Call, log: Path) -> None:
    done = call("diagnose", log)
    assert done.returncode == 3
    assert "my_score" in done.stdout
    done = call("diagnose", log, "--column", "my_score=reward", "--column", "tokens_out=mean_length", "--json")
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert [finding["code"] for finding in run["findings"]] == ["learning"]
    assert run["signals"]["length_start"] == pytest.approx(153, abs=3)


def test_json_is_the_only_thing_on_stdout(call: Call, log: Path) -> None:
    column = ("--column", "my_score=reward")
    document = json.loads(call("ingest", log, *column, "--local", "--json").stdout)
    run_id = document["runs"][0]["run_id"]
    assert document["runs"][0]["unmapped"] == ["tokens_out"]
    assert json.loads(call("audit", "--local", "--json").stdout)["runs"][0]["run_id"] == run_id
    assert json.loads(call("signals", run_id, "--json").stdout)["reward_end"] == pytest.approx(0.66, abs=0.01)
    refused(call("sql", "drop table runs"), "SELECT")
    rows = json.loads(call("sql", "select run_id, count(*) as n from steps group by 1", "--json").stdout)
    assert rows == [{"run_id": run_id, "n": 40}]


def test_the_gate_leaves_its_report_where_it_says(call: Call, example_run: Path, tmp_path: Path) -> None:
    done = call("gate", example_run, "--heldout", example_run / "eval", "--run-id", "demo", "--local")
    assert done.returncode == 1, done.stderr
    assert "REJECT" in done.stdout
    page = tmp_path / "reports" / "demo" / "checkpoint-100" / "verdict.html"
    assert page.is_file()
    assert "verdict.html" in done.stdout.replace("\n", "")


def test_a_hold_is_two(call: Call, example_run: Path) -> None:
    judge = ("--judge", "lazy_grader_reward", "--local", "--json")
    done = call("gate", example_run, "--heldout", example_run / "eval", *judge)
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["decision"] == "HOLD"


def test_a_ci_server_gets_its_files(call: Call, example_run: Path, tmp_path: Path) -> None:
    summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
    summary.write_text("before\n")
    outputs = ("--junit", junit, "--summary", summary, "--annotations")
    done = call("gate", example_run, "--heldout", example_run / "eval", "--run-id", "demo", "--local", *outputs)
    assert done.returncode == 1, done.stderr
    assert "::error title=REJECT%3A" in done.stdout
    assert summary.read_text().startswith("before\n# REJECT: ")
    case = ElementTree.parse(junit).find("testsuite/testcase")
    assert case is not None
    assert case.find("failure") is not None


def test_a_gate_that_could_not_run_leaves_no_earlier_success(call: Call, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    junit.write_text("<testsuites/>")
    refused(call("gate", tmp_path / "no-run", "--heldout", tmp_path, "--local", "--junit", junit), "no-run")
    assert "no decision" in junit.read_text()
    refused(call("gate", "x", "--heldout", "y", "--summary", tmp_path / "no" / "where.md"), "--summary")


def test_suites_are_copied_and_used(call: Call, example_run: Path, tmp_path: Path) -> None:
    assert call("init", "mine").returncode == 0
    refused(call("init", "mine"), "already holds")
    path = tmp_path / "mine" / "promotion.json"
    document = json.loads(path.read_text())
    document["expectations"][0]["kwargs"]["column"] = "n_question"
    path.write_text(json.dumps(document))
    gate = ("gate", example_run, "--heldout", example_run / "eval", "--expectations", "mine", "--local")
    refused(call(*gate), "n_questions")


def test_a_fault_of_our_own_is_no_verdict(call: Call, example_run: Path, tmp_path: Path) -> None:
    # The reports' place is a file: nothing can be written there, in whatever way that surfaces.
    (tmp_path / "reports").write_text("in the way")
    done = call("gate", example_run, "--heldout", example_run / "eval", "--local")
    refused(done, "cannot be written")


def test_plan_says_how_many_questions(call: Call) -> None:
    done = call("plan", "--margin", "0.02")
    assert done.returncode == 0
    # 7.8489 x .10 / .02^2
    assert "1,963 questions" in done.stdout


def test_an_expected_gain_is_planned_for_too(call: Call) -> None:
    document = json.loads(call("plan", "--gain", "0.05", "--json").stdout)
    # 7.8489 x .2 / .05^2
    assert document["plans"][2] == {"differing_share": 0.2, "questions": 628}


def test_with_json_the_error_is_a_document_too(call: Call) -> None:
    done = call("gate", "nowhere", "--heldout", "x", "--local", "--json")
    assert done.returncode == 3
    assert "nowhere" in json.loads(done.stdout)["error"]


def test_numbers_that_json_lacks_become_words(call: Call, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,reward\n1,inf\n2,0.5\n3,nan\n")
    assert call("ingest", "log.csv", "--local").returncode == 0
    rows = json.loads(call("sql", "select reward from steps order by step", "--json").stdout)
    assert [row["reward"] for row in rows] == ["Infinity", 0.5, "NaN"]


@pytest.mark.parametrize("words", [("plan", "--margin", "0.02"), ("plan", "--margin", "0.02", "--json")])
def test_a_reader_that_goes_away_is_no_decision(words: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([SCRIPT, *words], stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_a_full_disk_behind_stderr_is_no_decision() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, "diagnose", "nowhere"], stdout=subprocess.PIPE, stderr=full, timeout=60)
    assert done.returncode == 3


def test_ctrl_c_is_no_decision(tmp_path: Path, example_run: Path) -> None:
    words = [SCRIPT, "gate", str(example_run), "--heldout", str(example_run / "eval"), "--local"]
    one = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.2)
    one.send_signal(signal.SIGINT)
    _, errors = one.communicate(timeout=60)
    assert one.returncode == 3
    assert errors.splitlines()[-1] == "rlchecks: stopped."


def test_hostile_names_print_inert(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "evil[red]\x1b[31m.csv"
    path.write_text("\n".join(["reward", *(str(0.3 + step / 100) for step in range(40))]))
    for words in (("diagnose", path), ("ingest", path, "--local")):
        done = call(*words)
        assert done.returncode == 0, done.stderr
        assert "\x1b[31m" not in done.stdout
        assert "evil" in done.stdout


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """One file with two runs."""
    path = tmp_path / "runs" / "several.json"
    path.parent.mkdir()
    runs = {
        name: {str(n): {"reward": level + n / 100} for n in range(1, 41)} for name, level in (("a", 0.1), ("b", 0.3))
    }
    path.write_text(json.dumps(runs))
    return path


def test_one_of_several_runs_is_named_with_its_part_in_every_command(
    call: Call, several: Path, example_run: Path
) -> None:
    named = f"{several}#b"
    (run,) = json.loads(call("ingest", named, "--local", "--json").stdout)["runs"]
    assert run["source"] == named
    assert json.loads(call("diagnose", named, "--json").stdout)["runs"][0]["run_id"] == run["run_id"]
    assert json.loads(call("signals", named, "--json").stdout)["run_id"] == run["run_id"]
    assert json.loads(call("audit", named, "--local", "--json").stdout)["runs"][0]["source"] == named
    gated = call("gate", named, "--heldout", example_run / "eval", "--local", "--json")
    assert json.loads(gated.stdout)["run"]["source"] == named
    assert gated.returncode in (1, 2)


def test_a_file_of_several_runs_is_no_run_to_gate(call: Call, several: Path, example_run: Path) -> None:
    done = call("gate", several, "--heldout", example_run / "eval", "--local")
    refused(done, f"several.json: 2 runs ('a', 'b'), expected one; name one of them, such as {several}#a.")
    done = call("signals", several.parent)
    refused(done, f"2 runs ('several.json#a', 'several.json#b'), expected one; name one of them, such as {several}#a.")
    refused(call("signals", f"{several}#c"), "no run 'c' in it; it has 'a', 'b'")
    refused(call("signals", f"{several.parent}#a"), "a folder, so there is no run 'a' in it")
    assert len(json.loads(call("ingest", several, "--local", "--json").stdout)["runs"]) == 2


def test_an_unchanged_folder_says_so_and_ends_alike(call: Call, several: Path) -> None:
    os.utime(several, (0, time.time() - 100))
    for unchanged in (False, True):
        done = call("ingest", several.parent, "--local")
        assert done.returncode == 0
        assert ("2 runs: 2 unchanged" in done.stdout) == unchanged
