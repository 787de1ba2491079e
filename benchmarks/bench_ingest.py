"""Ingestion of a folder of runs: what a second process gains, and what a second ingest of the unchanged folder costs.

    python benchmarks/bench_ingest.py                     1,000 runs of 500 steps and 25 keys
    python benchmarks/bench_ingest.py --runs 100 --recorded

Each ingest is the whole command with an archive of its own, by one worker process and by two; then the same again on
the folder that nobody has touched. ``--recorded`` measures the commands with Prefect's temporary server, too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import measure

SCRIPT = str(Path(sys.executable).with_name("rlchecks"))
SETTLING_SECONDS = 3.0
"""A file younger than two seconds may still change without that its time tells; such a file is read again."""

_KEYS = (
    *("loss", "grad_norm", "learning_rate", "num_tokens", "reward_std", "frac_reward_zero_std", "kl", "entropy"),
    *(f"completions/{name}_length" for name in ("mean", "min", "max")),
    *(f"completions/{name}_terminated_length" for name in ("mean", "min", "max")),
    "completions/clipped_ratio",
    *(f"rewards/{name}/{what}" for name in ("exact", "format") for what in ("mean", "std")),
    *("clip_ratio/region_mean", "clip_ratio/low_mean", "step_time"),
)


def make(folder: Path, runs: int, steps: int) -> int:
    """Write ``trainer_state.json`` of many runs; returns the bytes written."""
    size = 0
    for number in range(runs):
        noise = np.random.default_rng(number)
        values = np.abs(noise.normal(0.5, 0.2, (steps, len(_KEYS)))).clip(0, 1).round(6)
        rewards = np.clip(np.linspace(0.3, 0.7, steps) + noise.normal(0, 0.05, steps), 0, 1)
        rows = [
            {"step": step, "epoch": step / steps, "reward": reward, **dict(zip(_KEYS, row, strict=True))}
            for step, reward, row in zip(range(1, steps + 1), rewards.tolist(), values.tolist(), strict=True)
        ]
        path = folder / f"run-{number:05d}" / "trainer_state.json"
        path.parent.mkdir(parents=True)
        size += path.write_text(json.dumps({"global_step": steps, "max_steps": steps, "log_history": rows}, indent=2))
    return size


def ingest(folder: Path, archive: Path, workers: int, *, recorded: bool) -> float:
    """Seconds that the command takes."""
    command = [SCRIPT, "ingest", str(folder), "--archive", str(archive), "--workers", str(workers), "--json"]
    return measure(command if recorded else [*command, "--local"]).seconds


def logs_read(folder: Path, archive: Path) -> int:
    """How many logs an ingest reads."""
    command = [SCRIPT, "ingest", str(folder), "--archive", str(archive), "--workers", "1", "--local", "--json"]
    document = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return sum(not run.get("unchanged") for run in document["runs"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--recorded", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "runs"
        size = make(folder, options.runs, options.steps)
        print(f"{options.runs:,} runs, {size / 2**20:,.0f} MiB")
        time.sleep(SETTLING_SECONDS)
        for recorded in (False, True) if options.recorded else (False,):
            how = "recorded by Prefect" if recorded else "--local"
            first = {}
            for workers in (1, 2):
                archive = Path(scratch) / f"archive-{workers}-{recorded}"
                first[workers] = ingest(folder, archive, workers, recorded=recorded)
                again = ingest(folder, archive, workers, recorded=recorded)
                read = logs_read(folder, archive)
                print(
                    f"{how}, {workers} worker{'s' if workers > 1 else ''}: {first[workers]:.2f} s, "
                    f"again {again:.2f} s ({again / first[workers]:.3f} of it, {read} logs read)"
                )
            print(f"{how}: two workers are {first[1] / first[2]:.2f} times as fast as one")


if __name__ == "__main__":
    main()
