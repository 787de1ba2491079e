"""JSON documents that hold a log as one object, or the logs of several runs; the shapes are in ``columnar_rows``."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from pathlib import Path

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.aliases import framework, recognise
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.columnar_rows import Log, keys_in, logs_in
from rlchecks.readers.files import parse_json, read_bytes, regular_size
from rlchecks.readers.identity import run_name
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.settings import settings
from rlchecks.readers.source import choose
from rlchecks.readers.text import counted, listing, place, readable_part
from rlchecks.readers.trl_rules import apply
from rlchecks.run import InputFile, RunLog

_LARGEST_LOOK = 16 << 20
_NUMBER = r"(?:-?\d|null\b|NaN\b|-?Infinity\b)"
_COLUMN = re.compile(r'"([^"\\]{1,200})"\s*:\s*\[\s*' + _NUMBER)
_STEP = re.compile(r'"\d{1,12}"\s*:\s*\{\s*"([^"\\]{1,200})"\s*:\s*' + _NUMBER)
_ROW = re.compile(r':\s*\[\s*\{\s*"([^"\\]{1,200})"\s*:\s*' + _NUMBER)


class ColumnarReader:
    """Reads logs that are one JSON object: a list for each metric, rows keyed by step, several runs by name."""

    name = "columnar"
    suffixes = frozenset({".json"})
    looks_for = "a JSON object with a list for each metric, or with rows keyed by their steps"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return False

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; what begins like a log is parsed to be sure."""
        if path.suffix.lower() != ".json":
            return False
        text = readable_part(head)
        if not text.lstrip().startswith("{"):
            return False
        likely = [*_COLUMN.findall(text), *_STEP.findall(text), *_ROW.findall(text)]
        if not likely:
            return False
        try:
            if regular_size(path) > _LARGEST_LOOK:
                return any(framework("table").is_reward(key) for key in likely)
            return bool(logs_in(parse_json(read_bytes(path).data, path)[0]))
        except InputError:
            # Damaged, which is said when it is read, if it can be told to be a log.
            return any(framework("table").is_reward(key) for key in likely)

    def parts(self, path: Path) -> list[str]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return [name for name in _load(path)[0] if name is not None]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first row.

        Raises:
            InputError: the document cannot be read; NotARunError: there is no reward in the run.
        """
        logs, _, _ = _load(path)
        log = _chosen(logs, path, part)
        _require_reward(log, path, part)
        return json.dumps(log.rows[0], sort_keys=True, default=str)

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        logs, source, repeated = _load(path)
        log = _chosen(logs, path, options.part)
        if not options.columns:
            _require_reward(log, path, options.part)
        keys = frozenset(keys_in(log))
        known = recognise(keys, "table")
        told = settings(log.beside)
        warnings = [f"{counted(repeated, 'object')} with a key given twice: the last value counts"] if repeated else []
        logged = Logged(
            path=path,
            name=run_name(path) if options.part is None else f"{run_name(path)} {options.part}",
            framework=known,
            rows=log.rows,
            inputs=(source,),
            planned_steps=told.planned_steps,
            facts=told.facts,
            warnings=(*warnings, *log.warnings),
        )
        run = assemble(logged, options)
        return apply(run, keys)


def _load(path: Path) -> tuple[dict[str | None, Log], InputFile, int]:
    contents = read_bytes(path)
    document, repeated = parse_json(contents.data, path)
    logs = logs_in(document)
    if not logs:
        raise NotARunError("no log in the JSON object, neither columns of numbers nor rows by step", path=place(path))
    return logs, contents.source, repeated


def _chosen(logs: dict[str | None, Log], path: Path, part: str | None) -> Log:
    if None in logs and part is None:
        return logs[None]
    return logs[choose(path, [name for name in logs if name is not None], part)]


def _require_reward(log: Log, path: Path, part: str | None) -> None:
    keys = keys_in(log)
    known = recognise(keys, "table")
    if not any(known.is_reward(key) for key in keys):
        problem = f"{counted(len(log.rows), 'logged row')}, none with a reward (keys: {listing(sorted(keys))})"
        todo = "if a column with another name is the reward, say so: --column OWN=reward"
        raise NotARunError(problem, path=place(path), where=part, todo=todo)
