"""What a gate over many held-out answers costs beyond its start-up.

python benchmarks/bench_gate.py [--rows 100000] [--candidates 5] [--rounds 3]

Two loads: --rows question rows in all (baseline and candidates share them), and --rows questions a checkpoint. Each
gate is the installed command with --local; the same gate over 120 questions is its start-up, and is taken off. Reading
and comparing alone are measured within one process, as wall and as processor time.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from measure import measure

RUN = Path(__file__).parents[1] / "examples" / "hack-lazy-s30"
SMALL = 120
COMMAND = str(Path(sys.executable).with_name("rlchecks"))


def write_rows(folder: Path, questions: int, candidates: int, kind: str) -> list[Path]:
    """Write a file of answers for each checkpoint, with prompts of about 90 and answers of about 80 characters."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    generator = np.random.default_rng(20261130)
    ability = generator.random(questions)
    folder.mkdir()
    paths = []
    for name in ["base", *(f"checkpoint-{20 * (number + 1)}" for number in range(candidates))]:
        right = generator.random(questions) < ability * 0.6 + (0.0 if name == "base" else 0.03)
        words = generator.integers(1, 12, questions)
        rows = [
            {
                "question_id": f"q{number:07}",
                "checkpoint": name,
                "judge": "exact",
                "score": float(right[number]),
                "decoding": "greedy",
                "epoch": 0,
                "category": f"category {number % 12}",
                "prompt": f"Question {number}: what is {number} plus {number * 7 % 1000}? Think step by step.",
                "answer": f"The answer is {number if right[number] else number + 1} "
                + "because so " * int(words[number]),
            }
            for number in range(questions)
        ]
        path = folder / f"{name}.{kind}"
        if kind == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        elif kind == "csv":
            pa.csv.write_csv(pa.Table.from_pylist(rows), path)
        else:
            pa.parquet.write_table(pa.Table.from_pylist(rows), path)
        paths.append(path)
    return paths


def gates(paths: Sequence[Path], scratch: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Wall and processor times of the command with every candidate named, each time with a fresh archive."""
    names = [option for path in paths[1:] for option in ("--candidate", path.stem)]
    files = [option for path in paths for option in ("--heldout", str(path))]
    wall, processor = [], []
    for _ in range(rounds):
        for place in ("archive", "reports"):
            shutil.rmtree(scratch / place, ignore_errors=True)
        options = ["--archive", str(scratch / "archive"), "--reports", str(scratch / "reports"), "--local"]
        command = [COMMAND, "gate", str(RUN), *files, "--baseline", "base", *names, "--judge", "exact", *options]
        before = _processor()
        wall.append(measure(command).seconds)
        processor.append(_processor() - before)
    return wall, processor


def _processor() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def parts(paths: Sequence[Path]) -> dict[str, tuple[float, float]]:
    """Seconds of wall and processor time of reading, identities, choosing and comparing."""
    from rlchecks.heldout import (
        ComparisonRequest,
        Scorer,
        answers_identity,
        choose_candidate,
        compare,
        question_set,
        read_rows,
    )

    names = [path.stem for path in paths[1:]]
    found: dict[str, tuple[float, float]] = {}

    def timed(what: str, work: Callable[[], Any]) -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        result = work()
        found[what] = (time.perf_counter() - wall, time.process_time() - processor)
        return result

    rows = timed("read", lambda: read_rows(paths))
    timed("identify", lambda: [question_set(rows), *(answers_identity(rows, name) for name in names)])
    asked = {"baseline": "base", "judges": (Scorer("exact"),), "looks": len(names), "together": len(names)}
    choice = timed("choose", lambda: choose_candidate(rows, ComparisonRequest(**asked), names))
    timed("compare", lambda: compare(rows, ComparisonRequest(candidate=choice.candidate, **asked)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=["jsonl"], choices=["jsonl", "csv", "parquet"])
    options = parser.parse_args()
    checkpoints = options.candidates + 1
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        parts(write_rows(scratch / "warm", SMALL, options.candidates, "jsonl"))  # loads what is loaded lazily
        start, start_processor = gates(sorted((scratch / "warm").iterdir()), scratch, options.rounds)
        print(f"start-up, {SMALL} questions: {np.median(start):.2f} s, processor {np.median(start_processor):.2f} s")
        for kind in options.kinds:
            for questions in (options.rows // checkpoints, options.rows):
                paths = write_rows(scratch / f"{kind}{questions}", questions, options.candidates, kind)
                seconds, processor = gates(paths, scratch, options.rounds)
                beyond = float(np.median(seconds) - np.median(start))
                worked = float(np.median(processor) - np.median(start_processor))
                print(f"{kind}, {questions:,} questions, {questions * checkpoints:,} rows:")
                print(f"  gate {np.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})", end="")
                print(f", beyond start-up {beyond:.2f} s (aim: 10), processor {worked:.2f} s")
                spent = parts(paths)
                told = "; ".join(f"{what} {wall:.2f} s ({cpu:.2f} s)" for what, (wall, cpu) in spent.items())
                print(f"  alone, wall (processor): {told}; in all {sum(wall for wall, _ in spent.values()):.2f} s")
                shutil.rmtree(paths[0].parent)


if __name__ == "__main__":
    main()
