"""MT-bench pairwise judgements of FastChat: ``model_judgment/<judge>_pair.jsonl``, each pair judged in both orders.

Format: ``fastchat/llm_judge/common.py`` (``play_a_match_pair``: ``g1_winner`` and ``g2_winner`` are ``model_1``,
``model_2``, ``tie`` or ``error``, already turned back) and ``gen_judgment.py`` (the baseline is ``model_2``) of
lm-sys/FastChat.
"""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Object
from rlchecks.heldout.harness.marks import name, number, whole
from rlchecks.heldout.harness.pairwise import REFERENCE, Verdict, settled, turned
from rlchecks.heldout.harness.self_judged import others_only
from rlchecks.heldout.harness.shape import items
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import listed

_KEYS = frozenset({"question_id", "model_1", "model_2", "g1_winner", "g2_winner"})


class _Game(NamedTuple):
    place: str
    question: str
    turn: int
    judge: str
    models: tuple[str, str]
    winners: tuple[object, object]
    time: float


class MtBenchPairsFormat:
    """Reads MT-bench pairwise judgements."""

    name = "mt_bench_pairs"

    def named(self, name: str) -> bool:
        """Judgements, by the name that FastChat gives them."""
        return name.endswith("_pair.jsonl")

    def detect(self, source: Source) -> bool:
        """Objects with two models and the winners of two games."""
        return source.opening.keys() >= _KEYS

    def read(self, source: Source) -> EvalLog:
        """Read the judgements; scores are wins against the reference, the model that is in every pair.

        Raises:
            InputError: no model is in every pair, so that there is no common scale, or a judgement is incomplete.
        """
        latest: dict[tuple[str, int, str, tuple[str, str]], _Game] = {}
        for place, item in source.objects():
            game = _game(item, place, source)
            key = (game.question, game.turn, game.judge, game.models)
            if key not in latest or game.time >= latest[key].time:
                latest[key] = game
        games = list(latest.values())
        reference = _reference(games, source)
        answers: list[Answer] = []
        verdicts = []
        for game in games:
            (verdict, swapped), model = _verdicts(game, reference), _other(game, reference)
            verdicts.append((verdict, swapped))
            answer = Answer(
                f"{game.question}/turn {game.turn}",
                f"{game.judge} vs {reference}",
                settled(verdict, swapped),
                game.place,
                checkpoint=model,
                cluster=game.question,
            )
            answers += [answer, answer._replace(score=REFERENCE, checkpoint=reference, implied=True)]
        facts = tuple(
            JudgeFacts(judge, "model", (judge.removesuffix(f" vs {reference}"),), low=0.0, high=1.0)
            for judge in dict.fromkeys(answer.judge for answer in answers)
        )
        said = f"{source.path.name}: {turned(verdicts)} of {len(games)} verdicts change with the order"
        log = EvalLog(self.name, answers, judges=facts, warnings=(f"{said} and count as ties.",))
        return others_only(log, source)


def _game(item: Object, place: str, source: Source) -> _Game:
    judge = item.get("judge")
    judged_by = name(items(judge)[0] if items(judge) else judge)
    question, one, other = (name(item.get(key)) for key in ("question_id", "model_1", "model_2"))
    if question is None or one is None or other is None or judged_by is None or one == other:
        raise source.error("the judgement lacks its question_id, judge or two models", place, "write it again")
    return _Game(
        place,
        question,
        whole(item.get("turn")) or 1,
        judged_by,
        (one, other),
        (item.get("g1_winner"), item.get("g2_winner")),
        number(item.get("tstamp")) or 0.0,
    )


def _reference(games: list[_Game], source: Source) -> str:
    common = set.intersection(*(set(game.models) for game in games)) if games else set()
    # Of two models FastChat puts the baseline second.
    found = next((game.models[1] for game in games if game.models[1] in common), None) or next(iter(common), None)
    if found is None:
        models = sorted({model for game in games for model in game.models})
        problem = f"no model is in every pair, so that the wins have no common scale (models: {listed(models)})"
        raise source.error(problem, todo="judge with --mode pairwise-baseline")
    return found


def _other(game: _Game, reference: str) -> str:
    return game.models[0] if game.models[1] == reference else game.models[1]


def _verdicts(game: _Game, reference: str) -> tuple[Verdict, Verdict]:
    names = {"model_1": game.models[0], "model_2": game.models[1]}

    def verdict(winner: object) -> Verdict:
        if winner == "tie":
            return "tie"
        won = names.get(winner) if isinstance(winner, str) else None
        return None if won is None else "other" if won == reference else "one"

    return verdict(game.winners[0]), verdict(game.winners[1])
