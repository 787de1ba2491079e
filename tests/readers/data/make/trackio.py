"""Make the Trackio projects in ``../trackio`` with the real package.

The committed ones were made with trackio 0.43.0 and pyarrow 26.0.1, and ``old.tar.gz`` with trackio 0.23.0, the last
version without run ids; both with Python 3.11 and SQLite 3.40.1:

    pip install trackio==0.43.0 pyarrow
    python -P tests/readers/data/make/trackio.py OUTPUT
    pip install trackio==0.23.0 huggingface_hub==1.10.0 pyarrow
    python -P tests/readers/data/make/trackio.py OUTPUT old

(``-P``, since this file has the name of the package.) Each archive holds the directory ``trackio`` as it was left:

- ``project.tar.gz``: a database of several runs, see :func:`project`, and its Parquet mirror.
- ``killed.tar.gz``: a process was killed while a dashboard was open, so that what it logged last is in the
  write-ahead log.
- ``inbox.tar.gz``: logged in fragments, as on a network file system; one run has its beginning in the database.
- ``old.tar.gz``: the same runs as in ``project.tar.gz``.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

CONFIG = {
    "beta": 0.04,
    "num_generations": 8,
    "max_completion_length": 64,
    "max_steps": 12,
    "logging_steps": 1,
    "scale_rewards": "group",
    "eval_steps": None,
    "use_vllm": False,
}


def metrics(step: int, shift: float = 0.0) -> dict[str, object]:
    """A row of TRL's GRPO trainer as Hugging Face's Trackio callback rewrites it."""
    return {
        "train/loss": 0.01 * step,
        "train/grad_norm": float("inf") if step == 5 else 0.3,
        "train/learning_rate": 1e-5,
        "train/reward": 0.1 * step + shift,
        "train/reward_std": 0.4,
        "train/rewards/accuracy_reward/mean": 0.1 * step + shift,
        "train/frac_reward_zero_std": 0.0,
        "train/completions/mean_length": 20.0 + step,
        "train/completions/clipped_ratio": 0.0,
        "train/kl": float("nan") if step == 4 else 0.001 * step,
        "train/entropy": None if step == 6 else 0.5,
        "train/epoch": step / 10,
        "train/global_step": step,
    }


def train(steps: range, shift: float = 0.0) -> None:
    """Log as TRL does: timings of a step before its metrics, and the answers after them."""
    import trackio

    for step in steps:
        for _ in range(2):
            trackio.log({"profiling/Time taken: GRPOTrainer.compute_loss": 0.25 * step})
        trackio.log(metrics(step, shift))
        answers = [{"step": step, "prompt": "q: 1+1 a:", "completion": "2", "accuracy_reward": 1.0}]
        if hasattr(trackio, "Table"):
            import pandas

            trackio.log({"completions": trackio.Table(dataframe=pandas.DataFrame(answers))})


def begin(name: str, **options: object) -> None:
    import trackio

    trackio.init(project="toy add", name=name, config=dict(CONFIG), **options)


def project() -> None:
    """A resumed run, one of the same name, one that counts its own steps, and one without a reward."""
    import trackio

    begin("grpo")
    train(range(1, 10))
    trackio.log({"eval/reward": 0.5, "train/global_step": 9})
    trackio.finish()
    begin("grpo", resume="must")
    train(range(7, 13), shift=0.05)
    trackio.log({"train/epoch": 1.2, "train/global_step": 12})
    trackio.finish()
    begin("own steps")
    for step in range(10, 50, 10):
        trackio.log({"step": step, "reward": step / 100, "kl": float("inf"), "note": "fine"})
    trackio.finish()
    begin("sft")
    for step in range(1, 4):
        trackio.log({"train/loss": 1.0 / step, "train/global_step": step})
    trackio.finish()
    if not_old():
        # Since there are run ids, a name that is given twice makes two runs.
        begin("grpo", resume="never")
        train(range(1, 4), shift=0.2)
        trackio.finish()
    from trackio.sqlite_storage import SQLiteStorage

    SQLiteStorage.export_to_parquet()


def killed() -> None:
    """Run in a process of its own."""
    begin("grpo killed")
    train(range(1, 4))
    # What is logged is written every half second.
    time.sleep(2)
    # Who else has the database open keeps the writer from emptying its log.
    dashboard = sqlite3.connect(Path(os.environ["TRACKIO_DIR"]) / "toyadd.db")
    dashboard.execute("SELECT count(*) FROM metrics").fetchall()
    train(range(4, 6))
    time.sleep(2)
    os.kill(os.getpid(), signal.SIGKILL)


def fragments() -> None:
    """The second half of a run whose first half a server has imported, and another run."""
    import trackio

    os.environ["TRACKIO_STORAGE_MODE"] = "jsonl"
    begin("grpo", resume="allow")
    train(range(5, 9))
    trackio.finish()
    begin("grpo other")
    train(range(1, 4), shift=0.2)
    trackio.finish()


def first_half() -> None:
    import trackio

    begin("grpo", resume="allow")
    train(range(1, 5))
    trackio.finish()


def not_old() -> bool:
    import trackio

    return tuple(map(int, trackio.__version__.split(".")[:2])) > (0, 23)


def make(output: Path, name: str, *scenes: str) -> None:
    """Run each scene in a process of its own, and archive what they leave."""
    with tempfile.TemporaryDirectory() as where:
        directory = Path(where) / "trackio"
        environment = {**os.environ, "TRACKIO_DIR": str(directory), "HF_HUB_OFFLINE": "1"}
        for scene in scenes:
            subprocess.run([sys.executable, "-P", __file__, scene], env=environment, check=False)
        with tarfile.open(output / f"{name}.tar.gz", "w:gz", compresslevel=9) as archive:
            archive.add(directory, "trackio", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if member.name.endswith("-shm") else member


def main() -> None:
    """Make all archives."""
    output = Path(sys.argv[1]).resolve()
    output.mkdir(parents=True, exist_ok=True)
    if sys.argv[2:] == ["old"]:
        make(output, "old", "project")
        return
    make(output, "project", "project")
    make(output, "killed", "killed")
    make(output, "inbox", "first_half", "fragments")


SCENES = {scene.__name__: scene for scene in (project, killed, first_half, fragments)}

if __name__ == "__main__":
    SCENES.get(sys.argv[1], main)()
