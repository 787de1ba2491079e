"""Answers of a countdown evaluation: ``<checkpoint>/eval_samples.jsonl``.

Format: files of beibeizzz/countdown_post_train: ``id``, ``prompt``, ``raw_generation``, ``correct``, ``truncated``.
"""

from __future__ import annotations

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts
from rlchecks.heldout.harness.marks import name, number
from rlchecks.heldout.harness.shape import fingerprint
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import label

_JUDGE = "correct"
_FILE = "eval_samples.jsonl"


class CountdownFormat:
    """Reads countdown samples; the rule ``correct`` is the judge."""

    name = "countdown"

    def named(self, name: str) -> bool:
        """The samples, by their name."""
        return name == _FILE

    def detect(self, source: Source) -> bool:
        """Lines with id, prompt, generation and whether it is correct."""
        return source.kind == "lines" and source.opening.keys() >= {"id", "prompt", "raw_generation", "correct"}

    def read(self, source: Source) -> EvalLog:
        """Read the samples.

        Raises:
            InputError: a line is damaged or has no id.
        """
        answers: list[Answer] = []
        cut = 0
        for place, item in source.objects():
            question = name(item.get("id"))
            if question is None:
                raise source.error("the sample has no id", place, "evaluate again")
            cut += item.get("truncated") is True
            answers.append(
                Answer(
                    question,
                    _JUDGE,
                    number(item.get("correct")),
                    place,
                    answer=item.get("raw_generation"),
                    prompt=item.get("prompt"),
                    same=fingerprint(item.get("prompt")),
                )
            )
        model = source.path.parent.name if source.path.name == _FILE else None
        whose = f"{label(model)}: " if model else ""
        text = f"{whose}{source.path.name}: {cut} of {len(answers)} answers were cut off at the length limit."
        said = (text,) if cut else ()
        return EvalLog(self.name, answers, model, judges=(JudgeFacts(_JUDGE, "rule"),), warnings=said)
