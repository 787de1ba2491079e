"""What a reader of evaluation logs returns: scored answers, who scored them, and what was odd."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Answer(NamedTuple):
    """One score of one answer.

    Attributes:
        question_id: the question, unique within the evaluation.
        judge: who scored, by a name that does not depend on the checkpoint.
        score: the score, None if unscored.
        where: where in the file this stands.
        checkpoint: the evaluated model, if the file names it answer by answer.
        step: its training step, if the file names it; else its name may tell.
        epoch: number of the repeat.
        decoding: how the answer was sampled.
        answer: the answer.
        prompt: what was asked.
        target: the reference answer.
        category: kind of question.
        cluster: what several questions have in common, so that they are not independent.
        same: a text that is the same exactly if the question is the same, such as a hash of the prompt.
        implied: the score follows from the format and may stand in several files, such as the reference's.
    """

    question_id: str
    judge: str
    score: float | None
    where: str
    checkpoint: str | None = None
    step: int | None = None
    epoch: int | None = None
    decoding: str | None = None
    answer: object = None
    prompt: object = None
    target: object = None
    category: str | None = None
    cluster: str | None = None
    same: str | None = None
    implied: bool = False


@dataclass(frozen=True)
class JudgeFacts:
    """What evaluation logs tell of a judge.

    Attributes:
        name: its name in the rows.
        kind: ``rule``, ``model`` or ``human``; None if the logs do not tell.
        models: the models that judge, for kind ``model``.
        settings: its rubric or options as text.
        settings_differ: two logs have different ones, so that they had two judges of one name.
        low: smallest possible score, None if the logs do not tell.
        high: largest possible score, None if the logs do not tell.
        higher_is_better: direction, None if the logs do not tell.
    """

    name: str
    kind: str | None = None
    models: tuple[str, ...] = ()
    settings: str | None = None
    settings_differ: bool = False
    low: float | None = None
    high: float | None = None
    higher_is_better: bool | None = None

    def merged(self, other: JudgeFacts) -> JudgeFacts:
        """The facts of two logs on one judge; where they contradict each other, nothing is known.

        Of contradicting directions "lower is better" is kept, since it has to be confirmed by whoever compares.
        """
        same_range = (self.low, self.high) == (other.low, other.high)
        directions = [found for found in (self.higher_is_better, other.higher_is_better) if found is not None]
        return JudgeFacts(
            self.name,
            self.kind if self.kind == other.kind else None,
            tuple(dict.fromkeys(self.models + other.models)),
            self.settings or other.settings,
            self.settings_differ
            or other.settings_differ
            or (None not in (self.settings, other.settings) and self.settings != other.settings),
            self.low if same_range else None,
            self.high if same_range else None,
            min(directions, default=None),
        )


@dataclass(frozen=True)
class EvalLog:
    """One evaluation log.

    Attributes:
        format: name of the format.
        answers: the scored answers.
        model: the evaluated model, if the file names one for all answers.
        judges: what is told of the judges.
        warnings: what a person should know, one sentence each.
    """

    format: str
    answers: list[Answer]
    model: str | None = None
    judges: tuple[JudgeFacts, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass
class Unscored:
    """Counts the values that are no scores, to be told in one sentence a judge."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, judge: str, shown: str) -> None:
        """Count one value of a judge."""
        key = judge, shown
        if key in self.counts or len(self.counts) < _KINDS:
            self.counts[key] = self.counts.get(key, 0) + 1

    def warnings(self) -> Iterable[str]:
        """One sentence for each judge and value."""
        for (judge, shown), count in self.counts.items():
            what = "1 value" if count == 1 else f"{count} values"
            yield f"{what} of {judge} ({shown}) cannot be read as a score and count as unscored."


_KINDS = 20

Object = Mapping[str, object]
"""A JSON object."""
