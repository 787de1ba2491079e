"""Weights & Biases: ``.wandb`` files, the directories of runs, and folders of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.settings import SINCE_0_27, settings
from rlchecks.readers.several import read_all
from rlchecks.readers.source import choose
from rlchecks.readers.text import clean, place
from rlchecks.readers.trl_neighbours import look_around, side_files
from rlchecks.readers.trl_rules import apply
from rlchecks.readers.wandb_records import FORMAT, WandbLog, read_log
from rlchecks.readers.wandb_rows import framework_of, unite
from rlchecks.readers.wandb_runs import DIRECTORY, SUFFIX, WandbRun, beginning, id_of, log_files, wandb_runs
from rlchecks.run import RunLog


class WandbReader:
    """Reads the logs that Weights & Biases leaves on the machine that trains, online or offline."""

    name = "wandb"
    looks_for = "a log of Weights & Biases (run-<id>.wandb), its run directory, or a folder wandb with several of them"

    def named(self, name: str) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return name.endswith(SUFFIX)

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return any(name.endswith(SUFFIX) or DIRECTORY.fullmatch(name) for name in names)

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return bool(log_files(path)) if path.is_dir() else head.startswith(FORMAT.letters)

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        logs = log_files(path)
        settings = [file for log in logs for file in side_files([log.parent / "files"])]
        return [*logs, *(file for file in settings if os.path.lexists(file))]

    def belongs(self, directory: Path) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; the folder of runs above has them all."""
        return DIRECTORY.fullmatch(directory.name) is not None

    def beside(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`; where the SDK puts the list of packages."""
        return [path.parent / "files", *side_files([path.parent / "files"])]

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; the ids of the runs."""
        return [run.part for run in _runs(path)]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: the log cannot be read; NotARunError: it has no rows.
        """
        first = _run(path, part).files[0]
        opening = beginning(first).opening
        if opening is None:
            raise NotARunError("no row of metrics was logged", path=place(first))
        return opening

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        run = _run(path, options.part)
        logs, warnings = read_all(run.files, read_log)
        config = {key: value for log in logs for key, value in log.config.items()}
        told = settings(config)
        keys = frozenset(key for log in logs for key in keys_of(log.rows))
        framework = framework_of(keys, options.columns, logs[-1].step_metric)
        united = unite([log.rows for log in logs], framework, options.columns)
        around = look_around([file.parent / "files" for file in reversed(run.files)])
        logged = Logged(
            path=path,
            name=clean(next((log.name for log in reversed(logs) if log.name), run.part)),
            framework=framework,
            rows=united.rows,
            inputs=(*(log.source for log in logs if log.source), *around.inputs),
            planned_steps=told.planned_steps,
            framework_version=around.trl_version,
            facts={**around.facts, **_facts(logs, run), **told.facts},
            warnings=(*warnings, *united.warnings),
        )
        # What is asked for is whether the version is that of the files of completions, or the one before, at least.
        return apply(assemble(logged, options), keys, logs_completions=SINCE_0_27 in config)


def _runs(path: Path) -> list[WandbRun]:
    return wandb_runs(path) if path.is_dir() else [WandbRun(id_of(path), (path,))]


def _run(path: Path, part: str | None) -> WandbRun:
    runs = _runs(path)
    names = [run.part for run in runs]
    # Each attempt's own id names the run, too.
    attempts = {attempt: run.part for run in runs for attempt in run.inferred}
    return runs[names.index(choose(path, names, part and attempts.get(part, part)))]


def _facts(logs: Sequence[WandbLog], run: WandbRun) -> dict[str, str]:
    facts = {key: value for log in logs for key, value in log.facts.items() if key != "exit_code" or log is logs[-1]}
    facts["wandb_run_id"] = run.part
    if run.inferred:
        facts["attempts"] = f"{', '.join(run.inferred)} (inferred)"
    return {key: clean(value) for key, value in facts.items()}
