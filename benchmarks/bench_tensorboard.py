"""TensorBoard: reading a run of a million scalars against tbparse, on the same file in the same process.

    pip install tbparse tensorboardX                      what this benchmark needs besides rlchecks
    python benchmarks/bench_tensorboard.py                20 series of 50,000 steps
    python benchmarks/bench_tensorboard.py --steps 5000 --rounds 5

The file is written by tensorboardX. tbparse makes a table of the scalars (``SummaryReader(path).scalars``); rlchecks
reads the whole run: checksums, rows, the framework, canonical metrics. Each has one run on a small file first, which
loads its libraries.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rlchecks.readers import read_run
from rlchecks.run import RunLog

_SERIES = (
    *("loss", "grad_norm", "learning_rate", "num_tokens", "reward", "reward_std", "frac_reward_zero_std", "kl"),
    *("entropy", "completions/mean_length", "completions/min_length", "completions/max_length"),
    *("completions/clipped_ratio", "rewards/accuracy_reward/mean", "rewards/accuracy_reward/std"),
    *("clip_ratio/low_mean", "clip_ratio/high_mean", "clip_ratio/region_mean", "step_time", "epoch"),
)


def make(folder: Path, steps: int) -> Path:
    """Write a run as transformers does, one event for each scalar; returns the event file."""
    from tensorboardX import SummaryWriter

    values = np.random.default_rng(1).random((steps, len(_SERIES)))
    with SummaryWriter(str(folder), max_queue=1000) as writer:
        for step, row in enumerate(values.tolist(), 1):
            for name, value in zip(_SERIES, row, strict=True):
                writer.add_scalar(f"train/{name}", value, step)
    return next(folder.iterdir())


def timed(read: Callable[[Path], object], path: Path) -> tuple[float, object]:
    """Seconds that a reading takes, and what was read."""
    begun = time.perf_counter()
    result = read(path)
    return time.perf_counter() - begun, result


def check(run: object, table: object, steps: int) -> None:
    """Make sure that both read all of it, and the same."""
    from pandas import DataFrame

    assert isinstance(run, RunLog)
    assert isinstance(table, DataFrame)
    assert len(run.training_steps) == steps
    assert len(table) == steps * len(_SERIES)
    rewards = table[table["tag"] == "train/reward"].sort_values("step")["value"].to_numpy()
    np.testing.assert_allclose(run.training_steps["reward"].to_numpy(), rewards, rtol=1e-6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        import tensorboardX  # noqa: F401
        from tbparse import SummaryReader
    except ImportError as error:
        print(f"left out: {error.name} is not installed (pip install tbparse tensorboardX)")
        return

    def scalars(path: Path) -> object:
        return SummaryReader(str(path)).scalars

    with tempfile.TemporaryDirectory() as scratch:
        small = make(Path(scratch) / "small", 10)
        check(read_run(small), scalars(small), 10)
        path = make(Path(scratch) / "run", options.steps)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(options.rounds):
            own, run = timed(read_run, path)
            other, table = timed(scalars, path)
            ours.append(own)
            theirs.append(other)
            check(run, table, options.steps)
        size = path.stat().st_size / (1 << 20)
    print(f"{options.steps * len(_SERIES):,} scalars, {size:.0f} MiB, {options.rounds} rounds")
    for name, seconds in (("rlchecks.read_run", ours), ("tbparse scalars", theirs)):
        print(f"{name:>18} {np.median(seconds):7.2f} s ({min(seconds):.2f} to {max(seconds):.2f})")
    print(f"{np.median(theirs) / np.median(ours):.1f} times as fast")


if __name__ == "__main__":
    main()
