"""verifiers: ``results.jsonl`` with ``metadata.json`` beside it.

Format: ``verifiers/utils/save_utils.py`` of PrimeIntellect-ai/verifiers 0.1.11 (``state_to_output``) and
``verifiers/scripts/eval.py`` of 0.1.5, where the example is called ``id``: a line for each rollout. A rollout that
failed has an ``error``, and 0 as its reward.
"""

from __future__ import annotations

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts
from rlchecks.heldout.harness.marks import decoding, name, number
from rlchecks.heldout.harness.shape import fingerprint, mapping
from rlchecks.heldout.harness.source import Source

_JUDGE = "reward"
_IDS = ("example_id", "id")


class VerifiersFormat:
    """Reads saved evaluations of verifiers; ``reward`` is the judge."""

    name = "verifiers"

    def named(self, name: str) -> bool:
        """The results, by the name that verifiers gives them."""
        return name == "results.jsonl"

    def detect(self, source: Source) -> bool:
        """Lines with example, completion and reward."""
        keys = source.opening.keys()
        return source.kind == "lines" and keys >= {"completion", "reward"} and not keys.isdisjoint(_IDS)

    def read(self, source: Source) -> EvalLog:
        """Read the rollouts.

        Raises:
            InputError: a line is damaged or has no example.
        """
        beside = source.beside("metadata.json")
        about = mapping(beside.document if beside else None)
        arguments = mapping(about.get("sampling_args"))
        sampled = decoding(arguments.get("temperature"))
        answers: list[Answer] = []
        repeats: dict[str, int] = {}
        for place, item in source.objects():
            task, example = name(item.get("task")), name(item.get("example_id", item.get("id")))
            if example is None:
                raise source.error("the rollout has no example_id", place, "evaluate again")
            question = f"{task}/{example}" if task else example
            repeats[question] = repeats.get(question, -1) + 1
            answers.append(
                Answer(
                    question,
                    _JUDGE,
                    None if item.get("error") else number(item.get("reward")),
                    place,
                    epoch=repeats[question],
                    decoding=sampled,
                    answer=item.get("completion"),
                    prompt=item.get("prompt"),
                    target=item.get("answer"),
                    category=task,
                    same=fingerprint(item.get("prompt"), item.get("answer")),
                )
            )
        return EvalLog(self.name, answers, name(about.get("model")), judges=(JudgeFacts(_JUDGE),))
