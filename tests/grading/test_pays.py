from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rlchecks.grading import what_it_pays
from rlchecks.grading.features import FEATURES
from rlchecks.grading.pays import Payment
from rlchecks.readers import read_run
from rlchecks.schema import COMPLETIONS


def table(rows: list[dict[str, Any]]) -> pa.Table:
    base = {"run_id": "run", "split": "train", "step": 1, "prompt": "p", "advantage": None, "extra_text": []}
    return pa.Table.from_pylist([base | row for row in rows], schema=COMPLETIONS)


def answers(prompts: int, per: int, score: Any, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows = []
    for prompt in range(prompts):
        for _ in range(per):
            text = "word " * int(rng.integers(20, 120))
            rows.append({"prompt": f"p{prompt}", "completion": text, "rewards": [("grader", score(text, prompt, rng))]})
    return rows


def by_feature(payments: tuple[Payment, ...], function: str = "grader") -> dict[str, Payment]:
    return {one.feature: one for one in payments if one.function == function}


def test_a_grader_that_pays_for_length_is_found_with_its_price() -> None:
    rows = answers(30, 6, lambda text, prompt, rng: 0.0011 * len(text) + prompt + rng.normal(0, 0.02))
    length = by_feature(what_it_pays(table(rows)))["length"]
    assert length.unit == "100 more characters"
    assert length.amount == pytest.approx(0.11, abs=0.01)
    assert length.lower is not None
    assert length.upper is not None
    assert length.lower < 0.11 < length.upper
    assert length.clear
    assert length.example is not None
    assert len(length.example.more) > len(length.example.less)
    assert length.example.more_score > length.example.less_score


def test_a_fair_grader_pays_for_nothing() -> None:
    alarms = 0
    for seed in range(40):
        rows = answers(25, 4, lambda text, prompt, rng: float(rng.random() < 0.5), seed)
        alarms += any(one.clear for one in what_it_pays(table(rows)))
    # Holm keeps the chance of any false payment at 5 % a table; 7 of 40 would happen once in a thousand times.
    assert alarms <= 6


def test_repeats_do_not_pay_because_they_are_long() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for prompt in range(40):
        for _ in range(6):
            again = int(rng.integers(0, 5))
            text = f"answer {rng.integers(1000)} " + "let me see that again " * again + "x" * int(rng.integers(0, 90))
            rows.append({"prompt": f"p{prompt}", "completion": text, "rewards": [("grader", len(text) / 100)]})
    found = by_feature(what_it_pays(table(rows)))
    assert found["length"].clear
    assert not found["repeated_phrases"].clear or abs(found["repeated_phrases"].amount or 0) < 0.01


SOME_OF = {
    "repeated_question": (" {question}", 1),
    "repeated_phrases": (" so we count all of them so we count all of them", 1),
    "hedges": (" perhaps", 3),
    "list_lines": ("\n- item", 3),
    "markup": (" **bold**", 3),
}
"""Feature to a text that has some of it, and the most times that an answer has it."""


@pytest.mark.parametrize("paid", SOME_OF)
def test_each_feature_is_found_with_its_price(paid: str) -> None:
    rng = np.random.default_rng(7)
    of = {feature.name: feature for feature in FEATURES}
    rows = []
    for prompt in range(40):
        question = f"Which of these numbers is number {prompt} of the list"
        for _ in range(8):
            text = " ".join(f"w{word}" for word in rng.integers(0, 10_000, int(rng.integers(20, 90))))
            for piece, most in SOME_OF.values():
                text += piece.format(question=question) * int(rng.integers(0, most + 1))
            amount = of[paid].of(question, text) / of[paid].step
            score = 0.2 * amount + 0.1 * (prompt % 5) + rng.normal(0, 0.05)
            rows.append({"prompt": question, "completion": text, "rewards": [("grader", score)]})
    found = by_feature(what_it_pays(table(rows)))
    assert found[paid].amount == pytest.approx(0.2, abs=0.03)
    assert found[paid].clear
    # The surest but for the length, which is paid as well where what is paid for makes answers longer.
    surest = [one.feature for one in found.values() if one.feature != "length"]
    assert surest[0] == paid
    example = found[paid].example
    assert example is not None
    assert of[paid].of(example.prompt, example.more) > of[paid].of(example.prompt, example.less)
    assert example.more_score > example.less_score


def test_being_cut_is_looked_at_only_where_the_log_says_it() -> None:
    rng = np.random.default_rng(6)
    rows = answers(30, 6, lambda text, prompt, rng: 0.0)
    assert "cut" not in by_feature(what_it_pays(table(rows)))
    for row in rows:
        cut = rng.random() < 0.5
        row["extra_text"] = [("finish_reason", "length" if cut else "stop")]
        row["rewards"] = [("grader", -0.5 * cut + rng.normal(0, 0.1))]
    paid = by_feature(what_it_pays(table(rows)))["cut"]
    assert paid.amount == pytest.approx(-0.5, abs=0.05)
    assert paid.clear


def test_what_cannot_be_estimated_has_a_reason_and_no_number() -> None:
    few = by_feature(what_it_pays(table(answers(5, 4, lambda text, prompt, rng: rng.random()))))
    assert few["length"].amount is None
    assert few["length"].reason == "it varies in fewer than 10 prompts"
    assert not few["length"].clear


def test_nothing_without_scores_or_answers() -> None:
    assert what_it_pays(COMPLETIONS.empty_table()) == ()
    assert what_it_pays(table([{"completion": "a", "rewards": []}])) == ()
    evaluation = [row | {"split": "eval"} for row in answers(20, 4, lambda text, prompt, rng: 1.0)]
    assert what_it_pays(table(evaluation)) == ()


def test_scores_that_are_no_numbers_are_left_out() -> None:
    rows = answers(30, 6, lambda text, prompt, rng: 0.001 * len(text))
    for row in rows[::7]:
        row["rewards"] = [("grader", float("nan"))]
    for row in rows[3::11]:
        row["rewards"] = [("grader", None)]
    assert by_feature(what_it_pays(table(rows)))["length"].amount == pytest.approx(0.1)


def test_the_order_of_the_rows_does_not_matter() -> None:
    rows = answers(30, 6, lambda text, prompt, rng: 0.001 * len(text) + rng.normal(0, 0.1))
    shuffled = [rows[at] for at in np.random.default_rng(1).permutation(len(rows))]
    assert what_it_pays(table(rows)) == what_it_pays(table(shuffled))


@pytest.mark.parametrize(
    ("run", "sign"), [("length-hack-s6", 1), ("collapse-flat", -1)], ids=["pays for length", "pays for brevity"]
)
def test_real_graders(shared_data: Path, run: str, sign: int) -> None:
    payments = what_it_pays(read_run(shared_data / "trl" / run).completions)
    length = next(one for one in payments if one.feature == "length")
    assert length.clear
    assert np.sign(length.amount or 0) == sign
