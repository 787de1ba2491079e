"""MT-bench single-answer judgements of FastChat: ``model_judgment/<judge>_single.jsonl``.

Format: ``fastchat/llm_judge/common.py`` (``play_a_match_single``: a score of -1 where no rating was found) and
``gen_judgment.py`` (judgements are appended when it runs again) of lm-sys/FastChat. Ratings go from 1 to 10.
"""

from __future__ import annotations

import re

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Object
from rlchecks.heldout.harness.marks import name, number, unscored, whole
from rlchecks.heldout.harness.self_judged import others_only
from rlchecks.heldout.harness.shape import fingerprint, items
from rlchecks.heldout.harness.source import Source

LOW, HIGH = 1.0, 10.0
_KEYS = frozenset({"question_id", "model", "judge", "score", "turn"})
_FAILED = -1.0
_PARTS = re.compile(r"\[Question\]\n(.*?)\n\n\[The Start of[^\n]*\]\n(.*)\n\[The End of Assistant", re.DOTALL)


class MtBenchFormat:
    """Reads MT-bench single-answer judgements."""

    name = "mt_bench"

    def named(self, name: str) -> bool:
        """Judgements, by the name that FastChat gives them."""
        return name.endswith("_single.jsonl")

    def detect(self, source: Source) -> bool:
        """Objects with question, model, judge, score and turn."""
        return source.opening.keys() >= _KEYS

    def read(self, source: Source) -> EvalLog:
        """Read the judgements; of a question, model and turn that was judged again, the latest counts.

        Raises:
            InputError: a judgement lacks its question, model, judge or turn, or the only model judged itself.
        """
        latest: dict[tuple[str, str, str, int], tuple[float, Answer]] = {}
        replaced = outside = failed = 0
        for place, item in source.objects():
            question, model, judge, turn = _identity(item, place, source)
            score = number(item.get("score"))
            if score is None and not unscored(item.get("score")):
                raise source.error(f"score is {ascii(item.get('score'))[:40]}", place, "write the judgement again")
            if score is not None and not LOW <= score <= HIGH:
                failed, outside = failed + (score == _FAILED), outside + (score != _FAILED)
                score = None
            prompt, given = _texts(item.get("user_prompt"))
            answer = Answer(
                f"{question}/turn {turn}",
                judge,
                score,
                place,
                checkpoint=model,
                answer=given,
                prompt=prompt,
                cluster=question,
                same=None if prompt is None else fingerprint(prompt),
            )
            key, time = (question, model, judge, turn), number(item.get("tstamp")) or 0.0
            replaced += key in latest
            if key not in latest or time >= latest[key][0]:
                latest[key] = time, answer
        answers = [answer for _, answer in latest.values()]
        facts = tuple(
            JudgeFacts(judge, "model", (judge,), low=LOW, high=HIGH)
            for judge in dict.fromkeys(answer.judge for answer in answers)
        )
        counts = (
            (failed, "judgements have no rating (-1) and count as unscored"),
            (outside, f"ratings lie outside {LOW:g} to {HIGH:g} and count as unscored"),
            (replaced, "judgements were made again; the latest counts"),
        )
        said = tuple(f"{source.path.name}: {count} {what}." for count, what in counts if count)
        return others_only(EvalLog(self.name, answers, judges=facts, warnings=said), source)


def _identity(item: Object, place: str, source: Source) -> tuple[str, str, str, int]:
    judge = item.get("judge")
    judged_by = name(items(judge)[0] if items(judge) else judge)
    question, model, turn = name(item.get("question_id")), name(item.get("model")), whole(item.get("turn"))
    if question is None or model is None or judged_by is None or turn is None:
        raise source.error("the judgement lacks its question_id, model, judge or turn", place, "write it again")
    return question, model, judged_by, turn


def _texts(prompt: object) -> tuple[str | None, str | None]:
    """Question and answer within what the judge was asked about a first turn."""
    found = _PARTS.search(prompt) if isinstance(prompt, str) else None
    return (found[1], found[2]) if found else (None, None)
