"""LLMBar results: a model's verdict on pairs of outputs in both orders, beside the label of experts.

Format: ``Evaluators/evaluate.py`` of princeton-nlp/LLMBar: ``results[].{swap = False, swap = True}.winner`` is ``1`` or
``2`` in the order of the data set, null where the text could not be read; ``label`` is 1 or 2.
"""

from __future__ import annotations

import re

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Object
from rlchecks.heldout.harness.pairwise import LOSS, REFERENCE, WIN, Verdict, settled, turned
from rlchecks.heldout.harness.shape import id_of, items, mapping
from rlchecks.heldout.harness.source import Source

GOLD = "gold"
"""Judge of the experts' labels."""

_KEYS = frozenset({"input", "output_1", "output_2", "label", "results"})
_LABELS = {"1": LOSS, "2": WIN}
_FLAT = re.compile(r".*__evaluators__(.+)__result\.json")


class LlmbarFormat:
    """Reads LLMBar results; the two checkpoints are ``output_1``, the reference, and ``output_2``."""

    name = "llmbar"

    def named(self, name: str) -> bool:
        """No file; a folder of them holds many judges, which are to be named one by one."""
        return False

    def detect(self, source: Source) -> bool:
        """Objects with two outputs, a label and results."""
        return source.opening.keys() >= _KEYS

    def read(self, source: Source) -> EvalLog:
        """Read the verdicts of one judge, and the labels as those of the judge ``gold``.

        Raises:
            InputError: an entry lacks its input.
        """
        judge = _judge(source)
        answers: list[Answer] = []
        verdicts = []
        for place, item in source.objects():
            texts = [item.get(key) for key in ("input", "output_1", "output_2")]
            if not all(isinstance(text, str) for text in texts):
                raise source.error("the entry lacks its input or an output", place, "write the results again")
            verdict, swapped = _verdicts(item)
            verdicts.append((verdict, swapped))
            label = _LABELS.get(str(item.get("label")))
            two = Answer(
                id_of("\0".join(map(str, texts))),
                judge,
                settled(verdict, swapped),
                place,
                checkpoint="output_2",
                answer=texts[2],
                prompt=texts[0],
            )
            one = two._replace(score=REFERENCE, checkpoint="output_1", answer=texts[1], implied=True)
            gold = two._replace(judge=GOLD, score=label, implied=True)
            answers += [one, two, one._replace(judge=GOLD), gold]
        said = (
            f"{source.path.name}: {turned(verdicts)} of {len(verdicts)} verdicts change with the order of the answers"
        )
        facts = (JudgeFacts(judge, "model", low=0.0, high=1.0), JudgeFacts(GOLD, "human", low=0.0, high=1.0))
        return EvalLog(self.name, answers, judges=facts, warnings=(f"{said} and count as ties.",))


def _judge(source: Source) -> str:
    """Model and prompt: the last directories of ``evaluators/<model>/<prompt>/result.json``."""
    flat = _FLAT.fullmatch(source.path.name)
    if flat:
        return flat[1].replace("__", "/")
    parts = source.path.absolute().parts[-3:-1]
    return "/".join(parts) if source.path.name == "result.json" else source.path.stem


def _verdicts(item: Object) -> tuple[Verdict, Verdict]:
    runs = items(item.get("results"))
    run = mapping(runs[0]) if runs else {}
    names: dict[object, Verdict] = {"1": "other", "2": "one"}
    first, swapped = (mapping(run.get(f"swap = {swap}")).get("winner") for swap in (False, True))
    return names.get(str(first)), names.get(str(swapped))
