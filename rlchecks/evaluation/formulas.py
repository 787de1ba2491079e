"""Comparison of formulas within limits of time and memory.

A model may write ``9^{9^{9^9}}``. math-verify's own time limits rest on alarms, which end nothing that hangs inside a C
function and work in no thread but the first, so a process of its own compares, and is ended when it takes too long. It
speaks JSON, one object a line: a pickle from a process that read hostile text could run code here.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

SECONDS = 5.0
"""That one comparison may take."""

MEMORY = 2 << 30
"""Bytes of address space of the process."""

_START = 120.0  # seconds until the library is loaded, which may be compiled first


class Formulas:
    """Compares formulas; the process is started at the first call, and again after each that it did not survive.

    Args:
        seconds: that one comparison may take.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Formulas:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._end()

    def same(self, answer: str, targets: Sequence[str]) -> bool | None:
        """Whether an answer's formula equals one of the targets; None if a target is no formula.

        Raises:
            TimeoutError: it took too long.
            ValueError: it failed, by an error or for want of memory.
        """
        process = self._process or self._begin()
        try:
            found = self._exchange(process, {"answer": answer, "targets": list(targets)})
        except TimeoutError:
            self._end()
            raise TimeoutError(f"it took more than {self._seconds:g} seconds") from None
        except (EOFError, OSError):
            self._end()
            raise ValueError("the process ended, perhaps for want of memory") from None
        if "error" in found:
            raise ValueError(found["error"])
        same: bool | None = found["same"]
        return same

    def _exchange(self, process: subprocess.Popen[bytes], request: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        found: dict[str, Any] = json.loads(_line(process, self._seconds))
        return found

    def _begin(self) -> subprocess.Popen[bytes]:
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the command
        )
        try:
            _line(process, _START)
        except (TimeoutError, EOFError):
            self._end()
            raise ValueError("math-verify could not be loaded") from None
        return process

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.communicate()


def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """The next line; answers are short, so that one read brings all of it."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    if not ready:
        raise TimeoutError
    line = os.read(process.stdout.fileno(), 4096)
    if not line:
        raise EOFError
    return line


def same_formula(answer: str, targets: Sequence[str]) -> bool | None:
    """Whether the formula of an answer equals one of the targets; None if a target is no formula.

    Source: math-verify, https://github.com/huggingface/Math-Verify.
    """
    from math_verify import parse, verify

    gold = [parse(_as_formula(target), parsing_timeout=None) for target in targets]
    if not gold or not all(gold):
        return None
    found = parse(answer, parsing_timeout=None)
    return any(verify(one, found, timeout_seconds=None) for one in gold)


def _as_formula(target: str) -> str:
    return target if "$" in target or "\\boxed" in target else f"${target}$"


def _serve() -> None:
    import resource

    import math_verify  # noqa: F401 - loading takes seconds, and memory that the answers shall not have

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    # Nothing but answers may reach the other side.
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    out.write(b"ready\n")
    for line in sys.stdin.buffer:
        try:
            found: dict[str, Any] = {"same": same_formula(**json.loads(line))}
        except Exception as error:
            found = {"error": type(error).__name__}
        out.write(json.dumps(found).encode() + b"\n")


if __name__ == "__main__":
    _serve()
