"""Reading large logs: a trainer_state.json against json.load alone, and the memory that long logs take.

    python benchmarks/bench_reading.py                    a state of 100,000 rows, a JSON Lines log of 0.25 GB, a CSV
    python benchmarks/bench_reading.py --gb 2             a log of 2 GB instead

Each reading is a process of its own, and two that are compared take turns. The seconds are those of the reading,
without the start of Python and its imports; the memory is the largest resident set of the whole process (Linux).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

KEYS = (
    *("loss", "grad_norm", "learning_rate", "num_tokens", "reward_std", "frac_reward_zero_std", "kl", "entropy"),
    *(f"completions/{name}_length" for name in ("mean", "min", "max")),
    *(f"completions/{name}_terminated_length" for name in ("mean", "min", "max")),
    "completions/clipped_ratio",
    *(f"rewards/{name}/{what}" for name in ("accuracy_reward", "format_reward") for what in ("mean", "std")),
    *("clip_ratio/region_mean", "clip_ratio/low_mean", "step_time"),
)
_BEGIN = "import json, re, sys, time; from rlchecks.readers import read_run; path = sys.argv[1]"
_LOAD = "with open(path) as file: json.load(file)"
_READ = "run = read_run(path); assert len(run.steps) == int(sys.argv[2]), len(run.steps)"
# getrusage would also count what this process had resident when it started the other.
_END = """
seconds = time.perf_counter() - begun
print(seconds, int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


class Reading(NamedTuple):
    """Seconds of a reading, and the largest resident set of its process in MiB."""

    seconds: float
    mebibytes: float


def reading(statement: str, path: Path, rows: int) -> Reading:
    program = "\n".join([_BEGIN, "begun = time.perf_counter()", statement, _END])
    done = subprocess.run([sys.executable, "-c", program, str(path), str(rows)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return Reading(*map(float, done.stdout.split()))


def rows_of(count: int) -> Iterator[dict[str, float]]:
    """Rows of 25 keys as a trainer logs them, one a step; the values are not rounded."""
    noise = np.random.default_rng(20261130)
    for first in range(1, count + 1, 10_000):
        steps = range(first, min(first + 10_000, count + 1))
        values = np.abs(noise.normal(0.5, 0.2, (len(steps), len(KEYS)))).clip(0, 1).tolist()
        rewards = noise.normal(0.5, 0.1, len(steps)).tolist()
        for step, reward, row in zip(steps, rewards, values, strict=True):
            yield {"step": step, "epoch": step / count, "reward": reward, **dict(zip(KEYS, row, strict=True))}


def write_state(path: Path, rows: int) -> None:
    document = {"global_step": rows, "max_steps": rows, "log_history": list(rows_of(rows))}
    path.write_text(json.dumps(document, indent=2))


def write_lines(path: Path, size: float) -> int:
    """Write a log of ``size`` bytes; returns its rows."""
    per_row = len(json.dumps(next(rows_of(1)))) + 1
    rows = int(size / per_row)
    with open(path, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows_of(rows))
    return rows


def write_csv(path: Path, rows: int, columns: int) -> None:
    names = ["step", "reward", *(f"metric {number}" for number in range(columns - 2))]
    noise = np.random.default_rng(20261130)
    with open(path, "w") as file:
        file.write(",".join(names) + "\n")
        for first in range(1, rows + 1, 10_000):
            values = noise.random((min(10_000, rows + 1 - first), columns - 1)).tolist()
            file.writelines(f"{first + at},{','.join(map(repr, row))}\n" for at, row in enumerate(values))


def against_json(path: Path, rows: int, rounds: int) -> None:
    write_state(path, rows)
    loads, reads = [], []
    for _ in range(rounds):
        loads.append(reading(_LOAD, path, rows))
        reads.append(reading(_READ, path, rows))
    load, read = (float(np.median([one.seconds for one in some])) for some in (loads, reads))
    memory = max(one.mebibytes for one in reads)
    size = path.stat().st_size / 1e6
    print(f"{path.name}, {rows:,} rows of {len(KEYS) + 3} keys, {size:,.0f} MB")
    print(f"  json.load alone {load:.2f} s, read_run {read:.2f} s: {read / load:.2f} times (aim: 2.5)")
    print(f"  largest resident set {memory:,.0f} MiB (aim: 1,536)")


def alone(path: Path, rows: int, keys: int) -> None:
    size = path.stat().st_size / 1e6
    seconds, memory = reading(_READ, path, rows)
    print(f"{path.name}, {rows:,} rows of {keys} keys, {size:,.0f} MB")
    print(f"  {seconds:.1f} s, {size / seconds:.0f} MB/s; largest resident set {memory:,.0f} MiB (aim: 1,536)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the state")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gb", type=float, default=0.25, help="size of the JSON Lines log, in 1e9 bytes")
    parser.add_argument("--csv-rows", type=int, default=200_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        against_json(folder / "trainer_state.json", options.rows, options.rounds)
        lines, table = folder / "metrics.jsonl", folder / "metrics.csv"
        alone(lines, write_lines(lines, options.gb * 1e9), len(KEYS) + 3)
        lines.unlink()
        write_csv(table, options.csv_rows, 20)
        alone(table, options.csv_rows, 20)


if __name__ == "__main__":
    main()
