"""What models answered, written the moment it is there, so that no question is asked twice after a crash.

One JSON object a line. Inspect's own cache would do the same with pickles, which run code when they are read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Journal:
    """Answers by the question that was asked. A torn last line, as a killed process leaves it, is passed over.

    Args:
        path: the file; made where there is none.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        with path.open("rb") as lines:
            line = b""
            for line in lines:
                key = _key_in(line)
                if key is not None:
                    self._places[key] = (self._end, len(line))
                self._end += len(line)
        if line and not line.endswith(b"\n"):
            self._end += os.write(self._file, b"\n")

    def get(self, key: str) -> Any:
        """What was kept under a key, or None."""
        place = self._places.get(key)
        return None if place is None else json.loads(os.pread(self._file, place[1], place[0]))["value"]

    def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Keep a JSON object."""
        line = json.dumps({"key": key, "value": value}, ensure_ascii=True).encode() + b"\n"
        written = 0
        while written < len(line):
            written += os.write(self._file, line[written:])
        self._places[key] = (self._end, len(line))
        self._end += len(line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def key_of(*parts: object) -> str:
    """A key that is the same exactly if the parts are."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _key_in(line: bytes) -> str | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not isinstance(row.get("value"), dict):
        return None
    return row["key"] if isinstance(row.get("key"), str) else None
