"""One evaluation log as it lies on the disk: its bytes, what it is by its first bytes, and the files beside it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rlchecks.errors import InputError
from rlchecks.heldout.harness.log import Object
from rlchecks.run import InputFile

MAX_BESIDE = 1 << 28
"""Largest file beside a log that is read with it, in bytes."""

_BAD_ESCAPE = "Invalid \\escape"  # json.JSONDecodeError.msg
_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])?')
_LONGEST_OPENING = 1 << 26  # characters of a line that tells what the file is


@dataclass
class Source:
    """A file that may be an evaluation log.

    Attributes:
        path: where it lies.
        data: its bytes.
        others: the files beside it that were read with it.
        repaired: escapes in JSON that mean nothing and were taken as they stand.
    """

    path: Path
    data: bytes
    others: list[InputFile] = field(default_factory=list)
    repaired: int = 0

    @cached_property
    def kind(self) -> str:
        """``zip``, ``parquet``, ``document`` (one JSON value), ``lines`` (an object a line) or ``other``."""
        head = self.data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        if self.data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return "zip"
        if self.data.startswith(b"PAR1"):
            return "parquet"
        if head.startswith(b"["):
            return "document"
        if not head.startswith(b"{"):
            return "other"
        return "document" if self._first_line is None else "lines"

    @cached_property
    def text(self) -> str:
        """The text.

        Raises:
            InputError: it is not UTF-8.
        """
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            problem = f"the text is not UTF-8 (byte 0x{self.data[error.start]:02x})"
            raise self.error(problem, f"line {line}", "save the file as UTF-8") from None

    @cached_property
    def document(self) -> Any:
        """The JSON value that the file is.

        Raises:
            InputError: it is no complete JSON, or nested too deeply.
        """
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            if getattr(error, "msg", None) != _BAD_ESCAPE:
                return parsed(self.text, self.path)
        # Whoever replaced words in a file may have left a backslash behind; it is a character of a text.
        return parsed(_ESCAPE.sub(self._mended, self.text), self.path)

    @cached_property
    def opening(self) -> Object:
        """The first object of the lines, or of the list, or the object itself; empty if there is none."""
        if self.kind == "lines":
            return self._first_line or {}
        if self.kind != "document":
            return {}
        found = self.document
        found = found[0] if isinstance(found, list) and found else found
        return found if isinstance(found, dict) else {}

    def lines(self) -> Iterator[tuple[int, Object]]:
        """The objects of the lines with their numbers; a file that is one document of one line is one such line.

        Raises:
            InputError: a line is no complete JSON object.
        """
        for number, line in enumerate(self.text.split("\n"), start=1):
            if not line or line.isspace():
                continue
            found = parsed(line, self.path, f"line {number}")
            if not isinstance(found, dict):
                raise self.error("the line is no JSON object", f"line {number}", "write one object per line")
            yield number, found

    def objects(self) -> Iterator[tuple[str, Object]]:
        """The objects of a list or of lines, each with its place in words.

        Raises:
            InputError: something in it is no object.
        """
        if self.kind == "lines":
            yield from ((f"line {number}", found) for number, found in self.lines())
            return
        found = self.document
        for index, item in enumerate(found if isinstance(found, list) else [found]):
            if not isinstance(item, dict):
                raise self.error("an entry of the list is no JSON object", f"[{index}]", "write it again")
            yield f"[{index}]", item

    def beside(self, name: str) -> Source | None:
        """A file in the same directory, None if there is none; the name never comes from inside a log.

        Raises:
            InputError: it cannot be read or is too large.
        """
        path = self.path.parent / name
        try:
            if not path.is_file():
                return None
            if path.stat().st_size > MAX_BESIDE:
                raise InputError(f"the file is larger than {MAX_BESIDE:,} bytes, the most that is read", path=path)
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"the file cannot be read ({error.strerror or error})", path=path) from None
        record = InputFile(str(path), hashlib.sha256(data).hexdigest(), len(data))
        if record not in self.others:
            self.others.append(record)
        return Source(path, data)

    def error(self, problem: str, where: str | None = None, todo: str | None = None) -> InputError:
        """An error about this file, to be raised."""
        return InputError(problem, path=self.path, where=where, todo=todo)

    def _mended(self, escape: re.Match[str]) -> str:
        self.repaired += escape[1] is None
        return escape[0] if escape[1] is not None else r"\\"

    @cached_property
    def _first_line(self) -> Object | None:
        """The first line if it is a complete object and not the only one of a file that is called a document."""
        start = self.data[: _LONGEST_OPENING + 1].removeprefix(b"\xef\xbb\xbf").lstrip()
        line, _, rest = start.partition(b"\n")
        if len(line) > _LONGEST_OPENING or (not rest.strip() and self.path.suffix.lower() == ".json"):
            return None
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


def parsed(text: str | bytes, path: Path, where: str | None = None) -> Any:
    """A JSON value, bare ``NaN`` and ``Infinity`` included.

    Args:
        text: the JSON.
        path: the file, for errors.
        where: where in it, for errors.

    Raises:
        InputError: it is no complete JSON, or nested too deeply.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", None) or error
        line = getattr(error, "lineno", None)
        place = where if where is not None else None if line is None else f"line {line}"
        todo = "get the whole file, or write it again"
        raise InputError(f"no complete JSON ({reason})", path=path, where=place, todo=todo) from None
