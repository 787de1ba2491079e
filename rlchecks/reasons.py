"""From the results of the suites to the reasons of a verdict: each thing once, the cause before its consequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlchecks.diagnosis.finding import Finding
from rlchecks.evidence import COMPARISON_COLUMNS
from rlchecks.health import Check

Reason = dict[str, Any]

_WEIGHT = {"reject": 0, "hold": 1, "warn": 2, "pass": 3}

_CAUSES = (
    "reward_hacking",
    "held_out_loss",
    "judge_not_chosen",
    "grader_unknown",
    "judge_is_grader",
    "judge_equals_grader_scores",
    "baseline_is_candidate",
    "candidate_not_in_run",
    "candidate_beyond_log",
    "question_sets_differ",
    "duplicate_ids",
    "prompts_repeated",
    "judges_disagree",
    "too_few_questions",
    "answers_missing",
    "range_unknown",
    "gain_confirmed",
)
"""Codes that explain others, in the order in which somebody should hear of them."""

_IMPLIES: Mapping[str, frozenset[str]] = {
    "held_out_loss": frozenset({"gain_not_confirmed", "loss_not_excluded"}),
    # Where the only judge is the grader there is none to choose.
    "judge_is_grader": frozenset(
        {"independent_by_name_only", "judge_not_chosen", "judge_equals_grader_scores", "judge_family_is_graders"}
    ),
    "judge_equals_grader_scores": frozenset({"judge_is_grader", "independent_by_name_only"}),
    "judges_disagree": frozenset({"gain_not_confirmed"}),
    "grader_unknown": frozenset({"independent_by_name_only"}),
    "judge_not_chosen": frozenset({"independent_by_name_only"}),
    "health_answers_clipped": frozenset({"health_clipped_ratio_late"}),
    "health_starved_floor": frozenset({"health_zero_std_fraction_late"}),
    "health_starved_ceiling": frozenset({"health_zero_std_fraction_late"}),
    "health_starved": frozenset({"health_zero_std_fraction_late"}),
    "health_rewards_missing": frozenset({"health_missing_reward_fraction"}),
    "health_non_finite": frozenset({"health_non_finite_fraction", "health_too_short"}),
}
"""A code to those that say the same of the same number, and are not repeated beside it."""

_UNDEFINED_WITHOUT = frozenset({"judge_not_chosen"})
"""Without a judge nothing of the comparison is defined: that it is missing needs no saying."""

_NOT_LOGGED = "have it logged, or say which column it is with --column OWN=NAME."


def reasons(
    checks: Sequence[Check],
    findings: Iterable[Finding],
    observed: Mapping[str, str],
    advice: Mapping[str, str] | None = None,
) -> list[Reason]:
    """Make the reasons of a verdict.

    Args:
        checks: results of both suites.
        findings: every finding; it speaks for the checks that name it.
        observed: evidence column to the sentence that says what was observed.
        advice: evidence column to what to do about it, in place of the suite's advice.

    Returns:
        documents with ``code``, ``status``, ``effect``, ``title``, ``observed``, ``expected`` and ``advice``, the worst
        first. What does not apply, and a finding that was not made, is no reason.
    """
    by_code = {finding.code: finding for finding in findings}
    stopping = {check.code for check in checks if check.outcome == "failed"}
    implied = frozenset().union(*(_IMPLIES.get(code, frozenset()) for code in stopping))
    undefined = bool(stopping & _UNDEFINED_WITHOUT)
    kept = [
        (check, _reason(check, by_code, observed, advice or {}))
        for check in checks
        if check.effect != "ignore"
        and not (check.outcome == "passed" and check.column.startswith(("finding_", "critical_")))
        and not (check.effect != "pass" and check.code in implied)
        and not (check.outcome == "missing" and undefined and check.column in COMPARISON_COLUMNS)
        and not (check.outcome == "missing" and "judges_disagree" in stopping and check.column == "margin_upper")
    ]
    return _once(sorted((reason for _, reason in kept), key=_order))


def _reason(
    check: Check, findings: Mapping[str, Finding], observed: Mapping[str, str], advised: Mapping[str, str]
) -> Reason:
    title, advice = check.title, advised.get(check.column, check.advice)
    seen = observed.get(check.column) or _value(check)
    finding = findings.get(check.code.removeprefix("health_"))
    if check.outcome == "passed":
        advice = ""
    elif check.outcome == "missing":
        # The suite's advice is for a number that is bad, not for one that is not there.
        missing = advised.get(check.column, "")
        advice = missing if check.column in COMPARISON_COLUMNS else f"{title.rstrip('.')}: {_NOT_LOGGED}"
    elif finding is not None:
        title, advice, seen = finding.title, finding.advice, finding.meaning
    return {
        "code": check.code,
        "status": check.outcome,
        "effect": check.effect,
        "title": title,
        "observed": seen,
        "expected": check.expected,
        "advice": advice,
    }


def _value(check: Check) -> str | None:
    if check.note:
        return check.note
    if check.observed is None:
        return None
    return f"{check.observed:.4g}" if isinstance(check.observed, float) else str(check.observed).lower()


def _order(reason: Reason) -> tuple[int, int, int]:
    code = reason["code"]
    rank = _CAUSES.index(code) if code in _CAUSES else len(_CAUSES)
    # What was measured and is bad comes before what could not be measured, which may be its consequence.
    return _WEIGHT[reason["effect"]], int(reason["status"] not in ("failed", "passed")), rank


def _once(ordered: list[Reason]) -> list[Reason]:
    strongest: dict[str, str] = {}
    result: dict[tuple[str, str], Reason] = {}
    for reason in ordered:
        if strongest.setdefault(reason["code"], reason["effect"]) == reason["effect"]:
            result.setdefault((reason["code"], reason["title"]), reason)
    return list(result.values())
