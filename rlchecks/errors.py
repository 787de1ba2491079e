"""The errors rlchecks raises on purpose: each is one clear sentence, and each ends a command with exit code 3.

RlchecksError
├── UsageError           the call itself is wrong (an option, a name that does not exist)
├── InputError           a file cannot be used: which one, where in it, what was expected, what to do
│   └── NotARunError     the file is readable but holds no reinforcement-learning run
├── SuiteError           an expectation suite or findings.toml is not usable
├── ArchiveError         the archive refused (a run id that collides, a statement that is no SELECT, ...)
│   └── OlderCopyError   the archive has the run up to a later step
└── OrchestratorError    Prefect could not be reached or lost what it was told
"""

from __future__ import annotations

from pathlib import Path


class RlchecksError(Exception):
    """Base of every error raised on purpose; ``str()`` is the sentence shown to the user."""


class UsageError(RlchecksError):
    """The call is wrong: an unknown name, a missing or contradictory option."""


class InputError(RlchecksError):
    """An input file cannot be used.

    Args:
        problem: what is wrong and what was expected, without a final full stop.
        path: the file.
        where: the line, key or row in it, such as ``line 12`` or ``log_history[3].step``.
        todo: what the user can do about it.
    """

    def __init__(
        self, problem: str, *, path: str | Path | None = None, where: str | None = None, todo: str | None = None
    ) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        self.where = where
        self.todo = todo
        place = ", ".join(part for part in (self.path, where) if part)
        sentence = f"{place}: {problem}" if place else problem
        super().__init__(f"{sentence}; {todo}." if todo else f"{sentence}.")

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling between worker processes.
        return (_rebuild_input_error, (type(self), self.problem, self.path, self.where, self.todo))


class NotARunError(InputError):
    """The file could be read, but it holds no run of reinforcement learning."""


class SuiteError(RlchecksError):
    """A suite or its parameters are unusable: unknown signal, unknown type, empty, contradictory severity."""


class ArchiveError(RlchecksError):
    """The archive refused an operation, or what it holds is not what it should be."""


class OlderCopyError(ArchiveError):
    """A log is an earlier state of an archived run."""


class OrchestratorError(RlchecksError):
    """The orchestrator could not be reached, or did not keep what it was told."""


def _rebuild_input_error(
    kind: type[InputError], problem: str, path: str | None, where: str | None, todo: str | None
) -> InputError:
    return kind(problem, path=path, where=where, todo=todo)
