"""Damage of every kind to the files that frameworks write: rows with a warning, or one clear error."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rlchecks.errors import InputError
from rlchecks.readers import read_run
from rlchecks.run import RunLog
from tests.readers import test_columnar, test_openai_rft, test_prime_rl, test_swift, test_timeline, test_tinker
from tests.readers.verl_files import metrics, write_log, write_rollouts


def swift(directory: Path) -> Path:
    test_swift.log(directory, [test_swift.row(step) for step in range(1, 5)])
    test_swift.answers(directory, [test_swift.table(step) for step in range(1, 5)])
    return directory / "logging.jsonl"


def swift_answers(directory: Path) -> Path:
    return swift(directory).with_name("completions.jsonl")


def prime_rl(directory: Path) -> Path:
    rows = [
        row
        for step in range(4)
        for row in [*test_prime_rl.orchestrator(step, step, 0.5), *test_prime_rl.trainer(step, step)]
    ]
    test_prime_rl.write(directory / "metrics.jsonl", rows)
    return directory / "metrics.jsonl"


def tinker(directory: Path) -> Path:
    return (
        test_tinker.write(directory, [test_tinker.row(step) for step in range(4)], test_tinker.CONFIG) / "metrics.jsonl"
    )


def verl_log(directory: Path) -> Path:
    path = write_log(directory / "run.jsonl", [(step, metrics(step, 0.1 * step)) for step in range(1, 5)])
    write_rollouts(directory / "rollouts", {step: {"a": [0] * (10 - step) + [1] * step} for step in range(1, 5)})
    return path


def verl_dump(directory: Path) -> Path:
    return write_rollouts(directory, {step: {"a": [0, 1], "b": [1, 1]} for step in range(1, 5)}) / "1.jsonl"


def openai_lines(directory: Path) -> Path:
    path = directory / "events.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in test_openai_rft.EVENTS))
    return path


def openai_listing(directory: Path) -> Path:
    path = directory / "events.json"
    path.write_text(test_openai_rft.page(test_openai_rft.EVENTS))
    return path


def timeline(directory: Path) -> Path:
    path = directory / "timeline.csv"
    path.write_text(test_timeline.delimited(test_timeline.LONG))
    return path


def columnar(directory: Path) -> Path:
    path = directory / "log.json"
    path.write_text(json.dumps({"a": test_columnar.COLUMNS, "beta": 0.1}))
    return path


Make = Callable[[Path], Path]
FILES: tuple[Make, ...] = (
    *(swift, swift_answers, prime_rl, tinker, verl_log, verl_dump),
    *(openai_lines, openai_listing, timeline, columnar),
)
# What is read through the directory; the others are read as a file.
FOLDERS = {swift, swift_answers, prime_rl, tinker, verl_log, verl_dump}


def outcome(path: Path) -> RunLog | InputError:
    """Read; every other exception, and every warning of Python's, fails the test."""
    run: RunLog | InputError
    try:
        run = read_run(path)
    except InputError as error:
        run = error
    if isinstance(run, InputError):
        assert "\n" not in str(run)
        return run
    for table in (run.steps, run.completions, run.validation):
        table.validate(full=True)
    return run


@pytest.mark.parametrize("make", FILES)
def test_the_samples_are_sound(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path)
    run = outcome(tmp_path if make in FOLDERS else path)
    assert isinstance(run, RunLog)
    assert run.steps.num_rows >= 3


@pytest.mark.parametrize("make", FILES)
def test_truncation_anywhere(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path)
    data = path.read_bytes()
    whole = outcome(tmp_path if make in FOLDERS else path)
    assert isinstance(whole, RunLog)
    for length in range(0, len(data), max(1, len(data) // 40)):
        path.write_bytes(data[:length])
        run = outcome(tmp_path if make in FOLDERS else path)
        assert isinstance(run, InputError) or run.steps.num_rows <= whole.steps.num_rows


@pytest.mark.parametrize("make", FILES)
def test_bit_flips(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path)
    data = path.read_bytes()
    chosen = random.Random(1)
    for _ in range(40):
        damaged = bytearray(data)
        damaged[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        path.write_bytes(damaged)
        outcome(tmp_path if make in FOLDERS else path)


@pytest.mark.parametrize("make", FILES)
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.decode().encode("utf-16"),
        lambda data: data.decode().encode("utf-16-be"),
        lambda data: data.replace(b"step", b"st\xe9p"),
        lambda data: data + b"[" * 200_000,
        lambda data: b"[" * 200_000 + data,
        lambda data: data.replace(b"0.1", b"1" + b"0" * 5000),
        lambda data: data.replace(b"0.1", b"1e999"),
        lambda data: data.replace(b"1", b"-1"),
        lambda data: data.replace(b'"step": ', b'"step": 9, "step": '),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\n\n"),
        lambda data: data.replace(b'"', b"'"),
        lambda data: data + data,
        lambda data: b"\0" * 500 + data,
        lambda data: data[:200] + b"\0" * 500 + data[200:],
        lambda data: b"",
    ],
)
def test_other_damage(tmp_path: Path, make: Make, change: Callable[[bytes], bytes]) -> None:
    path = make(tmp_path)
    path.write_bytes(change(path.read_bytes()))
    outcome(tmp_path if make in FOLDERS else path)


@pytest.mark.parametrize("make", FILES)
def test_control_characters_in_keys_and_texts_stay_harmless(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path)
    text = path.read_text().replace("reward", "re\\u001b[31mward\\ud800")
    path.write_text(text)
    run = outcome(tmp_path if make in FOLDERS else path)
    said = str(run) if isinstance(run, InputError) else " ".join(run.warnings)
    assert said.isprintable()


def test_infinite_scores_are_kept(tmp_path: Path) -> None:
    run = read_run(write_rollouts(tmp_path / "run", {1: {"a": [math.inf, 0.0]}, 2: {"a": [1.0, -math.inf]}}))
    assert run.training_steps["reward"].to_pylist() == [math.inf, -math.inf]
