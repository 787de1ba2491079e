"""What a user gives as held-out results: paths, and names of checkpoints for them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rlchecks.errors import InputError
from rlchecks.heldout.harness.registry import named, summary
from rlchecks.heldout.names import shown
from rlchecks.heldout.rowfiles import EXTENSIONS

MAX_DEPTH = 6
"""How deep below a directory evaluation logs are looked for."""

MAX_FILES = 10_000
"""Most files that are read from one directory."""

_DECLARED = re.compile(r"([^/\\=]+)=(.+)", re.DOTALL)


class Given(NamedTuple):
    """One file.

    Attributes:
        path: where it lies.
        checkpoint: the checkpoint whose answers it holds, as the user named it; None if the file tells.
    """

    path: Path
    checkpoint: str | None = None


def files_of(paths: Iterable[str | Path]) -> list[Given]:
    """The files that paths stand for.

    A directory stands for the row files directly in it, and for the evaluation logs in it and below it that are told
    by their names. ``NAME=PATH`` says that a path holds the answers of the checkpoint NAME; what exists as it is
    written is a path. A file that is given twice is read once.

    Raises:
        InputError: there is nothing at a path, nothing to read in a directory, or one file was given for two
            checkpoints.
    """
    found: dict[Path, Given] = {}
    for given in map(_split, paths):
        if given.path.is_dir():
            inside = _inside(given.path)
        elif given.path.exists():
            inside = [given.path]
        else:
            raise InputError("there is no such file or directory", path=given.path, todo="give the held-out rows' path")
        for file in inside:
            first = found.setdefault(file.resolve(), Given(file, given.checkpoint))
            if first.checkpoint != given.checkpoint and first.checkpoint and given.checkpoint:
                names = f"{shown(first.checkpoint)} and as {shown(given.checkpoint)}"
                raise InputError(f"it is given as the answers of {names}", path=file, todo="give each its own files")
    if not found:
        raise InputError("no held-out rows were given", todo="give at least one JSON Lines, CSV or Parquet file")
    return list(found.values())


def _split(path: str | Path) -> Given:
    declared = _DECLARED.fullmatch(path) if isinstance(path, str) else None
    if declared is None or os.path.lexists(path):
        return Given(Path(path))
    return Given(Path(declared[2]), declared[1].strip())


def _inside(directory: Path) -> list[Path]:
    direct = [
        file
        for file in directory.iterdir()
        if file.suffix.lower() in EXTENSIONS
        and not file.name.startswith(".")
        and not summary(file.name)
        and file.is_file()
    ]
    logs = list(_logs(directory))
    inside = sorted({*direct, *logs})
    if not inside:
        raise InputError(
            "the directory holds no held-out rows directly in it and no evaluation logs",
            path=directory,
            todo=f"give a directory with {', '.join(EXTENSIONS)} files or evaluation logs, or the files",
        )
    if len(inside) > MAX_FILES:
        raise InputError(f"there are more than {MAX_FILES:,} files to read", path=directory, todo="give fewer of them")
    return inside


def _logs(directory: Path) -> Iterable[Path]:
    top = len(directory.parts)
    for folder, below, names in os.walk(directory):
        place = Path(folder)
        below[:] = (
            sorted(name for name in below if not name.startswith(".")) if len(place.parts) - top < MAX_DEPTH else []
        )
        yield from (place / name for name in names if not name.startswith(".") and named(name))
