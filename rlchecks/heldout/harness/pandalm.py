"""PandaLM test set: verdicts of three persons, and of models, on pairs of responses.

Format: ``data/testset-v1.json`` of WeOpenML/PandaLM: ``annotator1`` to ``annotator3`` are 1 or 2 for the better
response and 0 for a tie; the models' files have ``<judge>_result``, as number or text, ``Tie``, or ``garbage`` where
the verdict could not be read. Pairs were judged in one order only.
"""

from __future__ import annotations

import re

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts
from rlchecks.heldout.harness.marks import name
from rlchecks.heldout.harness.pairwise import LOSS, REFERENCE, TIE, WIN
from rlchecks.heldout.harness.source import Source

_SCORES = {"0": TIE, "tie": TIE, "1": LOSS, "2": WIN}
_HUMAN = re.compile(r"annotator\d+")
_MODEL = re.compile(r"(.+)_result")


class PandalmFormat:
    """Reads PandaLM verdicts; the two checkpoints are ``response1``, the reference, and ``response2``."""

    name = "pandalm"

    def named(self, name: str) -> bool:
        """No file; a folder of them holds many judges, which are to be named one by one."""
        return False

    def detect(self, source: Source) -> bool:
        """Objects with an ``idx`` and verdicts of persons or of a model with its reason."""
        found = source.opening
        return "idx" in found and (
            found.keys() >= {"response1", "response2", "annotator1"}
            or any(_MODEL.fullmatch(key) and f"{key.removesuffix('_result')}_reason" in found for key in found)
        )

    def read(self, source: Source) -> EvalLog:
        """Read the verdicts of all judges in the file.

        Raises:
            InputError: an entry lacks its ``idx``.
        """
        answers: list[Answer] = []
        kinds: dict[str, str] = {}
        unread = 0
        for place, item in source.objects():
            question = name(item.get("idx"))
            if question is None:
                raise source.error("the entry lacks its idx", place, "write the verdicts again")
            for key, value in item.items():
                model = _MODEL.fullmatch(key)
                if not (model or _HUMAN.fullmatch(key)):
                    continue
                judge = model[1] if model else key
                kinds[judge] = "model" if model else "human"
                score = _SCORES.get(str(value).lower())
                unread += score is None
                prompt = [item.get(part) for part in ("instruction", "input") if isinstance(item.get(part), str)]
                two = Answer(
                    question,
                    judge,
                    score,
                    place,
                    checkpoint="response2",
                    answer=item.get("response2"),
                    prompt="\n".join(map(str, prompt)) or None,
                )
                one = two._replace(score=REFERENCE, checkpoint="response1", answer=item.get("response1"), implied=True)
                answers += [one, two]
        said = [f"{source.path.name}: each pair was judged in one order only."]
        if unread:
            said.append(f"{source.path.name}: {unread} verdicts cannot be read and count as unscored.")
        facts = tuple(JudgeFacts(judge, kind, low=0.0, high=1.0) for judge, kind in kinds.items())
        return EvalLog(self.name, answers, judges=facts, warnings=tuple(said))
