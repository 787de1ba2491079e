"""One process at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rlchecks.orchestrator.turns import turn

HOLD = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_it_waits_for_the_other_process_and_then_runs(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdin is not None
    assert other.stdout.readline() == "held\n"
    asked = 0

    def give_up() -> bool:
        nonlocal asked
        asked += 1
        if asked == 3:
            other.kill()
        return False

    with turn(lock, give_up=give_up):
        assert asked >= 3
    other.communicate()


def test_it_gives_up_when_told(tmp_path: Path) -> None:
    ran = False
    with turn(tmp_path / "lock", give_up=lambda: False), turn(tmp_path / "lock", give_up=lambda: True):
        ran = True
    assert ran


def test_a_directory_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), turn(tmp_path / "none" / "lock", give_up=lambda: False):
        pass
