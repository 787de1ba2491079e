"""The installed command: exit codes, one sentence for every mistake, and a crash that costs no answer."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from rlchecks import cli
from rlchecks.evaluation.errors import EvaluationError
from tests.evaluation.conftest import Run
from tests.evaluation.endpoint import Request, prompt_of, refused, serving
from tests.evaluation.test_evaluate import right, verdict

pytestmark = pytest.mark.installed

LIMIT_SECONDS = 300.0
"""Only against hanging."""

SCRIPT = str(Path(sys.executable).with_name("rlchecks"))


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT, *arguments], cwd=cwd, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
    )


def killed_once_stuck(given: list[str], cwd: Path, stuck: threading.Event) -> None:
    process = subprocess.Popen(given, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert stuck.wait(LIMIT_SECONDS)
    process.send_signal(signal.SIGKILL)
    process.wait(LIMIT_SECONDS)


def test_killed_while_asking_and_while_judging_it_goes_on_and_asks_nothing_twice(
    questions: Path, tmp_path: Path
) -> None:
    stuck_asking, stuck_judging = threading.Event(), threading.Event()
    first_killed, second_killed = threading.Event(), threading.Event()

    def answer(request: Request, before: int) -> str:
        if len(endpoint.requests) > 3 and not first_killed.is_set():
            stuck_asking.set()
            first_killed.wait(LIMIT_SECONDS)
        return right(request, before)

    def judged(request: Request, before: int) -> str:
        if len(judge.requests) > 2 and not second_killed.is_set():
            stuck_judging.set()
            second_killed.wait(LIMIT_SECONDS)
        return verdict(6)

    with serving(answer) as endpoint, serving(judged) as judge:
        given = [SCRIPT, "evaluate", str(questions), "--model", f"base=m@{endpoint.url}", "--connections", "1"]
        given += ["--judge", f"quality=model:big@{judge.url}", "--out", "out", "--local", "--json"]
        killed_once_stuck(given, tmp_path, stuck_asking)
        first_killed.set()
        (lost,) = endpoint.prompts[3:]
        killed_once_stuck(given, tmp_path, stuck_judging)
        second_killed.set()
        (unread,) = judge.prompts[2:]
        third = subprocess.run(given, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True)
        # Only what had not come back when the process was killed is asked once more.
        assert Counter(endpoint.prompts) == Counter({f"what is {i}+1?": 1 for i in range(6)}) + Counter([lost])
        read = Counter(judge.prompts)
        assert (len(read), read.total(), read[unread]) == (6, 7, 2)
    document = json.loads(third.stdout)
    assert [document["models"][0][name] for name in ("answered", "reused", "calls")] == [6, 6, 0]
    assert [document["judges"][0][name] for name in ("reused", "calls")] == [2, 4]
    assert third.stderr == ""


def test_interrupted_it_ends_with_3_and_keeps_what_was_answered(questions: Path, tmp_path: Path) -> None:
    stuck, stopped = threading.Event(), threading.Event()

    def answer(request: Request, before: int) -> str:
        if len(endpoint.requests) > 2:
            stuck.set()
            stopped.wait(LIMIT_SECONDS)
        return right(request, before)

    with serving(answer) as endpoint:
        given = [SCRIPT, "evaluate", str(questions), "--model", f"base=m@{endpoint.url}", "--judge", "numeric"]
        given += ["--out", "out", "--local", "--connections", "1"]
        process = subprocess.Popen(given, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert stuck.wait(LIMIT_SECONDS)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=LIMIT_SECONDS)
        stopped.set()
    assert (process.returncode, output, errors) == (3, "", "rlchecks: stopped.\n")
    assert len((tmp_path / "out/.rlchecks/answers-base.jsonl").read_text().splitlines()) == 2


def test_a_mistake_is_one_sentence_and_exit_code_3(questions: Path, tmp_path: Path) -> None:
    with serving(lambda request, before: refused(401)) as endpoint:
        model = ("--model", f"base=m@{endpoint.url}", "--judge", "numeric", "--local")
        done = command("evaluate", str(questions), *model, "--out", "o", "--json", cwd=tmp_path)
    assert done.returncode == 3
    assert "refuses a call without a key; name one with --key-env VAR (status 401)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stdout)["error"] in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("q.jsonl --model a=m@http://h/v1 --judge exact", "Give --out DIR"),
        ("q.jsonl --model a=m@http://h/v1 --judge exact --out o --rejudge o", "leave out --out"),
        ("q.jsonl --model a=m@http://h/v1 --out o", "Who shall judge"),
        ("--judge exact --rejudge nowhere --local", "there is no log"),
    ],
)
def test_a_contradiction_is_refused_before_anything_is_asked(
    arguments: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(lambda: cli.app(["evaluate", *arguments.split()], standalone_mode=False)) == 3
    assert sentence in capsys.readouterr().err


def test_without_the_extra_the_sentence_tells_how_to_install_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> object:
        return None if name == "inspect_ai" else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(EvaluationError, match=r"pip install 'rlchecks\[inspect\]'"):
        run(models=("base=m@http://127.0.0.1:1/v1",))


def test_importing_the_command_line_loads_nothing_of_inspect() -> None:
    program = "import rlchecks.cli, rlchecks.flows.evaluate, sys; print({'inspect_ai', 'openai'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_as_a_prefect_flow_and_then_the_gate(tmp_path: Path, example_run: Path) -> None:
    path = tmp_path / "sums.jsonl"
    rows = [{"question_id": f"q{i}", "prompt": f"what is {i}+1?", "target": i + 1} for i in range(110)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def answer(request: Request, before: int) -> str:
        worse = request["model"] == "first" and "3" in prompt_of(request)
        return "no idea" if worse else right(request, before)

    with serving(answer) as endpoint:
        models = ("--model", f"base=first@{endpoint.url}", "--model", f"checkpoint-100=second@{endpoint.url}")
        asked = command("evaluate", str(path), *models, "--judge", "numeric", "--out", "logs", "--json", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    means = [scores["mean"] for scores in json.loads(asked.stdout)["judges"][0]["models"]]
    assert means == [pytest.approx(90 / 110), 1.0]
    gate = command(
        "gate",
        str(example_run),
        "--heldout",
        "logs",
        "--grader",
        "lazy_grader_reward",
        "--local",
        "--json",
        cwd=tmp_path,
    )
    document = json.loads(gate.stdout)
    assert (document["baseline"], document["candidate"]) == ("base", "checkpoint-100")
    assert document["comparison"]["n_questions"] == 110
    assert document["comparison"]["difference"] == pytest.approx(20 / 110)
    assert document["comparison"]["decoding"] == "greedy"
