"""When the next try of a call is due, and when a model's connections may be closed."""

from __future__ import annotations

import random
from collections.abc import Callable

from inspect_ai.model import Model
from tenacity import RetryCallState
from tenacity.wait import wait_base

from rlchecks.evaluation.traffic import CallFailed

LONGEST_WAIT = 60.0
"""Seconds between two tries where the server does not ask for more."""

MOST_OBEYED = 600.0
"""Seconds of ``Retry-After`` that are obeyed at most."""


class Waiting(wait_base):
    """Exponential back-off with jitter, and never less than the server asks for.

    Args:
        first: seconds before the first repeat.
    """

    def __init__(self, first: float) -> None:
        self._first = first

    def __call__(self, retry_state: RetryCallState) -> float:
        """Seconds to wait."""
        backoff = min(LONGEST_WAIT, self._first * 2 ** min(retry_state.attempt_number - 1, 30))
        error = None if retry_state.outcome is None else retry_state.outcome.exception()
        asked = error.wait if isinstance(error, CallFailed) and error.wait is not None else 0.0
        # Not to be called on again by everybody at one moment.
        return max(float(random.uniform(0.5, 1.0) * backoff), min(asked, MOST_OBEYED))


class Closing:
    """Closes a model's connections after the last call, in the event loop that opened them.

    Args:
        model: the model; None: there is nothing to close.
        calls: how many callers there are.
        done: called after each.
    """

    def __init__(self, model: Model | None, calls: int, done: Callable[[], None]) -> None:
        self._model = model
        self._left = calls
        self._done = done

    async def one_done(self) -> None:
        """A caller has ended."""
        self._left -= 1
        self._done()
        if self._left == 0 and self._model is not None:
            await self._model.api.aclose()
