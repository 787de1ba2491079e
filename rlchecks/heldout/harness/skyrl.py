"""SkyRL's dumped evaluations: ``dumped_evals/global_step_<n>_evals/<data set>.jsonl``.

Format: ``dump_per_dataset_eval_results`` in ``skyrl/train/utils/trainer_utils.py`` of NovaSky-AI/SkyRL: ``score`` is a
number, or one for each token, of which the sum is the answer's reward.
"""

from __future__ import annotations

import re

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts
from rlchecks.heldout.harness.marks import name, number
from rlchecks.heldout.harness.shape import fingerprint, id_of
from rlchecks.heldout.harness.source import Source

_JUDGE = "score"
_PLACE = re.compile(r"(?:global_)?step_(\d{1,15})_evals")


class SkyrlFormat:
    """Reads dumped evaluations of SkyRL; the environment's ``score`` is the judge."""

    name = "skyrl"
    summaries = frozenset({"aggregated_results.jsonl"})

    def named(self, name: str) -> bool:
        """No file; the names are those of data sets."""
        return False

    def detect(self, source: Source) -> bool:
        """Lines with prompt, response and score."""
        return source.kind == "lines" and source.opening.keys() >= {"input_prompt", "output_response", "score"}

    def read(self, source: Source) -> EvalLog:
        """Read the answers; answers to the same prompt are repeats.

        Raises:
            InputError: a line is damaged or has no prompt.
        """
        answers: list[Answer] = []
        repeats: dict[str, int] = {}
        for place, item in source.objects():
            prompt = item.get("input_prompt")
            if not isinstance(prompt, str):
                raise source.error("the line has no input_prompt", place, "evaluate again")
            question = id_of(prompt)
            repeats[question] = repeats.get(question, -1) + 1
            answers.append(
                Answer(
                    question,
                    _JUDGE,
                    _score(item.get("score")),
                    place,
                    epoch=repeats[question],
                    answer=item.get("output_response"),
                    prompt=prompt,
                    category=name(item.get("data_source")),
                    same=fingerprint(prompt),
                )
            )
        place_ = _PLACE.fullmatch(source.path.parent.name)
        model = f"global_step_{place_[1]}" if place_ else None
        return EvalLog(self.name, answers, model, judges=(JudgeFacts(_JUDGE),))


def _score(value: object) -> float | None:
    if not isinstance(value, list):
        return number(value)
    found = [number(one) for one in value]
    return None if not found or None in found else number(sum(one for one in found if one is not None))
