"""Where the files of the checkpoints are that a gate compares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlchecks.checkpoint import Checkpoint, candidate_checkpoint, checkpoint_identity
from rlchecks.errors import UsageError
from rlchecks.requests import GateRequest


def candidate_files(request: GateRequest, candidate: str) -> Checkpoint | None:
    """Find the candidate's files: where the user said they are, or in the run's directory; None if they are not.

    Raises:
        UsageError: they shall be promoted, and are not there.
    """
    if request.checkpoint is not None:
        return checkpoint_identity(request.checkpoint)
    found = files_in_run(request, candidate)
    if request.promote is not None and found is None:
        raise UsageError(
            f"The files of candidate {candidate!r} are not in {request.run}, so that nothing could be promoted; "
            "say where they are with --checkpoint."
        )
    return found


def files_in_run(request: GateRequest, name: str) -> Checkpoint | None:
    """Find a checkpoint's files in the run's directory."""
    path = candidate_checkpoint(Path(request.run), name)
    return None if path is None else checkpoint_identity(path)


def hash_of(checkpoint: Checkpoint | None) -> str | None:
    """The hash of a checkpoint's files; None if they are not known."""
    return None if checkpoint is None else checkpoint.sha256


def checkpoint_document(request: GateRequest, candidate: str, checkpoint: Checkpoint | None) -> dict[str, Any] | None:
    """The candidate's files, at the place where the user said they are: an absolute one tells readers nothing."""
    if checkpoint is None:
        return None
    return checkpoint._asdict() | {"uri": request.checkpoint or str(Path(request.run) / candidate)}
