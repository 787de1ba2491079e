"""The identity of a checkpoint: what exactly is judged, and promoted."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from rlchecks.errors import InputError


class Checkpoint(NamedTuple):
    """A checkpoint: where it was, what it holds.

    Attributes:
        uri: ``file://`` URI of the directory or file, links to it resolved.
        sha256: hash over the sorted relative file names, the sizes and the contents' SHA-256.
        files: number of files.
        bytes: their size together.
    """

    uri: str
    sha256: str
    files: int
    bytes: int


def checkpoint_identity(path: str | Path) -> Checkpoint:
    r"""Hash a checkpoint.

    The hash is the SHA-256 over ``name NUL size NUL sha256 NUL`` of every file, sorted by name; the name is the path
    relative to the directory, in bytes, with ``/``, and empty for a checkpoint that is one file. So neither the place
    of a checkpoint counts nor its files' dates, nor empty directories.

    Args:
        path: directory or file, as a path or ``file://`` URI. It may itself be reached by a link.

    Raises:
        InputError: if it does not exist or is not local, holds no file, holds a link or anything that is neither file
            nor directory, cannot be read, or changes while it is read.
    """
    root = _local(path)
    digest, files, total = hashlib.sha256(), 0, 0
    try:
        for name, file in sorted(_files(root)):
            size, content = _hash(file)
            digest.update(b"%s\0%d\0%s\0" % (name, size, content.encode()))
            files += 1
            total += size
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else root
        raise InputError(f"the checkpoint cannot be read ({error.strerror or error})", path=place) from error
    if not files:
        raise InputError("the checkpoint holds no file", path=root, todo="name the directory with the model's files")
    return Checkpoint(root.as_uri(), digest.hexdigest(), files, total)


def candidate_checkpoint(run_dir: str | Path, candidate_name: str) -> Path | None:
    """Find the checkpoint that a candidate's name stands for.

    The name comes from held-out rows and is hostile, so no path is ever built from it: it is looked for among the
    entries of the directory.

    Args:
        run_dir: the run's directory.
        candidate_name: the candidate's name.

    Returns:
        The directory directly inside ``run_dir`` with exactly this name, if it is no link; otherwise None.
    """
    try:
        with os.scandir(run_dir) as entries:
            found = [entry for entry in entries if entry.name == candidate_name]
    except (OSError, ValueError):
        return None
    return Path(found[0].path) if found and found[0].is_dir(follow_symlinks=False) else None


def _local(path: str | Path) -> Path:
    text = os.fspath(path)
    parts = urlsplit(text)
    if "://" in text and parts.scheme == "file" and parts.netloc in {"", "localhost"}:
        text = unquote(parts.path)
    elif "://" in text:
        raise InputError("only a local checkpoint can be hashed", path=text, todo="download it and give its directory")
    try:
        return Path(text).resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError("there is no checkpoint here", path=text, todo="check --checkpoint") from error


def _files(root: Path) -> Iterator[tuple[bytes, str]]:
    """Walk a checkpoint: relative name in bytes, and path, of each file."""
    if not root.is_dir():
        yield b"", str(root)
        return
    waiting = [str(root)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    raise InputError(
                        "a link inside a checkpoint can point to anything, so it cannot be hashed",
                        path=entry.path,
                        todo="copy the checkpoint with its links resolved (cp -rL) and give the copy",
                    )
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield os.fsencode(os.path.relpath(entry.path, root)).replace(os.sep.encode(), b"/"), entry.path


def _hash(path: str) -> tuple[int, str]:
    """Return a file's size in bytes and its SHA-256."""
    # A link or a pipe that took the file's place since the walk is neither followed nor waited for.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb", buffering=0) as file:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise InputError("a checkpoint may hold files and directories only", path=path, todo="remove it")
        content = hashlib.file_digest(file, "sha256").hexdigest()
        after = os.fstat(handle)
        if (file.tell(), after.st_size, after.st_mtime_ns) != (before.st_size, before.st_size, before.st_mtime_ns):
            raise InputError("the file changed while it was read", path=path, todo="wait until it is written")
    return before.st_size, content
