from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from rlchecks.errors import InputError
from rlchecks.heldout import ComparisonRequest, compare, read_rows
from rlchecks.heldout.harness.pairwise import settled, turned


def test_a_win_counts_only_if_it_survives_the_swap() -> None:
    expected = {("one", "one"): 1.0, ("other", "other"): 0.0}
    for first, swapped in product(("one", "other", "tie"), repeat=2):
        assert settled(first, swapped) == expected.get((first, swapped), 0.5)  # type: ignore[arg-type]
    for verdict in ("one", "other", "tie", None):
        assert settled(verdict, None) is settled(None, verdict) is None  # type: ignore[arg-type]
    assert turned([("one", "one"), ("one", "tie"), ("one", None), ("other", "one")]) == 2


def annotation(number: int, preference: Any, **changes: Any) -> dict[str, Any]:
    return {
        "instruction": f"Do {number}",
        "output_1": "a",
        "generator_1": "reference",
        "output_2": "b",
        "generator_2": "policy",
        "annotator": "gpt4",
        "preference": preference,
        **changes,
    }


def by_prompt(rows: Any, checkpoint: str) -> list[float | None]:
    return [row["score"] for row in rows.table.to_pylist() if row["checkpoint"] == checkpoint]


def test_alpaca_preferences_are_shares_of_a_win_against_the_reference(write: Any) -> None:
    given = [1, 2, 1.5, 1.25, 0, None, float("nan"), "", "NaN"]
    path = write("annotations.json", [annotation(number, one) for number, one in enumerate(given)])
    rows = read_rows([path])
    assert by_prompt(rows, "policy") == [0.0, 1.0, 0.5, 0.25, 0.5, None, None, None, None]
    assert by_prompt(rows, "reference") == [0.5] * len(given)
    assert set(rows.table["judge"].to_pylist()) == {"gpt4 vs reference"}
    document = compare(rows, ComparisonRequest(baseline="reference", candidate="policy")).document
    assert document["difference"] == pytest.approx((0.0 + 1.0 + 0.5 + 0.25 + 0.5) / 5 - 0.5)
    assert document["n_questions"] == 5


@pytest.mark.parametrize("preference", [3, -1, 0.5, "2x", True, [1]])
def test_a_preference_out_of_range_is_refused(write: Any, preference: Any) -> None:
    with pytest.raises(InputError, match="expected 1 to 2 or null"):
        read_rows([write("annotations.json", [annotation(0, preference)])])


def test_two_models_against_one_reference_share_its_rows(write: Any) -> None:
    one = write("one.json", [annotation(0, 2), annotation(1, 1)])
    other = write("other.json", [annotation(0, 2), annotation(1, 2)])
    rows = read_rows([f"base={one}", f"checkpoint-9={other}"])
    assert rows.table.num_rows == 6
    document = compare(rows, ComparisonRequest(baseline="base", candidate="checkpoint-9")).document
    assert document["difference"] == pytest.approx(0.5)


def test_another_reference_is_another_judge(write: Any) -> None:
    one = write("one.json", [annotation(0, 2)])
    other = write("other.json", [annotation(0, 2, generator_1="stronger")])
    rows = read_rows([f"base={one}", f"checkpoint-9={other}"])
    assert set(rows.table["judge"].to_pylist()) == {"gpt4 vs reference", "gpt4 vs stronger"}


def test_an_instruction_that_stands_twice_is_two_questions(write: Any) -> None:
    rows = read_rows([write("annotations.json", [annotation(0, 2), annotation(0, 1)])])
    assert len(set(rows.table["question_id"].to_pylist())) == 2


def single(number: int, score: Any, **changes: Any) -> dict[str, Any]:
    prompt = f"[Question]\nq{number}\n\n[The Start of Assistant's Answer]\nanswer\n[The End of Assistant's Answer]"
    base = {"question_id": number, "model": "policy", "judge": ["gpt-4", "single-v1"], "user_prompt": prompt}
    return base | {"judgment": "...", "score": score, "turn": 1, "tstamp": 1.0, **changes}


def test_mt_bench_ratings(write: Any, scores: Any) -> None:
    lines = [single(1, 7), single(2, -1), single(3, 11), single(4, None), single(1, 3, turn=2)]
    rows = read_rows([write("gpt-4_single.jsonl", lines)])
    assert scores(rows)["policy", "gpt-4"] == {
        "1/turn 1": 7.0,
        "2/turn 1": None,
        "3/turn 1": None,
        "4/turn 1": None,
        "1/turn 2": 3.0,
    }
    assert [said.split(": ")[1] for said in rows.warnings] == [
        "1 judgements have no rating (-1) and count as unscored.",
        "1 ratings lie outside 1 to 10 and count as unscored.",
    ]
    first = rows.table.to_pylist()[0]
    assert (first["prompt"], first["answer"], first["cluster"]) == ("q1", "answer", "1")


def test_of_a_judgement_made_again_the_latest_counts(write: Any, scores: Any) -> None:
    lines = [single(1, 7, tstamp=2.0), single(1, 3, tstamp=5.0), single(1, 9, tstamp=1.0)]
    rows = read_rows([write("gpt-4_single.jsonl", lines)])
    assert scores(rows)["policy", "gpt-4"] == {"1/turn 1": 3.0}
    assert "2 judgements were made again" in rows.warnings[0]


def test_the_range_of_mt_bench_is_known_to_the_comparison(write: Any) -> None:
    lines = [single(number, 5 + (model == "new"), model=model) for number in range(3) for model in ("old", "new")]
    request = ComparisonRequest(baseline="old", candidate="new")
    answer = compare(read_rows([write("gpt-4_single.jsonl", lines)]), request)
    assert (answer.judge["low"], answer.judge["high"], answer.judge["range"]) == (1.0, 10.0, "declared")
    assert answer.document["difference"] == pytest.approx(1.0)


def game(number: int, first: str, second: str, **changes: Any) -> dict[str, Any]:
    base = {"question_id": number, "model_1": "policy", "model_2": "baseline", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    return base | {"g1_winner": first, "g2_winner": second, "tstamp": 1.0, **changes}


GAMES = [("model_1", "model_1"), ("model_1", "model_2"), ("tie", "model_1"), ("model_2", "model_2"), ("error", "tie")]


def test_mt_bench_pairs(write: Any, scores: Any) -> None:
    path = write("gpt-4_pair.jsonl", [game(number, *winners) for number, winners in enumerate(GAMES)])
    rows = read_rows([path])
    found = scores(rows)
    assert list(found["policy", "gpt-4 vs baseline"].values()) == [1.0, 0.5, 0.5, 0.0, None]
    assert set(found["baseline", "gpt-4 vs baseline"].values()) == {0.5}
    assert "2 of 5 verdicts change with the order" in rows.warnings[0]


def test_the_reference_is_the_model_of_every_pair_whichever_side_it_has(write: Any, scores: Any) -> None:
    lines = [
        game(1, "model_1", "model_1", model_1="baseline", model_2="one"),
        game(1, "model_1", "model_1", model_1="other", model_2="baseline"),
    ]
    found = scores(read_rows([write("gpt-4_pair.jsonl", lines)]))
    judge = "gpt-4 vs baseline"
    assert (found["one", judge], found["other", judge]) == ({"1/turn 1": 0.0}, {"1/turn 1": 1.0})


def test_pairs_without_a_common_model_have_no_scale(write: Any) -> None:
    lines = [game(1, "tie", "tie", model_1=one, model_2=other) for one, other in ("ab", "bc", "ca")]
    with pytest.raises(InputError, match="no model is in every pair"):
        read_rows([write("gpt-4_pair.jsonl", lines)])


def test_llmbar_and_pandalm(write: Any, scores: Any) -> None:
    verdicts = [("2", "2"), ("1", "1"), ("1", "2"), (None, "1")]
    entries = [
        {
            "input": f"i{number}",
            "output_1": "a",
            "output_2": "b",
            "label": 2,
            "results": [{"swap = False": {"winner": first}, "swap = True": {"winner": swapped}}],
        }
        for number, (first, swapped) in enumerate(verdicts)
    ]
    rows = read_rows([write("evaluators/GPT-4/Vanilla/result.json", entries)])
    found = scores(rows)
    assert list(found["output_2", "GPT-4/Vanilla"].values()) == [1.0, 0.0, 0.5, None]
    assert set(found["output_2", "gold"].values()) == {1.0}
    assert {one.name: one.kind for one in rows.judges} == {"GPT-4/Vanilla": "model", "gold": "human"}
    given = ["1", 2, "Tie", 0, "garbage", None]
    entries = [{"idx": number, "gpt_result": one, "gpt_reason": ""} for number, one in enumerate(given)]
    found = scores(read_rows([write("gpt.json", entries)]))
    assert list(found["response2", "gpt"].values()) == [0.0, 1.0, 0.5, 0.5, None, None]


def test_a_models_judgement_of_itself_is_left_out_or_refused(write: Any, scores: Any) -> None:
    lines = [single(1, 9, model="gpt-4"), single(1, 5, model="policy")]
    rows = read_rows([write("gpt-4_single.jsonl", lines)])
    assert set(scores(rows)) == {("policy", "gpt-4")}
    assert "gpt-4 judged its own answers" in rows.warnings[0]
    with pytest.raises(InputError, match="the evaluated model judged itself"):
        read_rows([write("gpt-4_single.jsonl", lines[:1])])
    with pytest.raises(InputError, match="the evaluated model judged itself"):
        read_rows([write("gpt-4_pair.jsonl", [game(1, "tie", "tie", model_1="gpt-4")])])
    # A reference that judges has no interest of its own in either of the compared models.
    rows = read_rows([write("gpt-4_pair.jsonl", [game(1, "tie", "tie", model_2="gpt-4")])])
    assert set(scores(rows)) == {("policy", "gpt-4 vs gpt-4"), ("gpt-4", "gpt-4 vs gpt-4")}
