"""Real processes that write an archive at once or are killed while they write; also builds the runs they write.

Run as a script, so that the processes are forked from one that has done nothing but import.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from rlchecks.archive import Archive
from rlchecks.errors import ArchiveError
from rlchecks.run import InputFile, RunLog
from rlchecks.schema import COMPLETIONS, EVALUATIONS, STEPS, VALIDATION

PROCESSES = 8
OWN_RUNS = 3
VERSIONS = 12


def table(schema: pa.Schema, rows: int, columns: Mapping[str, Any]) -> pa.Table:
    """Build a table with nulls in every column that is not given; a scalar is repeated."""
    arrays = []
    for field in schema:
        values = columns.get(field.name)
        values = values if isinstance(values, (list, range)) else [values] * rows
        arrays.append(pa.array(values, field.type, from_pandas=False))
    return pa.Table.from_arrays(arrays, schema=schema)


def make_run(run_id: str = "run", rows: int = 4, *, first_reward: float = 0.25, **facts: Any) -> RunLog:
    """Build a run whose tables all have the same number of rows, which is also its planned number of steps."""
    reward = [first_reward + 0.01 * step for step in range(rows)]
    extra = [[("reward/exact", value), ("tools/calls", 1.0)] for value in reward]
    steps = {"split": "train", "step": range(1, rows + 1), "reward": reward, "clipped_ratio": 0.5, "extra": extra}
    answers = {"split": "train", "step": range(1, rows + 1), "prompt": "2+2?", "rewards": [[("exact", 1.0)]] * rows}
    checks = {"step": range(rows), "question_id": "q1", "score": 0.75}
    defaults: dict[str, Any] = {
        "name": "a run",
        "source": "logs/run",
        "framework": "trl_grpo",
        "planned_steps": rows,
        "graders": ("exact",),
        "facts": {"beta": "0.04", "reward_std_semantics": "batch"},
        "unmapped": ("tools/calls",),
        "warnings": ("one row repeats step 3",),
        "steps": table(STEPS, rows, {"run_id": run_id} | steps),
        "completions": table(COMPLETIONS, rows, {"run_id": run_id} | answers),
        "validation": table(VALIDATION, rows, {"run_id": run_id} | checks),
    }
    content = defaults | facts
    # Another log has other bytes.
    read = hashlib.sha256(str([content["framework"], content["steps"].to_pylist()]).encode()).hexdigest()
    inputs = (InputFile("logs/run/trainer_state.json", read, 1234),)
    return RunLog(run_id=run_id, **{"inputs": inputs, **content})


def evaluations(run_id: str, source: str, rows: int = 3) -> pa.Table:
    questions = [f"{source}-{question}" for question in range(rows)]
    columns = {"question_id": questions, "checkpoint": "c1", "judge": "j", "score": 1.0, "source_sha256": source}
    return table(EVALUATIONS, rows, {"run_id": run_id} | columns)


def verdict(run_id: str, note: str, **fields: Any) -> dict[str, Any]:
    """Build a verdict whose id follows from its document, and that from the note."""
    document = json.dumps({"note": note, "decision": "HOLD", "candidate": "c1", "run": {"id": run_id}})
    sha256 = hashlib.sha256(document.encode()).hexdigest()
    row = {"run_id": run_id, "id": sha256[:16], "decision": "HOLD", "candidate": "c1", "family": "exact"}
    return {**row, "document": document, "document_sha256": sha256, **fields}


def write_until_killed(archive: Archive, run_id: str) -> None:
    """Write ever longer versions of a run, with one more source of held-out rows each."""
    rows = len(archive.read_run(run_id).steps) if archive.has(run_id) else 0
    while True:
        rows += 1
        archive.write_run(make_run(run_id, rows))
        archive.write_evaluations(run_id, evaluations(run_id, f"source-{rows:06d}"))


def write_among_others(archive: Archive, index: int) -> None:
    """Write runs of one's own, and versions, held-out rows and a verdict of a run that all processes write."""
    for number in range(OWN_RUNS):
        archive.write_run(make_run(f"own-{index}-{number}", 5))
    for version in range(1, VERSIONS + 1):
        try:
            archive.write_run(make_run("shared", version))
        except ArchiveError as error:
            if "older copy" not in str(error):
                raise
        if version == VERSIONS // 2:
            archive.write_evaluations("shared", evaluations("shared", f"source-{index}"))
            archive.write_verdict(verdict("shared", f"v{index}"))


def fork(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return child


def race(archive: Archive) -> None:
    """Let all processes begin at once: when the pipe that they wait on is closed."""
    waiting, starting = os.pipe()

    def racer(index: int) -> Callable[[], None]:
        def work() -> None:
            os.close(starting)
            os.read(waiting, 1)
            write_among_others(archive, index)

        return work

    children = [fork(racer(index)) for index in range(PROCESSES)]
    os.close(starting)
    codes = [os.waitpid(child, 0)[1] for child in children]
    if any(codes):
        sys.exit(1)


def kill_after(archive: Archive, seconds: float) -> None:
    """Kill a writing process so long after it has begun, and tell by which signal it ended."""
    started, starting = os.pipe()

    def work() -> None:
        os.write(starting, b"!")
        write_until_killed(archive, "victim")

    child = fork(work)
    os.read(started, 1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
    os.close(started)
    os.close(starting)


def main() -> None:
    archive = Archive(sys.argv[2])
    # Arrow imports pandas when it first sees a list; the forked processes should spend their time writing.
    make_run()
    if sys.argv[1] == "race":
        race(archive)
        return
    for line in sys.stdin:
        kill_after(archive, float(line))


if __name__ == "__main__":
    main()
