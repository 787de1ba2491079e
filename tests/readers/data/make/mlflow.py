"""Make the MLflow stores in ``../mlflow`` with the real package.

The committed ones were made with mlflow-skinny 3.17.2, SQLAlchemy 2.1.9 and SQLite 3.40.1:

    pip install mlflow-skinny==3.17.2 sqlalchemy alembic
    python -P tests/readers/data/make/mlflow.py OUTPUT

(``-P``, since this file has the name of the package.)

``mlruns.tar.gz`` is a file store, ``mlflow.db.gz`` a SQLite store; both hold the same runs, see :func:`main`.
"""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SETTINGS = {
    "beta": 0.04,
    "num_generations": 8,
    "max_completion_length": 64,
    "max_steps": 12,
    "logging_steps": 1,
    "scale_rewards": "group",
    "use_vllm": False,
    "output_dir": "out",
}


def metrics(step: int, shift: float = 0.0) -> dict[str, float]:
    """The keys of TRL's GRPO trainer as Hugging Face's MLflow callback passes them on."""
    return {
        "loss": 0.01 * step,
        "grad_norm": float("inf") if step == 5 else 0.3,
        "learning_rate": 1e-5,
        "reward": 0.1 * step + shift,
        "reward_std": 0.4,
        "rewards/accuracy_reward/mean": 0.1 * step + shift,
        "frac_reward_zero_std": 0.0,
        "completions/mean_length": 20.0 + step,
        "completions/clipped_ratio": 0.0,
        "kl": float("nan") if step == 4 else 0.001 * step,
        "epoch": step / 10,
    }


def resumed() -> None:
    import mlflow

    with mlflow.start_run(run_name="grpo resumed") as run:
        mlflow.log_params(SETTINGS)
        for step in range(1, 10):
            mlflow.log_metrics(metrics(step), step=step)
        mlflow.log_metrics({"eval_reward": 0.5}, step=9)
        mlflow.log_metric("system/cpu_utilization_percentage", 12.5, step=0)
    with mlflow.start_run(run_id=run.info.run_id):
        for step in range(7, 13):
            mlflow.log_metrics(metrics(step, shift=0.05), step=step)
        mlflow.log_metrics({"train_runtime": 60.0, "total_flos": 0.0}, step=12)


def killed() -> None:
    """Run by a process of its own, which dies without ending the run."""
    import mlflow

    mlflow.start_run(run_name="grpo killed")
    mlflow.log_params(SETTINGS)
    for step in range(1, 4):
        mlflow.log_metrics(metrics(step, shift=0.2), step=step)
    os.kill(os.getpid(), signal.SIGKILL)


def deleted() -> None:
    import mlflow

    with mlflow.start_run(run_name="grpo deleted") as run:
        mlflow.log_metrics(metrics(1), step=1)
    mlflow.tracking.MlflowClient().delete_run(run.info.run_id)


def supervised() -> None:
    """No reinforcement learning, and values that carry a data set."""
    import mlflow

    with mlflow.start_run(run_name="sft"):
        for step in range(1, 4):
            mlflow.log_metrics({"loss": 1.0 / step, "learning_rate": 1e-5}, step=step)


def stepless() -> None:
    """Logged without steps, so that MLflow stores step 0 throughout; with a data set, so five fields a line."""
    import mlflow
    from mlflow.data.http_dataset_source import HTTPDatasetSource
    from mlflow.data.meta_dataset import MetaDataset

    dataset = MetaDataset(HTTPDatasetSource("https://example.org/d.csv"), name="arithmetic")
    with mlflow.start_run(run_name="stepless"):
        for step in range(1, 5):
            mlflow.log_metric("reward", 0.25 * step)
            mlflow.log_metric("val/reward", 0.2 * step, step=step, dataset=dataset)


def make(uri: str, where: Path) -> None:
    import mlflow

    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment("rl")
    resumed()
    environment = {**os.environ, "MLFLOW_TRACKING_URI": uri, "MLFLOW_EXPERIMENT_NAME": "rl"}
    subprocess.run([sys.executable, "-P", __file__, "killed"], cwd=where, env=environment, check=False)
    deleted()
    supervised()
    stepless()


def main() -> None:
    """Make both stores."""
    os.environ.update(DO_NOT_TRACK="true", MLFLOW_DISABLE_TELEMETRY="true", MLFLOW_ALLOW_FILE_STORE="true")
    output = Path(sys.argv[1]).resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        where = Path(name)
        os.chdir(where)
        make(f"file:{where}/mlruns", where)
        with tarfile.open(output / "mlruns.tar.gz", "w:gz", compresslevel=9) as archive:
            archive.add("mlruns")
        shutil.rmtree("mlruns")
        make(f"sqlite:///{where}/mlflow.db", where)
        (output / "mlflow.db.gz").write_bytes(gzip.compress(Path("mlflow.db").read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    killed() if sys.argv[1] == "killed" else main()
