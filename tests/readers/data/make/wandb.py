"""Writes the logs under ``tests/readers/data/wandb`` with the real wandb package.

They were made with wandb 0.16.6 and 0.31.0 (and numpy, for tables), each in an environment of its own:

    python -P tests/readers/data/make/wandb.py tests/readers/data/wandb

-P keeps this file from being imported in place of the package. For each version there is a run with everything in it
(``whole``), for 0.31.0 also one that was resumed by its id. Only the logs are kept.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

KINDS = {"0.16.6": ["whole"], "0.31.0": ["whole", "resumed", "resumed"]}
ID = "toy00001"


def start(**options: Any) -> Any:
    """Begin a run that writes little but what it is told to."""
    import wandb

    quiet = {"disable_stats": True, "disable_meta": True}
    settings: Any
    try:
        settings = wandb.Settings(**{f"x_{name}": value for name, value in quiet.items()}, host="host", console="off")
    except Exception:
        settings = wandb.Settings(**{f"_{name}": value for name, value in quiet.items()}, host="host", console="off")
    config = {
        "output_dir": "out/toy",
        "beta": 0.04,
        "num_generations": 8,
        "max_completion_length": 64,
        "max_steps": 12,
        "logging_steps": 1,
        "transformers_version": "5.24.0",
        "hub_token": "a secret",
    }
    run = wandb.init(project="toys", name="toy", config=config, settings=settings, **options)
    wandb.define_metric("train/global_step")
    wandb.define_metric("*", step_metric="train/global_step", step_sync=True)
    return run


def step(number: int, reward: float) -> None:
    """Log one training step as transformers' callback and TRL do."""
    import wandb

    metrics = {
        "train/reward": reward,
        "train/reward_std": 0.5,
        "train/frac_reward_zero_std": 0.25,
        "train/completions/mean_length": 30.0 + number,
        "train/completions/clipped_ratio": 0.0,
        "train/kl": 0.01 * number,
        "train/epoch": number / 8,
        "train/global_step": number,
    }
    wandb.log({"profiling/toy": 0.1})
    if number < 3:
        wandb.log({"profiling/toy": 0.2})
    wandb.log(metrics)


def whole() -> None:
    """A run that ends, with all kinds of values in it."""
    import wandb

    start()
    for number, reward in enumerate([0.1, math.nan, math.inf, -math.inf, 0.5, 0.6], start=1):
        step(number, reward)
        if number == 3:
            wandb.log({"eval/reward": 0.5, "eval/runtime": 1.5, "train/global_step": number})
    wandb.log({"answers": wandb.Table(columns=["a", "b"], data=[["x", 1.0]]), "spread": wandb.Histogram([1.0, 2.0])})
    wandb.log({"nested": {"inner": {"deep": 2}, "flat": 1.5}, "a.dot": 3, "list": [1, 2]})
    wandb.log({"word": "abc", "text": "t" * 99})
    wandb.finish()


def resumed() -> None:
    """A run that was stopped after step 5, and went on from step 3."""
    first, last = (1, 5) if not any(Path("wandb").glob("*-run-*")) else (4, 8)
    import wandb

    start(id=ID, resume="allow")
    for number in range(first, last + 1):
        step(number, number / 10)
    wandb.finish()


def main(target: Path) -> None:
    """Make all runs in a temporary directory and keep their logs."""
    import wandb

    with tempfile.TemporaryDirectory() as scratch:
        for kind in KINDS[wandb.__version__]:
            place = Path(scratch) / kind
            place.mkdir(exist_ok=True)
            command = [sys.executable, "-P", str(Path(__file__).resolve()), kind]
            environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true"}
            subprocess.run(command, cwd=place, env=environment, check=True)
            # The names of directories have whole seconds.
            time.sleep(1.1)
        for log in Path(scratch).glob("*/wandb/offline-run-*/*.wandb"):
            kept = target / wandb.__version__ / log.relative_to(scratch)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(log.read_bytes())


if __name__ == "__main__":
    kind = sys.argv[1]
    {"whole": whole, "resumed": resumed}.get(kind, lambda: main(Path(kind).resolve()))()
