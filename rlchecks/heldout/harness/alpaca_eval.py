"""AlpacaEval annotations: a judge's preference between a reference's output and a model's.

Format: ``src/alpaca_eval/metrics/winrate.py`` and ``annotators/pairwise_evaluator.py`` of tatsu-lab/alpaca_eval.
``preference`` is 1 if output 1, the reference, is better, 2 if output 2 is, 1.5 for a draw, in between with weights;
0 is a draw of older versions; null where the judge's text could not be read. The win rate is its mean minus 1.
"""

from __future__ import annotations

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts
from rlchecks.heldout.harness.marks import name, number, unscored
from rlchecks.heldout.harness.pairwise import REFERENCE, TIE
from rlchecks.heldout.harness.shape import id_of
from rlchecks.heldout.harness.source import Source

_KEYS = frozenset({"instruction", "output_1", "output_2", "preference"})


class AlpacaEvalFormat:
    """Reads AlpacaEval annotations."""

    name = "alpaca_eval"

    def named(self, name: str) -> bool:
        """The annotations, by the name that AlpacaEval gives them."""
        return name == "annotations.json"

    def detect(self, source: Source) -> bool:
        """Objects with an instruction, two outputs and a preference."""
        return source.opening.keys() >= _KEYS

    def read(self, source: Source) -> EvalLog:
        """Read the annotations: the model has its share of a win, the reference one half.

        Raises:
            InputError: an annotation lacks its instruction, or a preference lies outside 1 to 2.
        """
        answers: list[Answer] = []
        seen: dict[str, int] = {}
        for place, item in source.objects():
            instruction = item.get("instruction")
            if not isinstance(instruction, str):
                raise source.error("the annotation has no instruction", place, "write the annotations again")
            judge = name(item.get("annotator")) or "preference"
            model = name(item.get("generator_2")) or "output_2"
            # An instruction may stand twice in a set; the order tells its places apart.
            key = f"{model}\0{judge}\0{instruction}"
            seen[key] = seen.get(key, 0) + 1
            question = id_of(instruction) + (f"#{seen[key]}" if seen[key] > 1 else "")
            answer = Answer(
                question,
                judge,
                _score(item.get("preference"), place, source),
                place,
                checkpoint=model,
                answer=item.get("output_2"),
                prompt=instruction,
                category=name(item.get("dataset")),
                same=id_of(instruction),
            )
            reference = name(item.get("generator_1")) or "output_1"
            if reference == model:
                raise source.error("both outputs are of the same model", place, "compare it with another reference")
            # Another reference is another judge: its win rates are on another scale.
            answers.append(answer._replace(judge=f"{judge} vs {reference}"))
            answers.append(
                answers[-1]._replace(score=REFERENCE, checkpoint=reference, answer=item.get("output_1"), implied=True)
            )
        judges = dict.fromkeys(answer.judge for answer in answers)
        facts = tuple(JudgeFacts(judge, "model", (judge.split(" vs ")[0],), low=0.0, high=1.0) for judge in judges)
        return EvalLog(self.name, answers, judges=facts)


def _score(preference: object, place: str, source: Source) -> float | None:
    if unscored(preference):
        return None
    found = number(preference)
    if found == 0.0:
        return TIE
    if found is None or isinstance(preference, bool) or not 1.0 <= found <= 2.0:
        problem = f"preference is {ascii(preference)[:40]}, expected 1 to 2 or null"
        raise source.error(problem, place, "write the annotations again")
    return found - 1.0
