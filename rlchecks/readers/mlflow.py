"""MLflow: run directories of its file store, and SQLite databases of its SQL store."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.identity import run_name
from rlchecks.readers.mlflow_files import META, METRICS, is_run, metric_files, read_directory, run_id_of
from rlchecks.readers.mlflow_sql import is_store, read_stored, run_ids
from rlchecks.readers.mlflow_values import arrange
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.settings import settings
from rlchecks.readers.sqlite_files import MAGIC, SUFFIXES, beside
from rlchecks.readers.text import clean
from rlchecks.readers.trl_rules import apply
from rlchecks.run import RunLog


class MlflowReader:
    """Reads what MLflow keeps on disk."""

    name = "mlflow"
    suffixes = SUFFIXES
    looks_for = f"a run directory of MLflow (mlruns/*/*/{META}), or its SQLite database (mlflow.db)"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return META in names and METRICS in names

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`.

        Raises:
            InputError: a SQLite file that is damaged, whosever it is.
        """
        return is_run(path) if path.is_dir() else head.startswith(MAGIC) and is_store(path)

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [path / META, *(file for _, file in metric_files(path))]

    def beside(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return beside(path)

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; the ids of the runs."""
        return [run_id_of(path)] if path.is_dir() else run_ids(path)

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the run's id, which it keeps in every store."""
        return part if part is not None else next(iter(self.parts(path)), None)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        run = read_directory(path, options.part) if path.is_dir() else read_stored(path, options.part)
        keys = frozenset(run.values.names)
        framework = recognise(keys, "table")
        arranged = arrange(run.values, framework.with_columns(options.columns).is_reward)
        told = settings(run.params)
        logged = Logged(
            path=path,
            name=clean(run.label or run_name(path)),
            framework=framework,
            rows=arranged.rows,
            inputs=run.inputs,
            planned_steps=told.planned_steps,
            facts={**run.facts, **told.facts},
            warnings=(*run.warnings, *arranged.warnings),
        )
        made = assemble(logged, options)
        return apply(made, keys) if "trl_grpo" in framework.lineage else made
