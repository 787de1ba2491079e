"""What Trackio logs where SQLite is not safe: fragments, in a directory ``inbox`` beside the databases.

``inbox/<writer>/<number>.jsonl``; a writer is one start of one run. A line is a call: ``kind`` (``metric`` or other),
``project``, ``run``, ``run_id``, ``metrics``, ``step`` (the number of the call), ``timestamp``, ``config``, ``log_id``.
A server imports them into the databases and deletes them. Source: trackio/fragments.py of gradio-app/trackio.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.files import unreadable
from rlchecks.readers.json_lines import JsonLines
from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import Row
from rlchecks.readers.text import clean, counted, shown
from rlchecks.readers.trackio_rows import TrackioLog, TrackioRun, call_of
from rlchecks.run import InputFile

INBOX = "inbox"
"""Name of the directory."""

_FRAGMENT = re.compile(r"\d{8}\.jsonl")
_WRITER = re.compile(r"[0-9a-f]{16}")
_MARKS = frozenset({"v", "kind", "project", "run", "metrics"})
_METRIC = "metric"
_UNSAFE = re.compile(r"[^\w-]")


class Writer(NamedTuple):
    """The fragments of one start of a run.

    Attributes:
        run: which run.
        project: name of the project's files.
        began: time of the first call, as text in ISO 8601.
        files: the fragments in order.
    """

    run: TrackioRun
    project: str
    began: str
    files: tuple[Path, ...]


def may_hold(names: Collection[str]) -> bool:
    """Whether a directory with entries of these names may be an inbox, or that of a writer."""
    return any(_WRITER.fullmatch(name) or _FRAGMENT.fullmatch(name) for name in names)


def writers_in(path: Path) -> list[Writer]:
    """List the writers of an inbox in the order in which they began.

    Args:
        path: an inbox, or the directory of a writer.

    Raises:
        InputError: it cannot be listed or read.
    """
    directories = [path, *(entry for entry in _entries(path) if _WRITER.fullmatch(entry.name) and _is_own(entry))]
    groups = [[*filter(_is_fragment, _entries(one))] for one in directories]
    return sorted((one for files in groups if files and (one := _writer(files))), key=lambda writer: writer.began)


def read_fragments(writers: Collection[Writer], part: str, known: Collection[str] = ()) -> TrackioLog:
    """Read what was logged of a run; a fragment that cannot be read is left out and told about.

    Args:
        writers: the run's.
        part: the run.
        known: ids of calls that are imported already.
    """
    rows = Rows()
    config: Mapping[str, object] = {}
    inputs: list[InputFile] = []
    warnings: list[str] = []
    others = 0
    for file in (file for writer in writers for file in writer.files):
        lines = JsonLines(file)
        try:
            for _, record in lines:
                metrics = record.get("metrics")
                if record.get("kind") != _METRIC or not isinstance(metrics, dict):
                    continue
                if _run_of(record).part != part:
                    others += 1
                elif record.get("log_id") not in known:
                    rows.append(call_of(metrics, record.get("step")))
                given = record.get("config")
                config = given if isinstance(given, dict) else config
        except InputError as error:
            warnings.append(f"fragment {shown(f'{file.parent.name}/{file.name}')} is not read to its end: {error}")
            continue
        inputs.append(lines.source)
        warnings += [f"fragment {shown(f'{file.parent.name}/{file.name}')}: {warning}" for warning in lines.warnings]
    if others:
        warnings.append(f"{counted(others, 'call')} of another run among the fragments: left out")
    return TrackioLog(rows, config, tuple(inputs), tuple(warnings))


def _writer(files: list[Path]) -> Writer | None:
    # The first record tells whose they are all.
    for file in files:
        try:
            record = next((record for _, record in JsonLines(file) if record.keys() >= _MARKS), None)
        except InputError:
            continue
        if record is not None:
            project = _UNSAFE.sub("", str(record.get("project"))) or "default"
            return Writer(_run_of(record), clean(project), str(record.get("timestamp")), tuple(files))
    return None


def _run_of(record: Row) -> TrackioRun:
    name = clean(str(record.get("run")))
    return TrackioRun(clean(str(record.get("run_id") or name)), name)


def _entries(directory: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise unreadable(directory, error) from error
    return (directory / name for name in names)


def _is_fragment(entry: Path) -> bool:
    # Trackio makes no links.
    return _FRAGMENT.fullmatch(entry.name) is not None and not entry.is_symlink()


def _is_own(entry: Path) -> bool:
    return entry.is_dir() and not entry.is_symlink()
