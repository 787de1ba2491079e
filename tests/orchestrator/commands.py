"""Running the toy command in a process of its own, and reading what Prefect's database holds afterwards."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

TOY = Path(__file__).with_name("toy.py")
REPOSITORY = TOY.parents[2]
LIMIT_SECONDS = 300.0
"""Only against hanging; four commands at once on a busy machine take a minute."""


class Command:
    """The toy command, running."""

    def __init__(self, mode: str, home: Path, **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, str(TOY), mode],
            env=kept | {"PREFECT_HOME": str(home), "PYTHONPATH": path} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, word: str) -> None:
        """Read output up to the line that begins with ``word``."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())
            if line.startswith(word):
                return
        raise AssertionError(f"it ended before {word!r}: {self.finish()}")

    def finish(self) -> Ended:
        output, errors = self.process.communicate(timeout=LIMIT_SECONDS)
        return Ended(self.process.returncode, [*self.lines, *output.splitlines()], errors)

    @property
    def server(self) -> int:
        return int(_value(self.lines, "server"))


@dataclass(frozen=True)
class Ended:
    """What a command left."""

    code: int
    lines: list[str]
    errors: str

    @property
    def run(self) -> UUID:
        return UUID(_value(self.lines, "run"))

    @property
    def result(self) -> str:
        return _value(self.lines, "result")


def command(mode: str, home: Path, **environment: str) -> Ended:
    return Command(mode, home, **environment).finish()


def is_running(process: int) -> bool:
    """Whether it runs; a process that has ended and was not collected does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@dataclass(frozen=True)
class Recorded:
    """What the database holds of one flow run."""

    flow: str
    tasks: Counter[str]
    events: Counter[str]
    artifacts: set[str]


def recorded(home: Path, run: UUID) -> Recorded:
    with closing(sqlite3.connect(f"file:{home / 'prefect.db'}?mode=ro", uri=True)) as database:

        def column(statement: str, *parameters: str) -> list[str]:
            return [row[0] for row in database.execute(statement, parameters)]

        key = str(run)
        of_the_run = "select event from events where related like ? and event like 'rlchecks.%'"
        return Recorded(
            flow=column("select state_type from flow_run where id = ?", key)[0],
            tasks=Counter(column("select state_type from task_run where flow_run_id = ?", key)),
            events=Counter(column(of_the_run, f"%prefect.flow-run.{key}%")),
            artifacts=set(column("select key from artifact where flow_run_id = ?", key)),
        )


def _value(lines: list[str], word: str) -> str:
    return next(line for line in lines if line.startswith(word)).partition(" ")[2]
