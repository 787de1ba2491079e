"""SwanLab: logs of records, the directories of runs, folders of them, and what its local mode wrote."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from rlchecks.errors import NotARunError
from rlchecks.readers.aliases import Framework
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.leveldb import RecordLog
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.several import read_all
from rlchecks.readers.source import choose
from rlchecks.readers.steps import Row
from rlchecks.readers.swanlab_board import DATABASE, read_board
from rlchecks.readers.swanlab_records import FORMAT, SwanLog, read_log
from rlchecks.readers.swanlab_runs import DIRECTORY, SUFFIX, SwanRun, look_beside, settings_beside, swanlab_runs
from rlchecks.readers.swanlab_scalars import STEP
from rlchecks.readers.text import clean, place
from rlchecks.readers.trl_neighbours import look_around, side_files
from rlchecks.readers.trl_rules import apply
from rlchecks.readers.wandb_rows import counter_of, framework_of, unite
from rlchecks.run import RunLog

_SQLITE = b"SQLite format 3\0"


class SwanLabReader:
    """Reads the logs that SwanLab leaves on the machine that trains."""

    name = "swanlab"
    suffixes = frozenset({SUFFIX})
    looks_for = (
        f"a log of SwanLab (run-<id>{SUFFIX}, backup{SUFFIX}), its run directory, or a folder swanlog with several"
    )

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return any(name.endswith(SUFFIX) or DIRECTORY.fullmatch(name) for name in names)

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.is_dir():
            return bool(swanlab_runs(path))
        return head.startswith(FORMAT.letters) or (path.name == DATABASE and head.startswith(_SQLITE))

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        runs = swanlab_runs(path)
        logs = [file for run in runs for file in (*run.logs, *([run.database] if run.database else []))]
        return [*logs, *(file for run in runs for file in _settings(run.directories) if os.path.lexists(file))]

    def belongs(self, directory: Path) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; the folder of runs above has them all."""
        return DIRECTORY.fullmatch(directory.name) is not None

    def beside(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`; settings, or all that a database speaks of."""
        return [path.parent] if path.name == DATABASE else [path.parent / "files", *_settings([path.parent])]

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`; the ids of the runs."""
        return [run.part for run in swanlab_runs(path)]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first record, which has the time of the start.

        Raises:
            InputError: the log cannot be read; NotARunError: it has no records.
        """
        run = _run(path, part)
        if run.database is not None:
            return run.logs[0].absolute().name
        record = next(RecordLog(run.logs[0], FORMAT).records(), None)
        if record is None:
            raise NotARunError("nothing was logged", path=place(run.logs[0]))
        return record.hex()

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        run = _run(path, options.part)
        logs, warnings = _read_logs(run)
        legs = [log.scalars.rows() for log in logs]
        keys = frozenset(key for rows in legs for key in keys_of(rows))
        framework = _step_first(framework_of(keys, options.columns), legs)
        united = unite(legs, framework, options.columns)
        beside = look_beside(run.directories[-1])
        around = look_around([directory / "files" for directory in reversed(run.directories)])
        logged = Logged(
            path=path,
            # Values have no time, so that two runs of one name may begin alike.
            name=clean(f"{logs[-1].name} {run.part}".strip()),
            framework=framework,
            rows=united.rows,
            inputs=(*(source for log in logs for source in log.inputs), *beside.inputs, *around.inputs),
            planned_steps=beside.settings.planned_steps,
            framework_version=around.trl_version,
            facts={
                **around.facts,
                **logs[-1].facts,
                **beside.facts,
                **beside.settings.facts,
                "swanlab_run_id": run.part,
            },
            warnings=(*warnings, *united.warnings),
        )
        return apply(assemble(logged, options), keys)


def _step_first(framework: Framework, legs: Sequence[Sequence[Row]]) -> Framework:
    """Take SwanLab's own step where it is that of the training: a row that was cut off still has it."""
    counter = counter_of(legs, framework)
    if counter is None or any(row.get(counter, row[STEP]) != row[STEP] for rows in legs for row in rows):
        return framework
    return replace(framework, step=(STEP, *(key for key in framework.step if key != STEP)))


def _settings(directories: Sequence[Path]) -> list[Path]:
    return [file for one in directories for file in (*settings_beside(one), *side_files([one / "files"]))]


def _run(path: Path, part: str | None) -> SwanRun:
    runs = swanlab_runs(path)
    names = [run.part for run in runs]
    return runs[names.index(choose(path, names, part))]


def _read_logs(run: SwanRun) -> tuple[list[SwanLog], list[str]]:
    database = run.database
    return read_all(run.logs, read_log if database is None else lambda log: read_board(database, log))
