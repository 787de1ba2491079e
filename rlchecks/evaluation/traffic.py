"""What the calls of one endpoint cost, and whether it can be used at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlchecks.evaluation.journal import Journal
from rlchecks.evaluation.specs import Endpoint


@dataclass
class Traffic:
    """An endpoint while an evaluation runs.

    Attributes:
        endpoint: where it is.
        journal: what it answered so far.
        backoff: seconds before the first repeat of a failed call.
        calls: calls made, the failed ones included.
        reused: answers that were there already.
        failed: calls that brought no answer.
        tokens_in: tokens of the prompts, as the server counts them.
        tokens_out: tokens of the answers.
        unmetered: answers for which the server told no tokens.
        fatal: why no further call can succeed; None while it can.
    """

    endpoint: Endpoint
    journal: Journal
    backoff: float
    calls: int = 0
    reused: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unmetered: int = 0
    fatal: str | None = None

    def cost(self) -> dict[str, Any]:
        """The counts, for a document."""
        names = ("calls", "reused", "failed", "tokens_in", "tokens_out", "unmetered")
        return {name: getattr(self, name) for name in names}


class CallFailed(Exception):  # noqa: N818 - an outcome, often followed by a repeat
    """A call brought no answer.

    Args:
        reason: why, in a few words.
        again: whether a repeat may help.
        wait: seconds that the server asks to wait, at least.
        limited: whether the server limits the rate.
        lost: whether nobody listens at the address.
    """

    def __init__(
        self, reason: str, again: bool = False, wait: float | None = None, *, limited: bool = False, lost: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.wait = wait
        self.limited = limited
        self.lost = lost
