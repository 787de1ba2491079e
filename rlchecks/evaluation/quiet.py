"""Inspect AI without what it does to a process: log handlers, an exception hook, files in the user's home."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "INSPECT_"


@contextmanager
def quiet(work: Path) -> Iterator[None]:
    """Let Inspect run inside the block.

    Its traces and caches go below ``work``; the user's ``INSPECT_*`` variables, which would change what an evaluation
    does without being seen in its command, do not count. (A ``.env`` file that Inspect finds sets variables only until
    the end of the block.)

    Args:
        work: directory for its own files, which goes with the block.
    """
    work.mkdir(parents=True, exist_ok=True)
    place = str(work.resolve())
    before, root = dict(os.environ), logging.getLogger()
    handlers, level, hook = list(root.handlers), root.level, sys.excepthook
    for name in [name for name in before if name.startswith(_PREFIX)]:
        del os.environ[name]
    os.environ.update(XDG_DATA_HOME=place, XDG_CACHE_HOME=place, INSPECT_TRACE_FILE=str(work.resolve() / "trace.log"))
    try:
        with warnings.catch_warnings():
            # Of a server's answer with fields of a wrong type; what cannot be used is refused where it is read.
            warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
            yield
    finally:
        for handler in [one for one in root.handlers if one not in handlers]:
            root.removeHandler(handler)
        root.setLevel(level)
        sys.excepthook = hook
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(work, ignore_errors=True)
