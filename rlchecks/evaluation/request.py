"""What a user asks of an evaluation: plain values, so that they survive a command line, a form and a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlchecks.errors import UsageError

CONNECTIONS = 10
MAX_TOKENS = 1024
JUDGE_MAX_TOKENS = 2048
SCALE = "0..10"
TIMEOUT = 120
RETRIES = 6
BACKOFF = 2.0


@dataclass(frozen=True)
class EvaluateRequest:
    """One evaluation.

    Attributes:
        out: directory of the logs, and of what a repeated command takes up again.
        judges: ``[NAME=]KIND[:ARGUMENT]``, see :mod:`rlchecks.evaluation.specs`.
        questions: file with the held-out questions; None if the answers in ``out`` are judged again.
        models: ``NAME=MODEL@BASE_URL`` each.
        rejudge: judge the answers in ``out`` once more instead of asking.
        columns: the file's own column to what it is, such as ``id`` to ``question_id``.
        key_env: environment variables with API keys: ``VAR`` for every endpoint, ``NAME=VAR`` for one of them.
        rubric: file with what a model judge shall look at; None: correct, complete and to the point.
        scale: smallest and largest score of a model judge, ``LOW..HIGH``.
        temperature: 0 takes the likeliest token always.
        top_p: probability mass that tokens are drawn from; None: the server's default.
        max_tokens: longest answer, in tokens.
        epochs: answers to each question.
        seed: of the first answer to a question; the others take the following numbers.
        stop: texts that end an answer.
        judge_max_tokens: longest verdict of a model judge, in tokens.
        connections: calls at one time to one endpoint.
        timeout: seconds that one call may take.
        retries: how often a call that failed is made again.
        backoff: seconds before the first of them; they double from one to the next.
    """

    out: str
    judges: tuple[str, ...]
    questions: str | None = None
    models: tuple[str, ...] = ()
    rejudge: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    key_env: tuple[str, ...] = ()
    rubric: str | None = None
    scale: str = SCALE
    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int = MAX_TOKENS
    epochs: int = 1
    seed: int | None = None
    stop: tuple[str, ...] = ()
    judge_max_tokens: int = JUDGE_MAX_TOKENS
    connections: int = CONNECTIONS
    timeout: int = TIMEOUT
    retries: int = RETRIES
    backoff: float = BACKOFF

    def __post_init__(self) -> None:
        """Check what can be told without looking at any file.

        Raises:
            UsageError: something is missing, empty, out of its range or contradicts something else.
        """
        if not self.out.strip():
            raise UsageError("The output directory is empty; give --out DIR.")
        if not self.judges:
            raise UsageError(
                "Who shall judge? Give --judge exact, numeric, math, choice, regex:..., model:... or python:...."
            )
        if self.rejudge and (self.models or self.questions is not None):
            raise UsageError("--rejudge takes the answers that are in its directory; leave out QUESTIONS and --model.")
        if not self.rejudge and (self.questions is None or not self.questions.strip()):
            raise UsageError(
                "Which questions? Give a JSON Lines, CSV or Parquet file with question_id, prompt and target."
            )
        if not self.rejudge and not self.models:
            raise UsageError("Which models? Give --model NAME=MODEL@BASE_URL, once for each checkpoint.")
        if self.epochs > 1 and self.temperature == 0:
            raise UsageError("At temperature 0 every repeat gives the same answer; give --temperature or one epoch.")
        if not 0 <= self.temperature <= 5:
            raise UsageError(f"--temperature {self.temperature:g}: expected a number from 0 to 5.")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise UsageError(f"--top-p {self.top_p:g}: expected a number above 0, at most 1.")
        for name in ("max_tokens", "judge_max_tokens", "epochs", "connections", "timeout"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name.replace('_', '-')}: expected at least 1.")
        if self.retries < 0 or not 0 <= self.backoff <= 600:
            raise UsageError("--retries: expected 0 or more, with a first wait of 0 to 600 seconds.")
