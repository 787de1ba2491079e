"""Starting and stopping Prefect's temporary server from the command that needs it."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from typing import IO

from rlchecks.errors import OrchestratorError
from rlchecks.orchestrator.environment import bypass_proxy
from rlchecks.orchestrator.temporary import CONFIGURED, READY, SCHEDULING, UNSUPPORTED

__all__ = ["CONFIGURED", "READY", "UNSUPPORTED", "TemporaryServer"]

_HOST = "127.0.0.1"
_PROGRAM = "rlchecks.orchestrator.temporary"
# Where Prefect's own server listens.
_USUAL_PORT = 4200
_STOP_SECONDS = 5.0


class TemporaryServer:
    """A Prefect server that lives as long as this command; ``start`` returns at once.

    Attributes:
        url: where its API will be, known before it answers.
    """

    def __init__(self, url: str, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self.url = url
        self._process = process
        self._errors = errors

    @classmethod
    def start(cls, *, scheduling: bool = False) -> TemporaryServer:
        """Start the process; needs neither Prefect nor any other heavy import in this one.

        Args:
            scheduling: with the services of a permanent server, such as the scheduler, and with the user interface.

        Raises:
            OrchestratorError: this machine gives no port or no process.
        """
        bypass_proxy(_HOST)
        # Python's own path, since the child must find what this process finds, and nothing else (see temporary.py).
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
            "PYTHONSAFEPATH": "1",
        }
        # Closed by stop(), when the last error may have been read from it.
        errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            with _listener(_USUAL_PORT if scheduling else 0) as listener:
                url = f"http://{_HOST}:{listener.getsockname()[1]}/api"
                process = subprocess.Popen(
                    [sys.executable, "-m", _PROGRAM, str(listener.fileno()), *([SCHEDULING] if scheduling else [])],
                    env={"PREFECT_SERVER_UI_API_URL": url, **environment},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    pass_fds=[listener.fileno()],
                    start_new_session=True,
                )
        except OSError as error:
            errors.close()
            raise OrchestratorError(f"Prefect's temporary server cannot be started: {error}; use --local.") from error
        return cls(url, process, errors)

    def wait(self, timeout: float) -> str:
        """Wait for its answer: ``READY``, ``CONFIGURED`` or ``UNSUPPORTED``.

        Args:
            timeout: seconds, counted from now.

        Raises:
            OrchestratorError: it ended without an answer, or gave none in time.
        """
        assert self._process.stdout is not None
        answered, _, _ = select.select([self._process.stdout], [], [], timeout)
        if not answered:
            raise OrchestratorError(f"Prefect's temporary server did not start within {timeout:.0f} s; try --local.")
        line = self._process.stdout.readline()
        if not line:
            raise OrchestratorError(
                f"Prefect's temporary server did not start: {self._last_error()}; "
                "make PREFECT_HOME a directory that can be written, set PREFECT_API_URL, or use --local."
            )
        answer: str = json.loads(line)["answer"]
        return answer

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process, gently for 5 s, and collect it. Safe to call twice."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        if self.alive:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._errors.close()

    def _last_error(self) -> str:
        # Give the process the moment between closing its output and ending, then read what it said last.
        deadline = time.monotonic() + 1
        while self.alive and time.monotonic() < deadline:
            time.sleep(0.01)
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        return lines[-1] if lines else "it said nothing"


def _listener(port: int) -> socket.socket:
    """Listen on the port, or on any other if it is taken."""
    try:
        return socket.create_server((_HOST, port), backlog=128)
    except OSError:
        return socket.create_server((_HOST, 0), backlog=128)
