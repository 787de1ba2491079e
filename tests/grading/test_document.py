"""Payments as evidence of findings, and in verdict.json."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from rlchecks.diagnosis import Finding, Severity
from rlchecks.grading import Payment, documents, payments, support
from rlchecks.grading.pays import Example
from rlchecks.readers import read_run
from rlchecks.run import RunLog
from rlchecks.schema import COMPLETIONS, STEPS

LENGTH = Payment("lazy", "length", "100 more characters", 0.11, 0.08, 0.14, 0.001, 40)
CODES = ("length_with_reward", "reward_hacking", "learning", "length_growth")
FINDINGS = tuple(Finding(code, Severity.WARNING, "Title.", "Meaning.", "Advice.", {"n": 1.0}) for code in CODES)


def test_what_is_paid_for_length_supports_the_findings_that_it_explains() -> None:
    found = {one.code: one for one in support(FINDINGS, [LENGTH])}
    for code in ("length_with_reward", "reward_hacking"):
        assert found[code].meaning == (
            "Meaning. Among answers to the same prompt, lazy pays +0.11 for 100 more characters (95 %: +0.08 to +0.14)."
        )
        assert found[code].evidence == {
            "n": 1.0,
            "length_payment": 0.11,
            "length_payment_lower": 0.08,
            "length_payment_upper": 0.14,
        }
    assert (found["learning"], found["length_growth"]) == FINDINGS[2:]


@pytest.mark.parametrize(
    "other",
    [
        Payment("lazy", "length", "100 more characters", -0.11, -0.14, -0.08, 0.001, 40),
        Payment("lazy", "length", "100 more characters", 0.01, -0.01, 0.03, 0.4, 40),
        Payment("lazy", "length", "100 more characters", reason="it varies in fewer than 10 prompts"),
        Payment("lazy", "hedges", "one more hedge", 0.2, 0.1, 0.3, 0.001, 40),
    ],
    ids=["pays for brevity", "unclear", "unknown", "another feature"],
)
def test_no_other_payment_supports_them(other: Payment) -> None:
    assert support(FINDINGS, [other]) == FINDINGS
    assert support(FINDINGS, []) == FINDINGS


def test_documents_hold_every_payment_with_its_reason_or_its_example() -> None:
    shown = Payment(
        **{**LENGTH.__dict__, "example": Example(3, "p" * 5000, "long" * 900, 0.9, "short", 0.1)}  # type: ignore[arg-type]
    )
    unknown = Payment("lazy", "hedges", "one more hedge", reason="it varies in fewer than 10 prompts")
    first, second = json.loads(json.dumps(documents([shown, unknown]), allow_nan=False))
    assert (first["amount"], first["lower"], first["upper"], first["clear"]) == (0.11, 0.08, 0.14, True)
    assert len(first["example"]["prompt"]) == len(first["example"]["more"]) == 1500
    assert (first["example"]["more_score"], first["example"]["less_score"]) == (0.9, 0.1)
    assert (second["amount"], second["example"], second["clear"]) == (None, None, False)
    assert second["reason"] == "it varies in fewer than 10 prompts"


def test_answers_after_the_candidate_do_not_count() -> None:
    def row(step: int, at: int) -> dict[str, object]:
        # Up to step 10 the grader pays for length, afterwards for brevity.
        text = "x" * (10 + 37 * at)
        score = 0.001 * len(text) * (1 if step <= 10 else -1)
        base = {"run_id": "r", "split": "train", "advantage": None, "extra_text": []}
        return base | {"step": step, "prompt": f"p{step}", "completion": text, "rewards": [("grader", score)]}

    answers = pa.Table.from_pylist([row(step, at) for step in range(1, 41) for at in range(4)], schema=COMPLETIONS)
    run = RunLog("r", "r", "r", "trl_grpo", STEPS.empty_table(), completions=answers)
    (early,) = (one.amount for one in payments(run, 10) if one.feature == "length")
    (whole,) = (one.amount for one in payments(run) if one.feature == "length")
    assert early == pytest.approx(0.01)  # for 10 more characters: the answers are short
    assert whole is not None
    assert whole < 0


def test_a_real_run_s_finding_says_what_its_grader_pays(shared_data: Path) -> None:
    paid = payments(read_run(shared_data / "trl" / "length-hack-s6"))
    (length, *_) = support(FINDINGS, paid)
    assert "more characters (95 %: +" in length.meaning
    amount, lower = length.evidence["length_payment"], length.evidence["length_payment_lower"]
    assert isinstance(amount, float)
    assert isinstance(lower, float)
    assert 0 < lower < amount
