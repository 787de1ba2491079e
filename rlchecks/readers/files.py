"""Reading files once: the bytes that are parsed are the bytes that are hashed."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from rlchecks.errors import InputError
from rlchecks.readers.text import clean, decode, place
from rlchecks.run import InputFile

MAX_BYTES = 1 << 30
"""Largest log that is read, in bytes: a million logged steps stay below it, and parsed it must fit into memory."""

MAX_ITEMS = 20_000_000
"""Most commas in a JSON document that is parsed as a whole: each parts two values of about fifty bytes or more."""

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell what it is."""

SIDE_BYTES = 1 << 20
"""Largest text beside a log that is read, in bytes: a model card or a list of packages is far smaller."""


class Contents(NamedTuple):
    """The bytes of a file and the record of having read them."""

    data: bytes
    source: InputFile


def check_exists(path: Path) -> None:
    """Make sure that there is something at a path.

    Raises:
        InputError: there is nothing, or it cannot be looked at, as with a name that no file system takes.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise InputError("there is no such file or directory", path=place(path)) from error
    except OSError as error:
        raise unreadable(path, error) from error


def read_bytes(path: Path, limit: int = MAX_BYTES) -> Contents:
    """Read a regular file.

    Args:
        path: the file.
        limit: largest size accepted, in bytes.

    Raises:
        InputError: it is missing, unreadable, no regular file, empty, or too large.
    """
    size = regular_size(path)
    if size > limit:
        raise InputError(f"the file is larger than {limit:,} bytes, the most that is read", path=place(path))
    data = _read(path, size)
    if not data:
        raise InputError("the file is empty", path=place(path))
    return Contents(data, InputFile(clean(str(path)), hashlib.sha256(data).hexdigest(), len(data)))


def read_head(path: Path) -> bytes:
    """Read the first :data:`HEAD_BYTES` of a regular file.

    Raises:
        InputError: it is missing, unreadable or no regular file.
    """
    return _read(path, min(regular_size(path), HEAD_BYTES))


def side_text(path: Path, inputs: list[InputFile], limit: int = SIDE_BYTES) -> str:
    """Read a small text that may stand beside a log, such as a model card; nothing if it cannot be read.

    Args:
        path: the file.
        inputs: gets the record of the reading.
        limit: largest size in bytes.
    """
    try:
        contents = read_bytes(path, limit)
    except InputError:
        return ""
    inputs.append(contents.source)
    return contents.data.decode("utf-8", "replace")


def stamp(path: Path) -> tuple[int, int]:
    """Return size and time of change of a file, which tell whether what was read of it still holds.

    Raises:
        InputError: it cannot be looked at.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise unreadable(path, error) from error
    return status.st_size, status.st_mtime_ns


class Objects:
    """Hook that builds JSON objects and counts those that name a key twice; the last one counts."""

    def __init__(self) -> None:
        self.repeated = 0

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build one object."""
        built = dict(pairs)
        self.repeated += len(built) != len(pairs)
        return built


def parse_json(data: bytes, path: Path) -> tuple[Any, int]:
    """Parse a JSON document, bare ``NaN`` and ``Infinity`` included.

    Returns:
        The document, and how many of its objects name a key twice (the last one counts).

    Raises:
        InputError: it is no UTF-8, no JSON, nested too deeply, or holds more than :data:`MAX_ITEMS` values.
    """
    if data.count(b",") > MAX_ITEMS:
        raise InputError(f"more than {MAX_ITEMS:,} values, the most that are read", path=place(path))
    objects = Objects()
    text = decode(data, path)
    try:
        return json.loads(text, object_pairs_hook=objects), objects.repeated
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        todo = "the file may be cut off or not written to its end"
        raise InputError(f"no valid JSON ({error.msg})", path=place(path), where=where, todo=todo) from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply for a log", path=place(path)) from error
    except ValueError as error:
        # Python refuses integers of more than 4300 digits.
        raise InputError(f"a number cannot be read ({error})", path=place(path)) from error


def regular_size(path: Path) -> int:
    """Return the size of a regular file in bytes.

    Raises:
        InputError: it is missing, unreadable or no regular file.
    """
    # Asked before opening: opening a named pipe would wait for its writer.
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise InputError("a directory, expected a file", path=place(path))
    if not stat.S_ISREG(status.st_mode):
        raise InputError("no regular file", path=place(path))
    return status.st_size


def _read(path: Path, size: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError | ValueError) -> InputError:
    """Build the error about a file that the system does not let us read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"cannot be read ({reason})", path=place(path))
