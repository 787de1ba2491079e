from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlchecks.errors import UsageError
from rlchecks.evaluation.extract import letter_in, number_in
from rlchecks.evaluation.formulas import Formulas
from rlchecks.evaluation.rules import Question, Unable, rule_for, source_hash
from rlchecks.evaluation.specs import parse_judges


@pytest.fixture(scope="module")
def formulas() -> Iterator[Formulas]:
    with Formulas(seconds=1.0) as found:
        yield found


def score(
    judge: str, answer: str, *targets: str, choices: tuple[str, ...] = (), formulas: Formulas | None = None
) -> float:
    (spec,) = parse_judges([judge], [])
    rule = rule_for(spec, formulas or Formulas())
    return rule(answer, Question("q", "what?", targets, choices, {}))


def test_exact_looks_past_white_space_only() -> None:
    assert score("exact", "  two\n words ", "two words") == 1
    assert score("exact", "Two words", "two words") == 0
    assert score("exact", "b", "a", "b") == 1
    assert score("exact", "é", "e\u0301") == 1


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The answer is 42.", 42.0),
        ("first 3, then -1,234.5", -1234.5),
        ("12,34", 34.0),
        ("50%", 0.5),
        ("1e3 ", 1000.0),
        ("\u22127", -7.0),
        (".5", 0.5),
        ("none", None),
        ("1e999", None),
    ],
)
def test_the_last_number_counts(text: str, number: float | None) -> None:
    assert number_in(text) == (None if number is None else pytest.approx(number))


def test_numeric_has_a_tolerance() -> None:
    assert score("numeric", "about 3.14", "3.14159") == 0
    assert score("numeric:0.01", "about 3.14", "3.14159") == 1
    assert score("numeric:1%", "101", "100") == 1
    assert score("numeric:1%", "101.1", "100") == 0
    assert score("numeric:0.1", "0.3", "0.2") == 1
    assert score("numeric", "no number", "1") == 0
    with pytest.raises(Unable, match="the target is no number"):
        score("numeric", "1", "one")
    with pytest.raises(UsageError, match="expected a tolerance"):
        score("numeric:close", "1", "1")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("So it is clear. ANSWER: C", "C"),
        ("The answer is (B).", "B"),
        ("Answer: A? No. Answer: **D**", "D"),
        ("\\boxed{\\text{B}}", "B"),
        ("It must be (C) then", "C"),
        ("B.", "B"),
        ("Reasoning\nA", "A"),
        ("A dog is an animal", None),
        ("The answer is Clear", None),
        ("I do not know", None),
    ],
)
def test_the_chosen_letter(text: str, letter: str | None) -> None:
    assert letter_in(text) == letter


def test_a_choice_is_right_by_letter_or_text() -> None:
    trees = ("oak", "elm", "fig")
    assert score("choice", "ANSWER: C", "fig", choices=trees) == 1
    assert score("choice", "ANSWER: C", "C", choices=trees) == 1
    assert score("choice", "fig", "c", choices=trees) == 1
    assert score("choice", "ANSWER: A", "fig", choices=trees) == 0
    assert score("choice", "no idea", "fig", choices=trees) == 0
    with pytest.raises(Unable, match="neither a letter nor one of the choices"):
        score("choice", "ANSWER: A", "palm", choices=trees)
    with pytest.raises(Unable, match="neither a letter nor one of the choices"):
        score("choice", "ANSWER: A", "D", choices=trees)


def test_a_pattern_matches_or_picks_what_is_compared() -> None:
    assert score("regex:^yes", "yes, of course") == 1
    assert score("regex:^yes", "no") == 0
    assert score(r"regex:result: (\w+)", "result: 7", "7") == 1
    assert score(r"regex:result: (\w+)", "result: 8", "7") == 0
    with pytest.raises(UsageError, match="the pattern is not valid"):
        score("regex:(", "x")


def test_a_pattern_that_backtracks_without_end_is_stopped() -> None:
    with pytest.raises(Unable, match="took more than 1 second"):
        score(r"regex:^(?:a|a)*(?:a|aa)+$", "a" * 60 + "b")


def test_formulas_are_compared_by_value(formulas: Formulas) -> None:
    assert score("math", "so \\boxed{\\frac{1}{2}}", "0.5", formulas=formulas) == 1
    assert score("math", "$x = 2\\sqrt{2}$", "\\sqrt{8}", formulas=formulas) == 1
    assert score("math", "It is $\\{1, 2\\}$", "\\{2, 1\\}", formulas=formulas) == 1
    assert score("math", "It is 3", "4", formulas=formulas) == 0
    assert score("math", "I do not know", "4", formulas=formulas) == 0
    with pytest.raises(Unable, match="the target is no formula"):
        score("math", "It is 3", formulas=formulas)


def test_a_formula_that_would_take_for_ever_is_given_up_and_the_next_one_works(formulas: Formulas) -> None:
    with pytest.raises(Unable, match="could not be compared"):
        score("math", "$9^{9^{9^{9}}}$", "9^{9^{9}} + 1", formulas=formulas)
    assert score("math", "It is $4$", "4", formulas=formulas) == 1


def test_own_code_is_called_with_answer_targets_and_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "our_fair_judge.py").write_text(
        "def judge(answer, targets, question):\n"
        "    if answer == 'raise':\n"
        "        raise RuntimeError('no')\n"
        "    return {'half': 0.5, 'right': True}.get(answer) if answer != 'nan' else float('nan')\n"
    )
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    assert score("python:our_fair_judge:judge", "half") == 0.5
    assert score("python:our_fair_judge:judge", "right") == 1.0
    for answer, sentence in (("raise", "raised RuntimeError"), ("none", "no number"), ("nan", "no number")):
        with pytest.raises(Unable, match=sentence):
            score("python:our_fair_judge:judge", answer)
    assert sys.path == path
    (spec,) = parse_judges(["python:our_fair_judge:judge"], [])
    assert len(source_hash(spec)) == 64


@pytest.mark.parametrize("place", ["no_such_module:f", "json:no_such_function", "json:__name__", "json"])
def test_own_code_that_cannot_be_called_is_one_sentence(place: str) -> None:
    with pytest.raises(UsageError, match="--judge python"):
        score(f"python:{place}", "x")
