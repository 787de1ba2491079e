"""The error of an evaluation that could not be done, or not to its end."""

from __future__ import annotations

from rlchecks.errors import RlchecksError


class EvaluationError(RlchecksError):
    """An endpoint could not be used, or nothing was answered or scored; what was answered is kept."""


def missing_extra() -> EvaluationError:
    """The extra ``inspect`` is not installed."""
    return EvaluationError(
        "Evaluations are run with Inspect AI, which is not installed; pip install 'rlchecks[inspect]'."
    )
