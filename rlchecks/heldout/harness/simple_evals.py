"""Results of openai/simple-evals, which have no question ids and therefore cannot be paired."""

from __future__ import annotations

from rlchecks.heldout.harness.log import EvalLog
from rlchecks.heldout.harness.source import Source


class SimpleEvalsFormat:
    """Refuses simple-evals with the reason (``common.py`` of openai/simple-evals, ``SingleEvalResult``)."""

    name = "simple_evals"

    def named(self, name: str) -> bool:
        """No file."""
        return False

    def detect(self, source: Source) -> bool:
        """A document with the score, its metrics and pages, but no questions."""
        return source.kind == "document" and source.opening.keys() >= {"score", "metrics", "htmls", "convos"}

    def read(self, source: Source) -> EvalLog:
        """Refuse.

        Raises:
            InputError: always.
        """
        problem = "simple-evals results have no question ids, so that two of them cannot be compared by question"
        raise source.error(problem, todo="evaluate with Inspect AI or lm-evaluation-harness, or write held-out rows")
