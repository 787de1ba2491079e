"""How a program ended that left console output and no logged step."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rlchecks.readers.console_pieces import Pieces

_TAIL = 1 << 16
_ERROR = re.compile(
    r"(?:[A-Za-z_][\w.]{0,100}(?:Error|Exception|Interrupt|Exit)\b(?:[:(].*)?|Killed|Aborted.*|Terminated"
    r"|Could not override .*|Error executing job .*|Segmentation fault.*|slurmstepd: error: .*|.*CUDA out of memory.*)"
)


def last_error(path: Path) -> str | None:
    """Return the last line that tells of an error, in the last 64 KiB of a file; None if there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            tail = file.read(_TAIL)
    except OSError:
        return None
    pieces = Pieces([tail])
    error = None
    while (piece := pieces.next()) is not None:
        line = piece.text.strip()
        error = line if _ERROR.fullmatch(line) else error
    return error
