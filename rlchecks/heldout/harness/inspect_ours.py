"""What ``rlchecks evaluate`` writes into the metadata of the Inspect logs that it makes, beyond what Inspect keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rlchecks.heldout.harness.log import Answer, JudgeFacts, Object
from rlchecks.heldout.harness.marks import name, number
from rlchecks.heldout.harness.shape import items, mapping
from rlchecks.heldout.names import labels

MARK = "rlchecks"


@dataclass
class Ours:
    """The metadata of one log; of a log that another program made nothing is taken from here.

    Attributes:
        checkpoint: what the evaluated model was called in the command.
        instructing: judge to the questions whose answers try to instruct it.
    """

    checkpoint: str | None = None
    instructing: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: Object) -> Ours:
        """From the ``eval`` of a log."""
        return cls(name(mapping(mapping(spec.get("metadata")).get(MARK)).get("checkpoint")))

    def answer(self, answer: Answer, sample: Object) -> Answer:
        """An answer with its checkpoint, category and cluster."""
        if self.checkpoint is None:
            return answer
        score = mapping(mapping(sample.get("scores")).get(answer.judge))
        if items(mapping(score.get("metadata")).get("instructs_judge")):
            self.instructing.setdefault(answer.judge, []).append(name(sample.get("id")) or "?")
        told = mapping(sample.get("metadata"))
        return answer._replace(
            checkpoint=self.checkpoint, category=name(told.get("category")), cluster=name(told.get("cluster"))
        )

    def warnings(self) -> Iterator[str]:
        """One sentence for each judge whom answers try to instruct."""
        for judge, questions in self.instructing.items():
            many = len(questions) > 1
            yield (
                f"{len(questions)} answer{'s try' if many else ' tries'} to instruct the judge {labels([judge])}; read "
                f"what it made of {'them' if many else 'it'} (question{'s' if many else ''} {labels(questions)})."
            )


def with_range(facts: JudgeFacts, options: Object) -> JudgeFacts:
    """Facts on a judge with the range that its options tell, if ``rlchecks evaluate`` wrote them."""
    low, high = number(options.get("low")), number(options.get("high"))
    if MARK not in options or low is None or high is None or not low < high:
        return facts
    return JudgeFacts(
        facts.name,
        facts.kind,
        facts.models,
        facts.settings,
        facts.settings_differ,
        low=low,
        high=high,
        higher_is_better=True,
    )
