"""Payments in verdict.json, and as evidence of findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow.compute as pc

from rlchecks.diagnosis.finding import Finding
from rlchecks.grading.pays import Example, Payment, what_it_pays
from rlchecks.run import RunLog

_SUPPORTED = frozenset({"length_with_reward", "reward_hacking"})
_LONGEST = 1500
"""Characters of an answer that a document keeps."""


def payments(run: RunLog, last_step: int | None = None) -> tuple[Payment, ...]:
    """What the graders paid for in the answers that a run logged, up to a candidate's step."""
    answers = run.completions
    if last_step is not None and answers.num_rows:
        answers = answers.filter(pc.less_equal(answers["step"], last_step))
    return what_it_pays(answers)


def documents(paid: Sequence[Payment]) -> list[dict[str, Any]]:
    """The payments as they stand in verdict.json under ``grader_pays``."""
    return [
        {
            "function": one.function,
            "feature": one.feature,
            "unit": one.unit,
            "amount": one.amount,
            "lower": one.lower,
            "upper": one.upper,
            "p": one.p,
            "prompts": one.prompts,
            "clear": one.clear,
            "reason": one.reason,
            "example": None if one.example is None else _example(one.example),
        }
        for one in paid
    ]


def support(findings: Sequence[Finding], paid: Sequence[Payment]) -> tuple[Finding, ...]:
    """Add what the grader pays for length to the findings that it explains."""
    prices = [one for one in paid if one.feature == "length" and one.clear and (one.amount or 0) > 0]
    if not prices:
        return tuple(findings)
    price = prices[0]
    said = (
        f" Among answers to the same prompt, {price.function[:60]} pays {price.amount:+.3g} for {price.unit} "
        f"(95 %: {price.lower:+.3g} to {price.upper:+.3g})."
    )
    numbers = {"length_payment": price.amount, "length_payment_lower": price.lower, "length_payment_upper": price.upper}
    return tuple(
        replace(one, meaning=one.meaning + said, evidence={**one.evidence, **numbers})
        if one.code in _SUPPORTED
        else one
        for one in findings
    )


def _example(example: Example) -> dict[str, Any]:
    return {
        "step": example.step,
        "prompt": example.prompt[:_LONGEST],
        "more": example.more[:_LONGEST],
        "more_score": example.more_score,
        "less": example.less[:_LONGEST],
        "less_score": example.less_score,
    }
