"""The suites that ship: Great Expectations and the strict loader take them, and every limit is where it is meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import great_expectations as gx
import pyarrow as pa
import pytest

import rlchecks
from rlchecks.health import Check, Suite, load_suite, validate
from rlchecks.signals import SIGNALS

DIRECTORY = Path(rlchecks.__file__).parent / "expectations"
HEALTH = ("training_health", "training_health.reasoning", "training_health.hosted")

# Findings that can be a warning or worse, and those that can be critical.
FINDINGS = (
    "starved_floor",
    "starved_ceiling",
    "starved",
    "reward_falling",
    "length_with_reward",
    "length_collapse",
    "answers_clipped",
    "kl_without_gain",
    "sudden_reward",
    "format_only",
    "non_finite",
    "diverged",
    "validation_flat",
)
CRITICAL = ("starved_floor", "length_collapse", "answers_clipped", "non_finite", "diverged")

# Evidence with which a model is promoted without a remark.
SOUND: dict[str, Any] = {
    "n_questions": 200,
    "missing_fraction": 0.0,
    "missing_changes_result": False,
    "duplicate_ids": 0,
    "unmatched_questions": 0,
    "repeated_prompt_fraction": 0.0,
    "baseline_is_candidate": False,
    "candidate_beyond_log": False,
    "candidate_not_in_run": False,
    "judge_chosen": True,
    "judge_is_grader": False,
    "judge_copies_grader": False,
    "judge_family_is_graders": False,
    "judge_family_is_models": False,
    "grader_known": True,
    "judge_identity_declared": True,
    "difference": 0.4,
    "ci_lower": 0.3,
    "ci_upper": 0.5,
    "margin_range_known": True,
    "margin_lower": 0.3,
    "margin_upper": 0.5,
    "judges_disagree": False,
    "guard_upper": 0.1,
    "guard_lower": -0.01,
    "n_guards_undefined": 0,
    "gain_depends_on_decoding": False,
    "reward_hacking": False,
    "gain_gap_warns": False,
    "gain_gap_lower": -0.01,
    "category_upper": 0.1,
    "n_carrying": 20,
    "overlap_questions": 0,
    "too_short": False,
    "unnamed_finding": False,
    **{f"finding_{code}": False for code in FINDINGS},
    **{f"critical_{code}": False for code in CRITICAL},
    "finding_rewards_missing": False,
}

# column, value, worst effect of it, reason code. The limits on both sides; null is "not known".
DECISIONS: tuple[tuple[str, Any, str, str], ...] = (
    ("n_questions", 100, "pass", "too_few_questions"),
    ("n_questions", 99, "hold", "too_few_questions"),
    ("n_questions", None, "hold", "too_few_questions"),
    ("missing_fraction", 0.02, "pass", "answers_missing"),
    ("missing_fraction", 0.021, "hold", "answers_missing"),
    ("missing_fraction", None, "hold", "answers_missing"),
    ("missing_changes_result", True, "hold", "answers_missing"),
    ("missing_changes_result", None, "hold", "answers_missing"),
    ("duplicate_ids", 1, "hold", "duplicate_ids"),
    ("duplicate_ids", None, "hold", "duplicate_ids"),
    ("unmatched_questions", 1, "hold", "question_sets_differ"),
    ("unmatched_questions", None, "hold", "question_sets_differ"),
    ("repeated_prompt_fraction", 0.02, "pass", "prompts_repeated"),
    ("repeated_prompt_fraction", 0.021, "hold", "prompts_repeated"),
    ("repeated_prompt_fraction", None, "ignore", "prompts_repeated"),
    ("baseline_is_candidate", True, "hold", "baseline_is_candidate"),
    ("baseline_is_candidate", None, "hold", "baseline_is_candidate"),
    ("candidate_not_in_run", True, "hold", "candidate_not_in_run"),
    ("candidate_not_in_run", None, "ignore", "candidate_not_in_run"),
    ("candidate_beyond_log", True, "hold", "candidate_beyond_log"),
    ("candidate_beyond_log", None, "ignore", "candidate_beyond_log"),
    ("judge_chosen", False, "hold", "judge_not_chosen"),
    ("judge_chosen", None, "hold", "judge_not_chosen"),
    ("judge_is_grader", True, "hold", "judge_is_grader"),
    ("judge_is_grader", None, "hold", "judge_is_grader"),
    ("judge_copies_grader", True, "hold", "judge_equals_grader_scores"),
    ("judge_copies_grader", None, "hold", "judge_equals_grader_scores"),
    ("judge_family_is_graders", True, "warn", "judge_family_is_graders"),
    ("judge_family_is_graders", None, "ignore", "judge_family_is_graders"),
    ("judge_family_is_models", True, "warn", "judge_family_is_models"),
    ("judge_family_is_models", None, "ignore", "judge_family_is_models"),
    ("grader_known", False, "hold", "grader_unknown"),
    ("grader_known", None, "hold", "grader_unknown"),
    ("judge_identity_declared", False, "warn", "independent_by_name_only"),
    ("judge_identity_declared", None, "warn", "independent_by_name_only"),
    ("difference", None, "hold", "gain_not_confirmed"),
    ("ci_lower", None, "hold", "gain_not_confirmed"),
    ("ci_upper", None, "hold", "gain_not_confirmed"),
    ("margin_range_known", False, "hold", "range_unknown"),
    ("margin_range_known", None, "hold", "range_unknown"),
    ("margin_lower", 1e-9, "pass", "gain_confirmed"),
    ("margin_lower", 0.0, "hold", "gain_not_confirmed"),
    ("margin_lower", -0.1, "hold", "gain_not_confirmed"),
    ("margin_lower", None, "hold", "gain_not_confirmed"),
    ("margin_upper", 0.0, "pass", "held_out_loss"),
    ("margin_upper", -1e-9, "reject", "held_out_loss"),
    ("margin_upper", None, "hold", "held_out_loss"),
    ("judges_disagree", True, "hold", "judges_disagree"),
    ("judges_disagree", None, "hold", "judges_disagree"),
    ("guard_upper", 0.0, "pass", "held_out_loss"),
    ("guard_upper", -0.02, "hold", "held_out_loss"),
    ("guard_upper", -0.021, "reject", "held_out_loss"),
    ("guard_upper", None, "ignore", "held_out_loss"),
    ("guard_lower", -0.1, "pass", "loss_not_excluded"),
    ("guard_lower", -0.11, "warn", "loss_not_excluded"),
    ("guard_lower", None, "ignore", "loss_not_excluded"),
    ("n_guards_undefined", 1, "warn", "loss_not_excluded"),
    ("n_guards_undefined", None, "warn", "loss_not_excluded"),
    ("gain_depends_on_decoding", True, "warn", "gain_depends_on_decoding"),
    ("gain_depends_on_decoding", None, "ignore", "gain_depends_on_decoding"),
    ("reward_hacking", True, "reject", "reward_hacking"),
    ("reward_hacking", None, "hold", "reward_hacking"),
    ("gain_gap_warns", True, "warn", "gain_gap"),
    ("gain_gap_warns", None, "warn", "gain_gap"),
    ("gain_gap_lower", 0.1, "pass", "gain_gap"),
    ("gain_gap_lower", 0.11, "hold", "gain_gap"),
    ("gain_gap_lower", None, "ignore", "gain_gap"),
    ("category_upper", -0.02, "pass", "category_loss"),
    ("category_upper", -0.021, "warn", "category_loss"),
    ("category_upper", None, "ignore", "category_loss"),
    ("n_carrying", 4, "pass", "few_questions_carry"),
    ("n_carrying", 3, "warn", "few_questions_carry"),
    ("n_carrying", None, "ignore", "few_questions_carry"),
    ("overlap_questions", 1, "warn", "overlap"),
    ("overlap_questions", None, "warn", "overlap"),
    ("too_short", True, "hold", "health_too_short"),
    ("too_short", None, "hold", "health_too_short"),
    ("unnamed_finding", True, "hold", "health_unnamed_finding"),
    ("unnamed_finding", None, "hold", "health_unnamed_finding"),
    ("finding_rewards_missing", True, "hold", "health_rewards_missing"),
    ("finding_rewards_missing", None, "hold", "health_rewards_missing"),
    *((f"finding_{code}", True, "warn", f"health_{code}") for code in FINDINGS),
    *((f"finding_{code}", None, "hold", f"health_{code}") for code in FINDINGS),
    *((f"critical_{code}", True, "hold", f"health_{code}") for code in CRITICAL),
    *((f"critical_{code}", None, "hold", f"health_{code}") for code in CRITICAL),
)

# column, value, worst effect in the profiles chat, reasoning and hosted.
SIGNAL_LIMITS: tuple[tuple[str, Any, tuple[str, str, str]], ...] = (
    ("n_reward_rows", 10, ("pass", "pass", "pass")),
    ("n_reward_rows", 9, ("hold", "hold", "hold")),
    ("n_reward_rows", None, ("hold", "hold", "hold")),
    ("reward_end", -1e9, ("pass", "pass", "pass")),
    ("reward_end", None, ("hold", "hold", "hold")),
    ("missing_reward_fraction", 0.3, ("pass", "pass", "pass")),
    ("missing_reward_fraction", 0.31, ("warn", "warn", "warn")),
    ("missing_reward_fraction", 0.5, ("warn", "warn", "warn")),
    ("missing_reward_fraction", 0.51, ("hold", "hold", "hold")),
    ("missing_reward_fraction", None, ("hold", "hold", "hold")),
    ("clipped_ratio_late", 0.24, ("pass", "pass", "pass")),
    ("clipped_ratio_late", 0.25, ("warn", "warn", "warn")),
    ("clipped_ratio_late", 0.5, ("hold", "hold", "hold")),
    ("clipped_ratio_late", None, ("warn", "warn", "ignore")),
    ("zero_std_fraction_late", 0.79, ("pass", "pass", "pass")),
    ("zero_std_fraction_late", 0.8, ("warn", "warn", "warn")),
    ("zero_std_fraction_late", None, ("warn", "warn", "ignore")),
    ("non_finite_fraction", 0.0, ("pass", "pass", "pass")),
    ("non_finite_fraction", 0.01, ("warn", "warn", "warn")),
    ("non_finite_fraction", None, ("hold", "hold", "hold")),
    ("unreadable_metrics", 0, ("pass", "pass", "pass")),
    ("unreadable_metrics", 1, ("hold", "hold", "hold")),
    ("unreadable_metrics", None, ("hold", "hold", "hold")),
    ("validation_end", 0.0, ("none", "none", "pass")),
    ("validation_end", None, ("none", "none", "hold")),
)
WORSE = ("none", "pass", "ignore", "warn", "hold", "reject")


def worst(checks: list[Check]) -> str:
    return max((check.effect for check in checks), key=WORSE.index, default="none")


def table_of(rows: list[dict[str, Any]]) -> pa.Table:
    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(column, types[type(value)]) for column, value in SOUND.items()])
    return pa.Table.from_pylist(rows, schema=schema)


@pytest.fixture(scope="module")
def promotion() -> Suite:
    return load_suite(DIRECTORY / "promotion.json", SOUND)


@pytest.fixture(scope="module")
def decided(promotion: Suite) -> list[list[Check]]:
    """The checks of each entry of DECISIONS, and at the end those of sound evidence."""
    rows = [SOUND | {column: value} for column, value, _, _ in DECISIONS]
    result = validate(promotion, table_of([*rows, SOUND]))
    assert result.notes == {}
    return [list(result.checks(row)) for row in range(len(rows) + 1)]


def test_sound_evidence_passes_every_expectation(decided: list[list[Check]]) -> None:
    assert {check.effect for check in decided[-1]} == {"pass"}
    assert "gain_confirmed" in {check.code for check in decided[-1]}


@pytest.mark.parametrize(
    "index", range(len(DECISIONS)), ids=lambda index: f"{DECISIONS[index][0]}={DECISIONS[index][1]}"
)
def test_evidence_has_the_effect_of_the_decision_rule(decided: list[list[Check]], index: int) -> None:
    column, _, effect, code = DECISIONS[index]
    own = [check for check in decided[index] if check.column == column]
    assert worst(own) == effect
    assert {check.code for check in own} == {code}
    assert {check.effect for check in decided[index] if check.column != column} == {"pass"}


def test_every_promotion_expectation_was_seen_to_pass_to_fail_and_to_miss(decided: list[list[Check]]) -> None:
    for index, check in enumerate(decided[-1]):
        seen = {row[index].outcome for row in decided}
        if check.expected != "present":
            assert {"passed", "failed"} <= seen, check.column
        assert seen & {"missing", "not_applicable"}, check.column


def test_the_promotion_suite_names_every_evidence_column_once_a_limit(promotion: Suite) -> None:
    assert {spec.column for spec in promotion.expectations} == SOUND.keys()
    assert len({(spec.column, spec.expected) for spec in promotion.expectations}) == len(promotion.expectations)


@pytest.mark.parametrize("profile", range(3), ids=HEALTH)
def test_signals_have_the_effect_of_their_profile(profile: int) -> None:
    suite = load_suite(DIRECTORY / f"{HEALTH[profile]}.json", SIGNALS)
    seen: dict[int, set[str]] = {}
    for column, value, effects in SIGNAL_LIMITS:
        kind = pa.int64() if SIGNALS[column].kind == "integer" else pa.float64()
        result = validate(suite, pa.table({column: pa.array([value], kind)}))
        checks = result.checks(0)
        assert worst([check for check in checks if check.column == column]) == effects[profile], (column, value)
        for index, check in enumerate(checks):
            if check.column == column:
                seen.setdefault(index, set()).add(check.outcome)
    for index, spec in enumerate(suite.expectations):
        absent = {"not_applicable"} if spec.on_missing == "ignore" else {"missing"}
        outcomes = {"passed"} if spec.expected == "present" else {"passed", "failed"}
        assert seen[index] == outcomes | absent, spec.column


@pytest.mark.parametrize("name", ["promotion", *HEALTH])
def test_great_expectations_takes_the_file_as_it_is(name: str) -> None:
    document = json.loads((DIRECTORY / f"{name}.json").read_text())
    suite = gx.ExpectationSuite(**document)
    assert suite.name == name
    written: Any = suite.to_json_dict()["expectations"]
    wanted = document["expectations"]
    assert len(written) == len(wanted) > 0
    for expectation in wanted:
        assert any(all(other[key] == expectation[key] for key in expectation) for other in written), expectation


@pytest.mark.parametrize("name", ["promotion", *HEALTH])
def test_every_limit_has_its_reason(name: str) -> None:
    document = json.loads((DIRECTORY / f"{name}.json").read_text())
    for expectation in document["expectations"]:
        for key in ("title", "why", "advice"):
            assert expectation["meta"][key].endswith("."), expectation["kwargs"]


def test_no_suite_rests_on_the_loss() -> None:
    for name in ("promotion", *HEALTH):
        columns = {
            each["kwargs"]["column"] for each in json.loads((DIRECTORY / f"{name}.json").read_text())["expectations"]
        }
        assert "loss" not in columns


@pytest.mark.parametrize("path", sorted(DIRECTORY.glob("*.json")), ids=lambda path: path.stem)
def test_titles_name_the_matter_and_state_nothing(path: Path) -> None:
    # A title stands beside the outcome, passed or failed: a statement would be wrong beside one of the two.
    for expectation in json.loads(path.read_text(encoding="utf-8"))["expectations"]:
        title = expectation["meta"]["title"]
        if title.startswith(("Finding: ", "Finding at critical level: ")):
            continue
        words = title.split(" that ")[0].rstrip(".").split()
        assert not {"No", "not", "is", "are", "does", "exceeds", "loses", "agree"} & set(words), title
