"""Reading one run, whatever log it left."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.aliases import framework
from rlchecks.readers.files import check_exists, read_head
from rlchecks.readers.registry import Reader, ReadOptions, reader_named, reader_of
from rlchecks.readers.search import find_runs
from rlchecks.readers.source import Source, source_of
from rlchecks.readers.table_files import SUFFIXES
from rlchecks.readers.text import clean, listing, place
from rlchecks.readers.unknown import explain, explain_directory
from rlchecks.run import RunLog


def read_run(path: str | Path, *, run_id: str | None = None, columns: Mapping[str, str] | None = None) -> RunLog:
    """Read one training run.

    Args:
        path: a run's output directory, a directory that holds one run, or a log file; where there are several runs
            in it, ``PATH#PART`` is one of them.
        run_id: the id it shall have; by default the slug of its name with eight hexadecimal digits that stay the
            same while the log grows.
        columns: the user's own column to canonical name (those of :data:`rlchecks.metrics.METRICS`, ``step``,
            ``epoch``, ``validation_reward``, ``reward/<function>``), for logs with names that no alias knows.

    Returns:
        The run; ``warnings`` says what a person should know about the reading.

    Raises:
        NotARunError: the path holds no run of reinforcement learning, or a directory holds more than one.
        InputError: a file cannot be read.
        UsageError: ``run_id`` or ``columns`` is not usable.
    """
    source, part = source_of(path)
    options = ReadOptions(run_id=run_id, columns=dict(columns or {}), part=part)
    framework("table").with_columns(options.columns)
    try:
        check_exists(source)
        (log, one), reader = _only_run(source, options) if source.is_dir() else _file(source, options)
        if one is not None and not hasattr(reader, "parts"):
            raise NotARunError(f"one run, so there is no {listing([one])} in it", path=place(log))
        run = reader.read(log, replace(options, part=one))
        return run if one is None else replace(run, source=clean(str(Source(log, one))))
    except RecursionError as error:
        raise InputError("nested too deeply for a log", path=place(path)) from error
    except OSError as error:
        # What vanishes while it is read.
        raise InputError(f"cannot be read ({error.strerror})", path=place(path)) from error


def _file(file: Path, options: ReadOptions) -> tuple[Source, Reader]:
    return Source(file, options.part), _reader(file, options)


def _reader(file: Path, options: ReadOptions) -> Reader:
    head = read_head(file)
    reader = reader_of(file, head)
    if reader is None and options.columns and file.suffix.lower() in SUFFIXES:
        # The user's names make a table of it.
        return reader_named("table")
    if reader is None:
        raise explain(file, head)
    return reader


def _only_run(directory: Path, options: ReadOptions) -> tuple[Source, Reader]:
    reader = reader_of(directory, b"")
    if reader is not None:
        return Source(directory, options.part), reader
    name = place(directory)
    found = find_runs(directory, options.columns)
    if options.part is not None:
        problem = f"a folder, so there is no run {listing([options.part])} in it"
        inside = [str(source) for source in found.sources]
        meant = [place for place in inside if place.endswith(options.part)] or inside
        todo = f"its runs are {listing(meant, 4)}" if meant else "name a run directory or a file"
        raise NotARunError(problem, path=name, todo=todo)
    if len(found.sources) > 1:
        names = listing(str(source).removeprefix(f"{directory}{os.sep}") for source in found.sources)
        todo = f"name one of them, such as {place(str(found.sources[0]))}"
        raise NotARunError(f"{len(found.sources)} runs ({names}), expected one", path=name, todo=todo)
    if not found.sources:
        faults = [refusal for refusal in found.refused if refusal.kind != "copy"]
        if faults:
            first = f"{place(faults[0].source)}: {faults[0].reason.rstrip('.')}"
            raise NotARunError(f"no run in it; {first}", path=name)
        raise explain_directory(directory)
    source = found.sources[0]
    if source.path.is_file():
        return source, _reader(source.path, options)
    reader = reader_of(source.path, b"")
    if reader is None:
        raise explain_directory(source.path)
    return source, reader
