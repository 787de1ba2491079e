"""Whether a path stays inside of the tree that is searched, links followed."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from rlchecks.errors import InputError
from rlchecks.readers.text import shown


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path, links followed, is below a resolved directory."""
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False


def leads_out(path: Path, root: Path) -> bool:
    """Whether a path, links followed, leads to something that is not below a resolved directory."""
    return os.path.exists(path) and not is_inside(path, root)


def check_inside(files: Collection[Path], root: Path) -> None:
    """Make sure that no file is a link out of the tree, nor below one.

    Raises:
        InputError: one is.
    """
    inside = {folder: is_inside(folder, root) for folder in {file.parent for file in files}}
    for file in files:
        if not (is_inside(file, root) if file.is_symlink() else inside[file.parent]):
            problem = f"{shown(file.name)} is a link out of the tree, which is not followed"
            raise InputError(problem, todo="put a copy in its place, or name the log itself")
