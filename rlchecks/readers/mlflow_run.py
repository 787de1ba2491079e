"""What both kinds of MLflow stores know about a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rlchecks.errors import NotARunError
from rlchecks.readers.mlflow_values import Values
from rlchecks.readers.text import place
from rlchecks.run import InputFile

DELETED = "deleted"
"""The stage of life of a run that was deleted: MLflow keeps it until it is told to collect garbage."""

NAME_TAG, SOURCE_TAG = "mlflow.runName", "mlflow.source.name"
"""Tags with the run's name and the script that began it."""

# Sampled in a thread of their own, so that their steps count samples. Source: mlflow/system_metrics of mlflow/mlflow.
_SYSTEM = "system/"
_ID_SHOWN = 8


class TrackedRun(NamedTuple):
    """A run as it is stored.

    Attributes:
        run_id: 32 hexadecimal digits, if MLflow made it.
        name: its name for people, which need not be unique.
        status: RUNNING, SCHEDULED, FINISHED, FAILED or KILLED; a run that was killed from outside stays RUNNING.
        source: the script that began it, if known.
        params: the parameters that were asked for.
        values: its metrics in the order of logging.
        inputs: what was read.
        warnings: what was noticed.
    """

    run_id: str
    name: str
    status: str
    source: str
    params: Mapping[str, str]
    values: Values
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]

    @property
    def label(self) -> str:
        """The name, with the beginning of the id, since names are given twice."""
        return f"{self.name} {self.run_id[:_ID_SHOWN]}".strip()

    @property
    def facts(self) -> dict[str, str]:
        """Facts about the run that are no settings."""
        told = {"mlflow_run_id": self.run_id, "mlflow_status": self.status, "mlflow_source": self.source}
        return {name: value for name, value in told.items() if value}


def without_system(values: Values) -> Values:
    """Leave out the metrics of the machine."""
    system = np.array([name.startswith(_SYSTEM) for name in values.names], dtype=np.bool_)
    if not system.any():
        return values
    place_of = np.cumsum(~system) - 1
    kept = ~system[values.key]
    names = [name for name, is_system in zip(values.names, system.tolist(), strict=True) if not is_system]
    return Values(names, place_of[values.key[kept]], values.step[kept], values.value[kept])


def deleted(path: Path) -> NotARunError:
    """Build the error about a run that was deleted."""
    return NotARunError("the run was deleted in MLflow", path=place(path), todo="restore it there to read it")
