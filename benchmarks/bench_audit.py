"""Audit of archived runs: time and memory per run, and how both grow with the number of runs.

    python benchmarks/bench_audit.py                      1,000 runs against 100, of 500 steps
    python benchmarks/bench_audit.py --runs 10000         ten times as many, against 1,000

Start-up is what an audit of one run costs; it is taken off. The growth is the ratio of what is left.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from measure import Measured, measure

from rlchecks.archive import Archive
from rlchecks.run import RunLog
from rlchecks.runner import LocalRunner, shards_of
from rlchecks.schema import STEPS

SCRIPT = str(Path(sys.executable).with_name("rlchecks"))


def synthetic(number: int, steps: int) -> RunLog:
    """A run of many metrics, rising reward, a little of everything else."""
    noise = np.random.default_rng(number)
    time = np.linspace(0, 1, steps)
    columns = {
        "reward": np.clip(0.3 + 0.4 * time + noise.normal(0, 0.05, steps), 0, 1),
        "reward_std": np.abs(noise.normal(0.4, 0.02, steps)),
        "zero_std_fraction": np.clip(noise.normal(0.2, 0.05, steps), 0, 1),
        "clipped_ratio": np.clip(noise.normal(0.02, 0.01, steps), 0, 1),
        "mean_length": noise.normal(200, 5, steps),
        "max_length": noise.normal(400, 20, steps),
        "kl": 0.05 * time + np.abs(noise.normal(0, 0.002, steps)),
        "entropy": np.abs(noise.normal(0.4, 0.02, steps)),
        "grad_norm": np.abs(noise.normal(0.5, 0.1, steps)),
        "loss": noise.normal(0, 0.1, steps),
        "learning_rate": np.full(steps, 1e-6),
    }
    run_id = f"run-{number:06d}"
    fixed = {"run_id": [run_id] * steps, "split": ["train"] * steps, "step": np.arange(1, steps + 1)}
    arrays = []
    for field in STEPS:
        values = fixed.get(field.name, columns.get(field.name))
        arrays.append(pa.nulls(steps, field.type) if values is None else pa.array(values, field.type))
    table = pa.Table.from_arrays(arrays, schema=STEPS)
    return RunLog(run_id, run_id, f"made/{run_id}", "table", table, planned_steps=steps)


def fill(shard: tuple[str, int, range]) -> None:
    place, steps, numbers = shard
    archive = Archive(place)
    for number in numbers:
        archive.write_run(synthetic(number, steps))


def archive_of(place: Path, runs: int, steps: int) -> str:
    LocalRunner().map(fill, [(str(place), steps, part) for part in shards_of(range(runs), None, 500)])
    return str(place)


def audit(archive: str, reports: str) -> Measured:
    return measure([SCRIPT, "audit", "--archive", archive, "--reports", reports, "--local", "--json"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        sizes = (1, options.runs // 10, options.runs)
        archives = {size: archive_of(Path(scratch) / str(size), size, options.steps) for size in sizes}
        rounds = [{size: audit(archives[size], scratch) for size in sizes} for _ in range(options.rounds)]
    seconds = {size: float(np.median([one[size].seconds for one in rounds])) for size in sizes}
    memory = {size: max(one[size].mebibytes for one in rounds) for size in sizes}
    one, tenth, all_ = sizes
    print(f"{'runs':>8} {'seconds':>9} {'ms a run':>9} {'MiB, all processes':>19}")
    for size in sizes:
        each = 1000 * (seconds[size] - seconds[one]) / size if size > 1 else float("nan")
        print(f"{size:>8} {seconds[size]:>9.2f} {each:>9.2f} {memory[size]:>19.0f}")
    growth = (seconds[all_] - seconds[one]) / (seconds[tenth] - seconds[one])
    whole = seconds[all_] / seconds[tenth]
    print(f"ten times the runs take {growth:.1f} times the time after start-up, {whole:.1f} times in all")


if __name__ == "__main__":
    main()
