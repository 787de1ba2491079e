"""Whole commands, measured from outside: wall time, and the memory of all their processes together."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """Wall time in seconds; largest sum of the resident sets of a command and its children, in MiB (Linux)."""

    seconds: float
    mebibytes: float


def measure(command: list[str], **environment: str) -> Measured:
    """Run a command to its end; its output is thrown away, and an exit code of 3 or more is an error."""
    peak = 0.0
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )

    def watch() -> None:
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, sum(_resident(one) for one in _tree(process.pid)))
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    errors = process.stderr.read() if process.stderr else ""
    process.wait()
    seconds = time.perf_counter() - begun
    watcher.join()
    if process.returncode >= 3:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {errors}")
    return Measured(seconds, peak)


def _tree(root: int) -> list[int]:
    found = [root]
    for one in found:
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _resident(process: int) -> float:
    # Proportional: pages that processes share count once.
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass
    return 0.0
