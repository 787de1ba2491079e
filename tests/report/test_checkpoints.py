"""All checkpoints against the best, on the page and in the terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from rlchecks.report import checkpoints
from rlchecks.report.page import render
from rlchecks.report.terminal import verdict
from rlchecks.run import RunLog

COLUMN = '<th class="end">KL</th><th class="end">questions</th>'
HOSTILE = "<script>alert(1)</script>\x1b[31m\n"


def curve(**changes: Any) -> dict[str, Any]:
    rows = [
        {
            "checkpoint": name,
            "step": step,
            "mean": mean,
            "n_questions": 200,
            "difference": mean - 0.75,
            "ci_lower": lower,
            "ci_upper": upper,
            "may_be_best": upper > 0,
            "kl": kl,
        }
        for name, step, mean, lower, upper, kl in (
            ("base", 0, 0.4, -0.4, 0.0, 0.0),
            ("checkpoint-40", 40, 0.74, -0.04, 0.03, 0.1),
            ("checkpoint-80", 80, 0.75, -0.03, 0.04, 0.3),
        )
    ]
    return {
        "judge": "strict",
        "decoding": "sample",
        "confidence": 0.95,
        "tolerance": 0.05,
        "best": "checkpoint-80",
        "as_good": "checkpoint-40",
        "reason": None,
        "rows": rows,
        "kl_curve": {"peak_kl": None, "reason": "3 checkpoints with a score and a KL, fewer than 6"},
    } | changes


def told(document: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=300, force_terminal=False)
    verdict(console, document, {})
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "checkpoint-40 is as good as checkpoint-80, which scored highest of 3: at most 0.040 below the best, "
             "where all limits hold together with a confidence of 95%."),
        ({"as_good": "checkpoint-80"}, "checkpoint-80 scored highest of 3 checkpoints, and none before it is as good."),
        ({"best": "base", "as_good": "base"}, "base scored highest of 3 checkpoints; it is the first of them."),
        ({"as_good": None}, "checkpoint-80 scored highest of 3 checkpoints, but any of checkpoint-40, checkpoint-80 "
                            "may be the best, where all limits hold together with a confidence of 95%; more "
                            "questions would tell."),
        ({"rows": [], "best": None, "reason": "51 checkpoints, more than 50"},
         "The checkpoints were not compared with each other: 51 checkpoints, more than 50."),
    ],
)  # fmt: skip
def test_one_sentence_says_where_the_model_was_best(
    document: dict[str, Any], run: RunLog, signals: dict[str, Any], changes: dict[str, Any], sentence: str
) -> None:
    document["comparison"]["checkpoints"] = curve(**changes)
    assert checkpoints.sentence(document) == sentence
    assert sentence in told(document)
    assert sentence in render(document, run, signals)


def test_all_that_may_be_the_best_are_counted() -> None:
    rows = [curve()["rows"][1] | {"checkpoint": f"checkpoint-{step}"} for step in range(11)]
    said = checkpoints.sentence({"comparison": {"checkpoints": curve(rows=rows, as_good=None, best="checkpoint-3")}})
    assert "checkpoint-7 and 3 more may be the best" in said


def test_the_page_has_the_table_and_the_picture(document: dict[str, Any], run: RunLog, signals: dict[str, Any]) -> None:
    document["comparison"]["checkpoints"] = curve()
    page = render(document, run, signals)
    assert "Where the model was best" in page
    assert "-0.010 [-0.040, +0.030]" in page
    assert "Checkpoints against the best of them" in page
    assert "No fit of the score against the KL: 3 checkpoints with a score and a KL, fewer than 6." in page
    assert COLUMN in page


def test_a_kl_that_nobody_logged_has_no_column(document: dict[str, Any], run: RunLog, signals: dict[str, Any]) -> None:
    document["comparison"]["checkpoints"] = found = curve()
    for row in found["rows"]:
        row["kl"] = None
    page = render(document, run, signals)
    assert COLUMN not in page
    assert "No fit of the score" not in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"peak_kl": 0.36, "peak_kl_low": 0.2, "peak_kl_high": 0.5}, "peaks at 0.360 (0.200 to 0.500)."),
        ({"peak_kl": 0.9, "peak_kl_low": 0.4, "peak_kl_high": None, "beyond": True},
         "peaks at 0.900 (0.400 to no limit), further than any of these checkpoints."),
    ],
)  # fmt: skip
def test_the_peak_is_told_with_its_limits(document: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    document["comparison"]["checkpoints"] = curve(kl_curve=changes)
    assert checkpoints.distance(document).endswith(words)


def test_verdicts_without_such_a_comparison_say_nothing_of_it(
    document: dict[str, Any], run: RunLog, signals: dict[str, Any]
) -> None:
    for value in (None, {}, [], "text", 3):
        document["comparison"]["checkpoints"] = value
        assert checkpoints.sentence(document) == ""
        assert checkpoints.picture(document) is None
        assert "Where the model was best" not in render(document, run, signals)


def test_damaged_and_hostile_documents_are_shown_harmlessly(
    document: dict[str, Any], run: RunLog, signals: dict[str, Any]
) -> None:
    rows = [
        {"checkpoint": HOSTILE, "step": HOSTILE, "mean": HOSTILE, "difference": "x", "ci_lower": [], "kl": {}},
        {
            "checkpoint": 3,
            "step": 1e400,
            "mean": float("nan"),
            "difference": 1e308,
            "ci_lower": -1e308,
            "may_be_best": 1,
        },
        {},
    ]
    odd = {"rows": rows, "best": HOSTILE, "as_good": HOSTILE, "reason": HOSTILE, "kl_curve": {"reason": HOSTILE}}
    for changes in (odd, odd | {"as_good": None}, odd | {"rows": "rows"}, odd | {"kl_curve": [1], "tolerance": "x"}):
        document["comparison"]["checkpoints"] = changes
        page = render(document, run, signals)
        assert "<script>" not in page
        assert "\x1b" not in page
        assert "\x1b[31m" not in told(document)
