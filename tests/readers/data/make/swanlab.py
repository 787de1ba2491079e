"""Writes the logs under ``tests/readers/data/swanlab`` with the real swanlab package.

They were made with swanlab 0.5.9 (with its extra ``dashboard``, that is swanboard 0.1.8, and peewee 3.17.9, since later
ones fail in it), 0.7.20 and 0.10.3, each in an environment of its own:

    python -P tests/readers/data/make/swanlab.py tests/readers/data/swanlab

-P keeps this file from being imported in place of the package. For each version there is a run with all kinds of values
in it (``whole``), for 0.10.3 also one that was killed and one that was resumed by its id. The database of 0.5.9 is made
smaller by SQLite's VACUUM; what says where the run was made is not kept.
"""

from __future__ import annotations

import math
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

NEWEST = "0.10.3"
LOCAL = "0.5.9"
ID = "toy00001"
KEPT = ("*.swanlab", "run-*/*.swanlab", "run-*/files/config.yaml", "run-*/logs/*/*.log")


def start(**options: Any) -> None:
    """Begin a run."""
    import swanlab

    config = {"beta": 0.04, "num_generations": 8, "max_steps": 12, "logging_steps": 1, "api_key": "a secret"}
    mode = "local" if swanlab.__version__ == LOCAL else "offline"
    swanlab.init(project="toys", experiment_name="toy", config=config, mode=mode, logdir="swanlog", **options)


def step(number: int, reward: float) -> None:
    """Log one training step as transformers' callback does."""
    import swanlab

    metrics = {
        "train/reward": reward,
        "train/reward_std": 0.5,
        "train/frac_reward_zero_std": 0.25,
        "train/completions/mean_length": 30.0 + number,
        "train/completions/clipped_ratio": 0.0,
        "train/kl": 0.01 * number,
        "train/global_step": number,
    }
    swanlab.log(metrics, step=number)


def whole() -> None:
    """A run that ends, with all kinds of values in it."""
    import swanlab

    start()
    for number, reward in enumerate([0.1, math.nan, math.inf, -math.inf, 0.5, 0.6], start=1):
        step(number, reward)
        if number == 3:
            swanlab.log({"eval/reward": 0.5}, step=number)
    swanlab.log({"answer": swanlab.Text("abc")}, step=6)
    swanlab.finish()


def killed() -> None:
    """A run of which only whole buffers reached the disk."""
    start()
    for number in range(1, 26):
        step(number, number / 100)
    time.sleep(60)


def resumed() -> None:
    """A run that was stopped after step 5, and went on from step 3."""
    import swanlab

    first, last = (1, 5) if not any(Path("swanlog").glob("run-*")) else (4, 8)
    start(id=ID, resume="allow")
    for number in range(first, last + 1):
        step(number, number / 10)
    swanlab.finish()


def main(target: Path) -> None:
    """Make all runs in a temporary directory and keep their logs."""
    import swanlab

    kinds = ["whole", "killed", "resumed", "resumed"] if swanlab.__version__ == NEWEST else ["whole"]
    with tempfile.TemporaryDirectory() as scratch:
        for kind in kinds:
            place = Path(scratch) / kind
            place.mkdir(exist_ok=True)
            command = [sys.executable, "-P", str(Path(__file__).resolve()), kind]
            process = subprocess.Popen(command, cwd=place, start_new_session=True)
            if kind == "killed":
                wait_for(place, 8192)
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            # The names of directories have whole seconds.
            time.sleep(1.1)
            for file in [file for pattern in KEPT for file in (place / "swanlog").glob(pattern)]:
                kept = target / swanlab.__version__ / file.relative_to(scratch)
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(file.read_bytes())
                if file.name == "runs.swanlab":
                    shrink(kept)


def shrink(database: Path) -> None:
    """Write a database anew with small pages."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA page_size = 512")
        connection.execute("VACUUM")


def wait_for(place: Path, size: int) -> None:
    """Wait until a log has reached a size."""
    while not any(log.stat().st_size >= size for log in place.glob("swanlog/*/*.swanlab")):
        time.sleep(0.05)


if __name__ == "__main__":
    kind = sys.argv[1]
    {"whole": whole, "killed": killed, "resumed": resumed}.get(kind, lambda: main(Path(kind).resolve()))()
