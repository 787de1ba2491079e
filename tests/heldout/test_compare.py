from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout import (
    Comparison,
    ComparisonRequest,
    HeldoutRows,
    Scorer,
    compare,
    paired_interval,
    paired_t,
    tango,
)

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]
Scores = list[Any]

NAMES: dict[str, Any] = {"baseline": "base", "candidate": "tuned"}

EVIDENCE = {
    "n_questions", "missing_fraction", "missing_changes_result", "duplicate_ids", "unmatched_questions",
    "baseline_is_candidate", "judge_chosen", "judge_is_grader", "grader_known", "judge_identity_declared",
    "judge_copies_grader", "judge_family_is_graders", "judge_family_is_models", "grader_agreement",
    "difference", "ci_lower", "ci_upper", "margin", "margin_lower", "margin_upper", "judges_disagree",
    "guard_upper", "guard_lower", "n_guards", "n_guards_undefined", "gain_depends_on_decoding", "reward_hacking",
    "gain_gap", "gain_gap_lower", "gain_gap_upper", "gain_gap_warns", "n_looks", "alpha", "overlap_questions",
    "overlap_share_seen", "margin_range_known", "repeated_prompt_fraction", "category_upper", "n_carrying",
}  # fmt: skip


def ones(right: int, n: int) -> Scores:
    return [1.0] * right + [0.0] * (n - right)


def graded(mean: float, n: int = 120, seed: int = 0) -> Scores:
    return list(np.random.default_rng(seed).normal(mean, 0.1, n).clip(0, 1))


@pytest.fixture
def two(make_rows: Make, answers: Answers) -> Callable[..., Comparison]:
    """Compare two lists of scores of one judge."""

    def compared(base: Scores, tuned: Scores, fields: dict[str, Any] | None = None, **request: Any) -> Comparison:
        rows = make_rows(answers("base", base, **(fields or {})), answers("tuned", tuned, **(fields or {})))
        return compare(rows, ComparisonRequest(**NAMES | request))

    return compared


def test_the_evidence_has_its_columns_and_a_sentence_for_each(two: Callable[..., Comparison]) -> None:
    found = two(ones(50, 150), ones(90, 150))
    assert set(found.evidence) == EVIDENCE == set(found.observed)
    assert all(text.endswith(".") and "\n" not in text for text in found.observed.values())
    json.dumps([found.document, found.judge, found.graders, found.evidence], allow_nan=False)


def test_one_answer_a_side_is_tangos_interval(two: Callable[..., Comparison]) -> None:
    found = two(ones(50, 150), ones(90, 150))
    expected = tango(40, 0, 150)
    assert found.evidence["difference"] == pytest.approx(40 / 150)
    assert (found.evidence["ci_lower"], found.evidence["ci_upper"]) == (expected.lower, expected.upper)
    assert found.document["method"] == "tango"
    assert found.document["flips"] == {"improved": 40, "worsened": 0, "unchanged": 110}
    assert found.document["minimum_detectable"] > 0


def test_repeats_are_averaged_before_anything_else(two: Callable[..., Comparison]) -> None:
    rng = np.random.default_rng(3)
    base, tuned = rng.integers(0, 2, (120, 4)), rng.integers(0, 2, (120, 4))
    found = two(base.tolist(), tuned.tolist())
    expected = paired_t(tuned.mean(1) - base.mean(1))
    assert found.evidence["n_questions"] == 120
    assert found.evidence["ci_lower"] == pytest.approx(expected.lower, rel=0.01)
    assert found.document["method"] == "bounded_t"
    spread = (tuned.mean(1) - base.mean(1)).std(ddof=1)
    # z(.975) + z(.8) = 2.8016; with 119 degrees of freedom the upper limit is 1.145 times the observed spread.
    assert found.document["minimum_detectable"] == pytest.approx(2.8016 * 1.145 * spread / 120**0.5, rel=0.01)


def test_questions_of_one_cluster_tell_nothing_about_what_more_would_confirm(two: Callable[..., Comparison]) -> None:
    found = two(ones(50, 150), ones(90, 150), fields={"cluster": "all"}).document
    assert (found["minimum_detectable"], found["questions_needed"]) == (None, None)


def test_the_margin_moves_the_limits(two: Callable[..., Comparison]) -> None:
    evidence = two(ones(100, 200), ones(100, 200), margin=0.05).evidence
    assert evidence["margin_lower"] == pytest.approx(tango(0, 0, 200).lower + 0.05)
    assert evidence["margin_upper"] == pytest.approx(tango(0, 0, 200).upper + 0.05)


@pytest.mark.parametrize(
    ("margin", "judges", "scores", "known"),
    [
        (0.0, (), graded(0.5), True),
        (0.02, (), graded(0.5), False),
        (0.02, (), [*graded(0.5), -999.0], False),
        (0.02, (Scorer("exact", 0, 1),), graded(0.5), True),
        (0.02, (), ones(50, 150), True),
    ],
)
def test_a_margin_needs_a_range_that_is_known(
    two: Callable[..., Comparison], margin: float, judges: tuple[Scorer, ...], scores: Scores, known: bool
) -> None:
    found = two(scores, scores, margin=margin, judges=judges)
    assert found.evidence["margin_range_known"] is known
    assert ("--judge NAME:LOW..HIGH" in found.observed["margin_range_known"]) is not known


def test_a_judge_with_a_range_is_reported_in_its_unit_and_decided_on_its_fraction(
    two: Callable[..., Comparison],
) -> None:
    base, tuned = graded(0.5), graded(0.6, seed=1)
    unit = two(base, tuned, judges=(Scorer("exact", 0, 1),), margin=0.02).evidence
    ten = two(
        [10 * score for score in base], [10 * score for score in tuned], judges=(Scorer("exact", 0, 10),), margin=0.02
    ).evidence
    assert ten["difference"] == pytest.approx(10 * float(unit["difference"] or 0))
    assert ten["margin_lower"] == pytest.approx(unit["margin_lower"])


def test_where_lower_is_better_a_fall_is_a_gain(two: Callable[..., Comparison]) -> None:
    judge = Scorer("exact", 0, 1, higher_is_better=False)
    found = two(ones(90, 150), ones(50, 150), judges=(judge,))
    assert found.evidence["difference"] == pytest.approx(40 / 150)
    assert found.document["candidate_mean"] == pytest.approx(50 / 150)
    assert found.judge["higher_is_better"] is False


def test_a_score_outside_the_declared_range_is_refused(two: Callable[..., Comparison]) -> None:
    with pytest.raises(UsageError, match=r"'exact' is declared 0\.\.10, but its scores go from -1 to 1"):
        two([-1.0, 1.0], [1.0, 1.0], judges=(Scorer("exact", 0, 10),))


def test_graded_scores_without_variance_have_no_interval_and_a_reason(two: Callable[..., Comparison]) -> None:
    found = two([0.5] * 150, [0.75] * 150)
    assert found.evidence["difference"] == 0.25
    assert found.evidence["ci_lower"] is found.evidence["margin_lower"] is found.evidence["margin_upper"] is None
    assert "variance is zero" in found.document["reason"]


# --- decodings


def test_the_primary_decoding_has_most_answers_a_question(make_rows: Make, answers: Answers) -> None:
    groups = [
        answers(name, scores, decoding=decoding)
        for name in ("base", "tuned")
        for decoding, scores in (("greedy", [[1]] * 3), ("sample", [[0, 1]] * 3), ("other", [[1]] * 3))
    ]
    rows = make_rows(*groups, answers("base", [[1] * 9] * 3, decoding="one side"))
    found = compare(rows, ComparisonRequest(**NAMES))
    assert found.decoding == "sample"
    named = compare(rows, ComparisonRequest(**NAMES, decoding="greedy"))
    assert named.decoding == named.document["decoding"] == "greedy"


def test_of_equal_decodings_greedy_is_primary(make_rows: Make, answers: Answers) -> None:
    groups = [
        answers(name, [1, 0], decoding=kind) for name in ("base", "tuned") for kind in ("beam", "Greedy", "top_p")
    ]
    assert compare(make_rows(*groups), ComparisonRequest(**NAMES)).decoding == "Greedy"


def test_an_unknown_decoding_lists_the_known_ones(two: Callable[..., Comparison]) -> None:
    with pytest.raises(UsageError, match=r"no decoding 'sampel'.*they have 'greedy'"):
        two([1], [1], decoding="sampel")


def test_rows_that_name_no_decoding_are_one_decoding(two: Callable[..., Comparison]) -> None:
    found = two(ones(50, 150), ones(90, 150), {"decoding": None})
    assert found.decoding is None
    assert found.evidence["n_questions"] == 150


def test_no_decoding_in_common_is_nothing_to_compare(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(answers("base", [1, 1], decoding="a"), answers("tuned", [1, 1], decoding="b"))
    evidence = compare(rows, ComparisonRequest(**NAMES)).evidence
    assert evidence["n_questions"] == 0
    assert evidence["margin_lower"] is evidence["missing_fraction"] is None
    assert evidence["n_guards_undefined"] == 2


# --- judges


@pytest.fixture
def judged(make_rows: Make, answers: Answers) -> Callable[..., Comparison]:
    """Compare the same answers scored by several judges: name to (baseline's scores, candidate's scores)."""

    def compared(scores: dict[str, tuple[Scores, Scores]], **request: Any) -> Comparison:
        groups = [
            answers(name, given, judge=judge)
            for judge, pair in scores.items()
            for name, given in zip(("base", "tuned"), pair, strict=True)
        ]
        return compare(make_rows(*groups), ComparisonRequest(**NAMES | request))

    return compared


GAIN = (ones(50, 150), ones(90, 150))
LOSS = GAIN[::-1]
FLAT = (ones(50, 150), ones(50, 150))


def test_the_only_judge_that_is_no_grader_decides(judged: Callable[..., Comparison]) -> None:
    found = judged({"exact": GAIN, "reward_fn": LOSS}, graders=(Scorer("Reward-Fn"),))
    assert found.judge["name"] == "exact"
    assert found.evidence["judge_chosen"] is True
    assert found.evidence["judge_is_grader"] is False
    assert found.evidence["grader_known"] is True
    assert [(part["judge"], part["role"]) for part in found.document["parts"]] == [
        ("exact", "decisive"),
        ("reward_fn", "grader"),
    ]


def test_of_several_judges_none_is_chosen_and_no_result_shown(judged: Callable[..., Comparison]) -> None:
    found = judged({"a": GAIN, "b": LOSS})
    assert found.evidence["judge_chosen"] is False
    assert found.evidence["difference"] is found.evidence["margin_lower"] is None
    assert found.evidence["reward_hacking"] is found.evidence["judges_disagree"] is None
    assert found.evidence["n_questions"] == 150
    assert found.judge["candidates"] == ["a", "b"]
    assert "a, b" in found.observed["judge_chosen"]
    assert found.document["parts"] == found.document["other_judges"] == []
    assert judged({"a": GAIN, "b": LOSS}, margin=0.02).evidence["margin_range_known"] is None


def test_a_named_judge_decides_alone_and_those_not_asked_are_shown(judged: Callable[..., Comparison]) -> None:
    scores = {"a": GAIN, "b": LOSS, "c": FLAT, "g": GAIN}
    found = judged(scores, judges=(Scorer("a"), Scorer("c", decisive=False)), graders=(Scorer("g"),))
    assert found.judge["name"] == "a"
    assert found.evidence["n_guards"] == 1
    loss = tango(0, 40, 150)
    assert found.document["other_judges"] == [
        {"name": "b", "difference": -40 / 150, "ci_lower": loss.lower, "ci_upper": loss.upper, "n_questions": 150}
    ]
    assert [(part["judge"], part["role"]) for part in found.document["parts"]] == [
        ("a", "decisive"), ("c", "guard"), ("g", "grader"), ("b", "other"),
    ]  # fmt: skip
    without = judged({name: scores[name] for name in "acg"}, judges=(Scorer("a"), Scorer("c", decisive=False)),
                     graders=(Scorer("g"),))  # fmt: skip
    assert without.document["other_judges"] == []
    assert without.evidence == found.evidence


def test_a_named_grader_is_a_grader(judged: Callable[..., Comparison]) -> None:
    found = judged({"a": GAIN}, judges=(Scorer("a"),), graders=(Scorer("a"),))
    assert found.evidence["judge_is_grader"] is True
    assert found.evidence["gain_gap"] is None


def test_only_graders_is_no_judge(judged: Callable[..., Comparison]) -> None:
    evidence = judged({"a": GAIN}, graders=(Scorer("a"),)).evidence
    assert (evidence["judge_chosen"], evidence["judge_is_grader"]) == (False, True)


def test_the_evaluated_model_is_no_judge_of_itself(judged: Callable[..., Comparison]) -> None:
    found = judged({"Tuned": GAIN}, graders=(Scorer("other"),))
    assert found.evidence["judge_is_grader"] is True
    assert "evaluated model itself" in found.observed["judge_is_grader"]


def test_an_unknown_grader_is_said(judged: Callable[..., Comparison]) -> None:
    assert judged({"a": GAIN}).evidence["grader_known"] is False
    assert judged({"a": GAIN}, graders_known=True).evidence["grader_known"] is True


def test_an_unknown_judge_lists_the_known_ones(judged: Callable[..., Comparison]) -> None:
    with pytest.raises(UsageError, match=r"no judge 'c'.*they have 'a', 'b'"):
        judged({"a": GAIN, "b": LOSS}, judges=(Scorer("c"),))


def test_every_judge_must_pass_and_the_weakest_is_shown(judged: Callable[..., Comparison]) -> None:
    found = judged({"a": GAIN, "b": FLAT}, judges=(Scorer("a"), Scorer("b")))
    assert found.judge["name"] == "b"
    assert found.evidence["margin_lower"] == tango(0, 0, 150).lower
    assert found.evidence["judges_disagree"] is False


def test_a_gain_and_a_loss_is_disagreement(judged: Callable[..., Comparison]) -> None:
    evidence = judged({"a": GAIN, "b": LOSS}, judges=(Scorer("a"), Scorer("b")), training_reward_gain=0.5).evidence
    assert evidence["judges_disagree"] is True
    assert evidence["margin_upper"] is None
    assert evidence["reward_hacking"] is False


def test_losses_are_adjusted_over_the_judges(judged: Callable[..., Comparison]) -> None:
    found = judged({"a": LOSS, "b": FLAT}, judges=(Scorer("a"), Scorer("b")))
    assert found.evidence["margin_upper"] == pytest.approx(tango(0, 40, 150, 0.975).upper)
    assert found.evidence["ci_upper"] == pytest.approx(tango(0, 40, 150).upper)


def test_a_judge_without_an_interval_leaves_the_gain_open(judged: Callable[..., Comparison]) -> None:
    undefined = ([0.5] * 150, [0.75] * 150)
    evidence = judged({"a": GAIN, "b": undefined}, judges=(Scorer("a"), Scorer("b"))).evidence
    assert evidence["margin_lower"] is None


# --- guards


def test_an_advisory_judge_guards(judged: Callable[..., Comparison]) -> None:
    found = judged({"a": GAIN, "b": LOSS}, judges=(Scorer("b", decisive=False),))
    assert found.judge["name"] == "a"
    assert found.evidence["guard_upper"] == tango(0, 40, 150).upper
    assert found.evidence["guard_lower"] == tango(0, 40, 150).lower
    assert (found.evidence["n_guards"], found.evidence["n_guards_undefined"]) == (1, 0)


def test_guards_are_adjusted_together(make_rows: Make, answers: Answers) -> None:
    groups = [
        answers(name, scores[side], judge=judge, decoding=decoding)
        for side, name in enumerate(("base", "tuned"))
        for judge, decoding, scores in (("a", "x", GAIN), ("a", "y", LOSS), ("b", "x", FLAT))
    ]
    request = ComparisonRequest(**NAMES, judges=(Scorer("a"), Scorer("b", decisive=False)), decoding="x")
    found = compare(make_rows(*groups), request)
    assert found.evidence["n_guards"] == 2
    assert found.evidence["guard_upper"] == pytest.approx(tango(0, 40, 150, 0.975).upper)
    assert found.evidence["guard_lower"] == pytest.approx(tango(0, 40, 150).lower)
    assert found.evidence["gain_depends_on_decoding"] is True
    assert "a (x)" in found.observed["gain_depends_on_decoding"]
    assert "a (y)" in found.observed["gain_depends_on_decoding"]


def test_without_guards_their_columns_are_empty(two: Callable[..., Comparison]) -> None:
    evidence = two(*GAIN).evidence
    assert (evidence["guard_upper"], evidence["guard_lower"], evidence["n_guards"]) == (None, None, 0)
    assert evidence["gain_depends_on_decoding"] is False


def test_leaving_out_the_decoding_that_lost_is_seen(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(
        answers("base", GAIN[0]), answers("tuned", GAIN[1]), answers("base", ones(140, 150), decoding="sample")
    )
    evidence = compare(rows, ComparisonRequest(**NAMES)).evidence
    assert (evidence["n_guards"], evidence["n_guards_undefined"]) == (1, 1)
    assert evidence["gain_depends_on_decoding"] is False


def test_a_guard_with_answers_left_out_is_incomplete(make_rows: Make, answers: Answers) -> None:
    both = [answers(name, scores, decoding="x") for name, scores in zip(("base", "tuned"), GAIN, strict=True)]
    base = answers("base", ones(150, 150), decoding="y")
    short = compare(make_rows(*both, base, answers("tuned", ones(140, 140), decoding="y")), ComparisonRequest(**NAMES))
    assert short.evidence["unmatched_questions"] == 10
    tuned = answers("tuned", [*ones(135, 135), *[None] * 15], decoding="y")
    assert compare(make_rows(*both, base, tuned), ComparisonRequest(**NAMES)).evidence["missing_fraction"] == 0.1


# --- completeness


def test_missing_scores_are_left_out_and_counted_per_side(two: Callable[..., Comparison]) -> None:
    evidence = two(ones(50, 200), [None] * 5 + ones(95, 195)).evidence
    assert evidence["n_questions"] == 195
    assert evidence["missing_fraction"] == pytest.approx(5 / 200)
    assert evidence["missing_changes_result"] is False
    assert evidence["unmatched_questions"] == 0


def test_a_gain_that_rests_on_the_missing_answers_is_seen(two: Callable[..., Comparison]) -> None:
    """The candidate's long answers timed out where the baseline was right."""
    evidence = two(ones(60, 200), [None] * 40 + ones(60, 160)).evidence
    assert evidence["ci_lower"] is not None
    assert evidence["ci_lower"] > 0
    assert evidence["missing_changes_result"] is True


def test_missing_baseline_answers_count_as_right(two: Callable[..., Comparison]) -> None:
    tuned = ones(80, 200)
    evidence = two([*ones(50, 160), *[None] * 40], tuned).evidence
    assert evidence["missing_changes_result"] is True


def test_a_repeat_without_a_row_is_missing_too(two: Callable[..., Comparison]) -> None:
    full, torn = [[1.0, 0.0]] * 120, [[1.0, 0.0]] * 117 + [[1.0]] * 3
    evidence = two(full, torn).evidence
    assert evidence["missing_fraction"] == pytest.approx(3 / 240)
    assert evidence["n_questions"] == 120


def test_questions_that_the_deciding_judge_passed_over_are_missing(make_rows: Make, answers: Answers) -> None:
    """The grader scored 200 questions, the judge the 110 on which the candidate shines."""
    base, tuned = ones(20, 110), ones(80, 110)
    graded = [answers(name, ones(100, 200), judge="g") for name in ("base", "tuned")]
    request = ComparisonRequest(**NAMES, graders=(Scorer("g"),))
    found = compare(make_rows(*graded, answers("base", base), answers("tuned", tuned)), request).evidence
    assert found["n_questions"] == 110
    assert found["missing_fraction"] == pytest.approx(90 / 200)
    assert found["missing_changes_result"] is True
    assert found["unmatched_questions"] == 0
    # Questions of one side only, and of another decoding, were not put to both.
    half = [
        answers("base", ones(100, 200), judge="g"), answers("tuned", ones(55, 110), judge="g"),
        *(answers(name, ones(55, 200), judge="g", decoding="x") for name in ("base", "tuned")),
    ]  # fmt: skip
    found = compare(make_rows(*half, answers("base", base), answers("tuned", tuned)), request).evidence
    assert (found["missing_fraction"], found["missing_changes_result"]) == (0.0, False)


def test_a_judge_without_any_row_of_the_decoding_misses_everything(make_rows: Make, answers: Answers) -> None:
    graded = [answers(name, ones(50, 150), judge="g") for name in ("base", "tuned")]
    judged = [answers(name, ones(50, 150), decoding="x") for name in ("base", "tuned")]
    request = ComparisonRequest(**NAMES, judges=(Scorer("exact"),), graders=(Scorer("g"),), decoding="greedy")
    found = compare(make_rows(*graded, *judged), request).evidence
    assert (found["n_questions"], found["missing_fraction"]) == (0, 1.0)


def test_questions_of_one_side_are_unmatched(two: Callable[..., Comparison]) -> None:
    evidence = two(ones(50, 150), ones(50, 147)).evidence
    assert (evidence["unmatched_questions"], evidence["n_questions"]) == (3, 147)


def test_repeated_rows_are_counted_and_change_nothing(make_rows: Make, answers: Answers) -> None:
    once = [*answers("base", GAIN[0]), *answers("tuned", GAIN[1])]
    again = answers("tuned", [0.0] * 7)
    found = compare(make_rows(once, again), ComparisonRequest(**NAMES))
    assert found.evidence["duplicate_ids"] == 7
    clean = compare(make_rows(once), ComparisonRequest(**NAMES))
    assert clean.evidence["duplicate_ids"] == 0
    assert found.evidence["difference"] == clean.evidence["difference"]


def test_repeats_without_an_epoch_are_duplicates(two: Callable[..., Comparison]) -> None:
    assert two([[1, 0]] * 3, [[1, 0]] * 3, {"epoch": None}).evidence["duplicate_ids"] == 6


def test_few_questions_say_how_many_more(two: Callable[..., Comparison]) -> None:
    found = two(ones(2, 20), ones(12, 20))
    assert found.document["questions_needed"] == 100
    assert found.document["questions_missing"] == 80
    assert found.observed["n_questions"] == "20 questions were answered on both sides; 80 more are needed."


def test_a_small_gain_asks_for_more_questions_and_a_loss_for_none(two: Callable[..., Comparison]) -> None:
    small = two(ones(100, 200), ones(103, 200)).document
    assert small["questions_needed"] > 200
    assert two(*LOSS).document["questions_needed"] is None


# --- is it another model


def test_the_same_name_is_the_same_model(make_rows: Make, answers: Answers) -> None:
    found = compare(make_rows(answers("base", [1, 0])), ComparisonRequest())
    assert found.evidence["baseline_is_candidate"] is True
    assert found.evidence["difference"] == 0.0


@pytest.mark.parametrize(("hashes", "same"), [(("a", "a"), True), (("a", "b"), False), (("a", None), False)])
def test_the_same_files_are_the_same_model(
    two: Callable[..., Comparison], hashes: tuple[str, str | None], same: bool
) -> None:
    found = two([1, 0, 1], [1, 0, 1], baseline_hash=hashes[0], candidate_hash=hashes[1])
    assert found.evidence["baseline_is_candidate"] is same


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        (lambda number: f"answer {number}", True),
        (lambda number: f"answer {number}" if number else None, False),  # not every row gives its answer
        (None, False),
    ],
)
def test_different_files_with_all_answers_identical_are_the_same_model(
    two: Callable[..., Comparison], answer: Any, same: bool
) -> None:
    """A checkpoint's directory differs by its trainer_state.json alone."""
    found = two([1, 0, 1], [1, 0, 1], {"answer": answer}, baseline_hash="a", candidate_hash="b")
    assert found.evidence["baseline_is_candidate"] is same
    assert ("yet all 3 answers are identical" in found.observed["baseline_is_candidate"]) is same


def test_one_different_answer_is_another_model(two: Callable[..., Comparison]) -> None:
    found = two([1, 0, 1], [1, 0, 1])
    assert found.evidence["baseline_is_candidate"] is False
    assert found.observed["baseline_is_candidate"] == "0 of 3 answers of baseline and candidate are identical."


@pytest.mark.parametrize(("tuned", "same"), [([1, 0, None], True), ([1, 1, None], False)])
def test_without_answers_the_scores_decide(two: Callable[..., Comparison], tuned: Scores, same: bool) -> None:
    assert two([1, 0, None], tuned, {"answer": None}).evidence["baseline_is_candidate"] is same


def test_the_candidate_and_its_step(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(answers("base", [1], step=0), answers("checkpoint-40", [1]))
    found = compare(rows, ComparisonRequest())
    assert (found.candidate, found.candidate_step) == ("checkpoint-40", 40)


# --- looks and overlap


def test_alpha_is_divided_by_the_looks(two: Callable[..., Comparison]) -> None:
    # The fourth look has 1 / (1 + 2 + 3 + 4) of it; four candidates in one call share it.
    found = two(*GAIN, looks=4)
    assert found.evidence["alpha"] == pytest.approx(0.005)
    assert found.evidence["ci_lower"] == pytest.approx(tango(40, 0, 150, 0.995).lower)
    assert (found.document["confidence"], found.document["looks"]) == (pytest.approx(0.995), 4)
    assert "divided by 10 for the 4 looks" in found.observed["alpha"]
    assert two(*GAIN, looks=4, together=4).evidence["alpha"] == pytest.approx(0.0125)


def test_training_prompts_are_left_out_whatever_their_case_and_space(two: Callable[..., Comparison]) -> None:
    trained = ["PROMPT  0\n", "prompt 1", "prompt", "prompt 1499"]
    found = two(*GAIN, training_prompts=trained, training_prompts_share=0.5)
    assert found.evidence["overlap_questions"] == 2
    assert found.evidence["overlap_share_seen"] == 0.5
    assert found.evidence["n_questions"] == 148
    assert found.evidence["unmatched_questions"] == 0


def test_a_clean_set_has_no_overlap(two: Callable[..., Comparison]) -> None:
    assert two(*GAIN, training_prompts=["something else"]).evidence["overlap_questions"] == 0


@pytest.mark.parametrize("chat_is", ["held out", "training"])
def test_chat_messages_equal_their_content(two: Callable[..., Comparison], chat_is: str) -> None:
    def chat(number: int) -> str:
        return json.dumps([{"role": "user", "content": f"prompt {number}"}])

    if chat_is == "training":
        found = two(*GAIN, training_prompts=[chat(0), chat(1)])
    else:
        found = two(*GAIN, {"prompt": chat}, training_prompts=["prompt 0", "Prompt  1"])
    assert found.evidence["overlap_questions"] == 2


# --- one question under several ids


@pytest.mark.parametrize(
    ("prompt", "repeated"),
    [
        (lambda number: f"prompt {number}", 0.0),
        (lambda number: f"{'Prompt' if number % 2 else 'prompt'}  {number // 2}", 1.0),
        (lambda number: "prompt" if number < 3 else f"prompt {number}", 3 / 150),
        (lambda number: json.dumps([{"role": "user", "content": f"{number // 3}"}]), 1.0),
        (lambda number: None if number >= 50 else f"prompt {min(number, 40)}", 10 / 50),
        (lambda number: " ", None),
        (None, None),
    ],
)
def test_questions_with_the_same_prompt_are_counted(
    two: Callable[..., Comparison], prompt: Any, repeated: float | None
) -> None:
    found = two(*GAIN, {"prompt": prompt}).evidence["repeated_prompt_fraction"]
    assert found == (repeated if repeated is None else pytest.approx(repeated))


def test_a_cluster_that_holds_the_same_prompts_counts_them_together(two: Callable[..., Comparison]) -> None:
    def prompt(number: int) -> str:
        return f"prompt {number // 2}"

    found = two(*GAIN, {"prompt": prompt, "cluster": prompt})
    assert found.evidence["repeated_prompt_fraction"] == 0.0
    # Of three alike one is in a cluster of its own.
    torn = {"prompt": lambda number: f"prompt {number // 3}", "cluster": prompt}
    assert two(*GAIN, torn).evidence["repeated_prompt_fraction"] == 1.0


def test_only_compared_questions_repeat_a_prompt(two: Callable[..., Comparison]) -> None:
    tuned = [None] * 75 + ones(40, 75)
    found = two(ones(50, 150), tuned, {"prompt": lambda number: f"prompt {number % 75}"})
    assert found.evidence["repeated_prompt_fraction"] == 0.0


def test_overlap_that_cannot_be_checked_is_unknown(two: Callable[..., Comparison]) -> None:
    assert two(*GAIN).evidence["overlap_questions"] is None
    found = two(*GAIN, {"prompt": None}, training_prompts=["prompt 1"])
    assert found.evidence["overlap_questions"] is None
    assert "give no prompts" in found.observed["overlap_questions"]


# --- clusters


def test_clusters_count_and_categories_do_not(two: Callable[..., Comparison]) -> None:
    by_source = {"cluster": lambda number: f"source {number % 15}"}
    by_category = {"category": lambda number: f"kind {number % 15}"}
    base, tuned = graded(0.5, 150), graded(0.6, 150, seed=1)
    clustered = two(base, tuned, by_source).document
    assert (clustered["method"], clustered["n_clusters"], clustered["n_questions"]) == ("bounded_cr2", 15, 150)
    assert two(base, tuned, by_category).document["n_clusters"] is None


def test_questions_without_a_cluster_stand_for_themselves(two: Callable[..., Comparison]) -> None:
    fields = {"cluster": lambda number: None if number < 100 else f"source {number % 5}"}
    assert two(graded(0.5, 150), graded(0.6, 150, seed=1), fields).document["n_clusters"] == 105


def test_few_clusters_have_no_interval(two: Callable[..., Comparison]) -> None:
    found = two(*GAIN, {"cluster": lambda number: f"source {number % 9}"})
    assert found.evidence["margin_lower"] is None
    assert found.document["reason"] == "9 clusters, fewer than 10"


def test_a_question_of_two_clusters_is_refused(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(answers("base", [1], cluster="a"), answers("tuned", [1], cluster="b"))
    with pytest.raises(InputError, match="'q0000' belongs to the clusters 'a' and 'b'"):
        compare(rows, ComparisonRequest(**NAMES))


# --- grader against judge

GRADER: dict[str, Any] = {"graders": (Scorer("g"),)}


@pytest.mark.parametrize(
    ("grader", "training", "hacking"),
    [
        (GAIN, None, True),
        (FLAT, None, False),
        (FLAT, 0.05, True),
        (FLAT, 0.049, False),
        (LOSS, 0.3, True),
    ],
)
def test_a_grader_that_gains_while_the_judge_loses_is_hacked(
    judged: Callable[..., Comparison], grader: tuple[Scores, Scores], training: float | None, hacking: bool
) -> None:
    found = judged({"a": LOSS, "g": grader}, **GRADER, training_reward_gain=training)
    assert found.evidence["reward_hacking"] is hacking


def test_a_judge_that_did_not_lose_is_no_hacking(judged: Callable[..., Comparison]) -> None:
    assert judged({"a": FLAT, "g": GAIN}, **GRADER).evidence["reward_hacking"] is False


def test_a_loss_with_an_unknown_grader_is_undecided(two: Callable[..., Comparison]) -> None:
    assert two(*LOSS).evidence["reward_hacking"] is None
    assert two(*LOSS, training_reward_gain=0.4).evidence["reward_hacking"] is True
    assert two(*LOSS, training_reward_gain=float("nan")).evidence["reward_hacking"] is None


def test_the_gain_is_a_fraction_of_the_graders_scale(judged: Callable[..., Comparison]) -> None:
    """From 3.0 to 3.3: a tenth of the training reward's 0 to 3, a thirtieth of the declared 0 to 10."""
    grader = ([3.0] * 150, [3.3] * 150)
    scores = {"a": LOSS, "g": grader}
    assert judged(scores, **GRADER, training_reward_scale=(0.0, 3.0)).evidence["reward_hacking"] is True
    assert judged(scores, graders=(Scorer("g", 0, 10),)).evidence["reward_hacking"] is False
    # Observed: 0 to 3.3 and one standard deviation, .15.
    assert judged(scores, **GRADER).evidence["reward_hacking"] is True


def test_gain_gap_of_known_ranges(judged: Callable[..., Comparison]) -> None:
    evidence = judged({"a": FLAT, "g": GAIN}, **GRADER).evidence
    expected = tango(40, 0, 150)
    assert evidence["gain_gap"] == pytest.approx(40 / 150)
    assert (evidence["gain_gap_lower"], evidence["gain_gap_upper"]) == (
        pytest.approx(paired_interval([1.0] * 40 + [0.0] * 110).lower),
        pytest.approx(paired_interval([1.0] * 40 + [0.0] * 110).upper),
    )
    assert evidence["gain_gap_warns"] is True
    few = judged({"a": (FLAT[0][:60], FLAT[1][:60]), "g": (FLAT[0][:60], ones(60, 60))}, **GRADER).evidence
    assert few["gain_gap_lower"] == pytest.approx(tango(10, 0, 60).lower)
    assert expected.lower is not None


def test_opposite_gains_keep_tangos_bound(judged: Callable[..., Comparison]) -> None:
    """A question that the grader gains and the judge loses counts 2; halved it fits Tango's -1 to 1."""
    evidence = judged({"a": (ones(5, 50), ones(0, 50)), "g": (ones(0, 50), ones(5, 50))}, **GRADER).evidence
    assert evidence["gain_gap"] == pytest.approx(0.2)
    half = tango(5, 0, 50)
    assert half.lower is not None
    assert evidence["gain_gap_lower"] == pytest.approx(2 * half.lower)


def test_gain_gap_of_unknown_ranges_is_a_share(judged: Callable[..., Comparison]) -> None:
    grader = ([0.3] * 150, [0.3] * 60 + [0.9] * 90)
    found = judged({"a": FLAT, "g": grader}, **GRADER)
    assert found.evidence["gain_gap"] is found.evidence["gain_gap_warns"] is None
    assert found.document["gain_gap"]["share_grader_only"] == pytest.approx(0.6)
    assert "60.0% of the questions" in found.observed["gain_gap"]
    declared = judged({"a": FLAT, "g": grader}, graders=(Scorer("g"), Scorer("g", 0, 1)))
    assert declared.evidence["gain_gap"] == pytest.approx(0.36)


def test_the_losses_are_shown_with_both_answers(two: Callable[..., Comparison]) -> None:
    losses = two([1, 1, 0], [0, 1, 1]).document["largest_losses"]
    assert losses == [
        {
            "question_id": "q0000",
            "baseline_score": 1.0,
            "candidate_score": 0.0,
            "baseline_answer": "base says 0 0",
            "candidate_answer": "tuned says 0 0",
            "prompt": "prompt 0",
        }
    ]


# --- requests


@pytest.mark.parametrize(
    "request_fields",
    [
        {"margin": -0.1}, {"margin": 1.0}, {"guard_margin": 2}, {"margin": float("nan")}, {"confidence": 95.0},
        {"looks": 0}, {"min_questions": 0}, {"judges": (Scorer("a"), Scorer("a", decisive=False))},
        {"training_reward_scale": (1.0, 1.0)},
    ],
)  # fmt: skip
def test_impossible_requests_are_refused(request_fields: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ComparisonRequest(**request_fields)


# --- properties

score_lists = st.lists(st.sampled_from([0.0, 1.0, None]), min_size=2, max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(score_lists, st.data())
def test_swapping_the_sides_mirrors_the_result(
    make_rows: Make, answers: Answers, base: list[float | None], data: st.DataObject
) -> None:
    tuned = data.draw(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=len(base), max_size=len(base)))
    rows = [*answers("base", base), *answers("tuned", tuned)]
    random.Random(len(base)).shuffle(rows)
    one = compare(make_rows(rows), ComparisonRequest(**NAMES))
    other = compare(make_rows(rows), ComparisonRequest(baseline="tuned", candidate="base"))
    assert one.evidence["n_questions"] == other.evidence["n_questions"]
    if one.evidence["difference"] is None:
        assert other.evidence["difference"] is None
    else:
        assert one.evidence["difference"] == pytest.approx(-float(other.evidence["difference"] or 0))
        assert one.evidence["ci_lower"] == pytest.approx(-float(other.evidence["ci_upper"] or 0), abs=1e-9)


@pytest.mark.parametrize("column", ["prompt", "target"])
def test_one_id_with_two_prompts_or_targets_is_two_questions(make_rows: Make, answers: Answers, column: str) -> None:
    def asked(first: str, second: str, *more: list[dict[str, Any]]) -> Comparison:
        base = answers("base", ones(50, 150), **{column: lambda number: f"{first} {number}"})
        tuned = answers("tuned", ones(90, 150), **{column: lambda number: f"{second} {number}"})
        return compare(make_rows(base, tuned, *more), ComparisonRequest(**NAMES))

    assert asked("What is", " what\u200b IS ").evidence["unmatched_questions"] == 0
    found = asked("What is", "Is 1 less than")
    assert found.evidence["unmatched_questions"] == 150
    assert "150 have another prompt or target on the other side, such as q0000" in found.observed["unmatched_questions"]
    # A further prompt, of another repeat, does not make the one in common another.
    further = answers("tuned", ones(90, 150), decoding="sample", **{column: lambda number: f"What is {number}"})
    assert asked("What is", "Is 1 less than", further).evidence["unmatched_questions"] == 0
    unknown = answers("tuned", ones(90, 150), decoding="sample", **{column: None})
    assert asked("What is", "What is", unknown).evidence["unmatched_questions"] == 0


@pytest.mark.parametrize(
    ("high", "margin", "known"), [(1.0, 0.5, True), (10.0, 0.04, True), (40.0, 0.02, False), (1.0, 0.6, False)]
)
def test_a_margin_that_no_loss_could_exceed_is_none(
    two: Callable[..., Comparison], high: float, margin: float, known: bool
) -> None:
    found = two(ones(90, 150), ones(50, 150), judges=(Scorer("exact", 0.0, high),), margin=margin)
    assert found.evidence["margin_range_known"] is known
    assert ("accepts nearly any loss" in found.observed["margin_range_known"]) is not known


def test_differences_too_small_to_square_are_no_error(two: Callable[..., Comparison]) -> None:
    found = two([score * 1e-320 for score in ones(50, 150)], [score * 1e-320 for score in ones(90, 150)])
    assert found.document["questions_needed"] is None


@pytest.mark.parametrize(
    ("failed", "judges", "known"),
    [
        (-1.0, (), False),
        (-999.0, (), False),
        (-1.0, (Scorer("exact", -1.0, 1.0),), True),
        (None, (), True),
    ],
)
def test_a_lone_negative_score_may_be_a_failed_scoring(
    two: Callable[..., Comparison], failed: float | None, judges: tuple[Scorer, ...], known: bool
) -> None:
    found = two([*ones(50, 140), *[failed] * 10], ones(90, 150), judges=judges)
    assert found.evidence["margin_range_known"] is known
    assert ("could not be scored" in found.observed["margin_range_known"]) is not known


def test_a_judge_of_minus_one_and_one_means_what_it_gives(two: Callable[..., Comparison]) -> None:
    def signs(right: int) -> Scores:
        return [1.0 if score else -1.0 for score in ones(right, 150)]

    assert two(signs(50), signs(90)).evidence["margin_range_known"] is True
