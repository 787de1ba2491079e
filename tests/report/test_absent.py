"""Why a chart is missing: the framework cannot log it, it measured nothing, or it was not logged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.readers import read_run
from rlchecks.report import absent
from rlchecks.report.page import render
from rlchecks.report.panels import build
from rlchecks.run import RunLog

ROWS = [{"step": step, "reward": 0.5} for step in range(1, 30)]
MakeRun = Callable[..., RunLog]


@pytest.mark.parametrize(
    ("facts", "version", "words"),
    [
        ({}, None, "not logged"),
        ({"metrics_not_loggable": "kl,clipped_ratio"}, None, "cannot be logged by Hugging Face TRL GRPO"),
        (
            {"metrics_not_loggable": "clipped_ratio (inferred)"},
            "0.15.2",
            "cannot be logged by Hugging Face TRL GRPO 0.15.2",
        ),
        (
            {"metrics_not_loggable": "clipped_ratio", "trl_keys": "0.14 to 0.16 (inferred)"},
            None,
            "cannot be logged by Hugging Face TRL GRPO with the keys of 0.14 to 0.16",
        ),
        (
            {"metrics_not_loggable": "clipped_ratio", "trl_keys": "unknown"},
            None,
            "cannot be logged by Hugging Face TRL GRPO",
        ),
        ({"metrics_not_loggable": "not_clipped_ratio"}, None, "not logged"),
        ({"metrics_switched_off": "clipped_ratio"}, None, "logged as exactly 0 throughout, which is no measurement"),
    ],
)
def test_the_reason_is_told(make_run: MakeRun, facts: dict[str, str], version: str | None, words: str) -> None:
    run = make_run(ROWS, facts=facts, framework_version=version)
    assert absent.reason(run, "clipped_ratio") == words
    chart = next(panel for panel in build(run, {}, []) if panel.title == "Clipped ratio")
    assert chart.svg is None
    assert chart.absent == words


def test_a_framework_of_a_third_party_is_named_as_it_is(make_run: MakeRun) -> None:
    run = make_run(ROWS, framework="my\nown <b>", facts={"metrics_not_loggable": "kl"})
    assert absent.reason(run, "kl") == "cannot be logged by my own <b>"
    assert "<b>" not in render({}, run, {})


def test_the_page_tells_apart_what_cannot_be_logged(make_run: MakeRun, document: dict[str, Any]) -> None:
    run = make_run(ROWS, facts={"metrics_not_loggable": "entropy"})
    page = render(document | {"not_measured": ["entropy", "grad_norm"]}, run, {})
    assert "<dt>entropy</dt><dd>cannot be logged by Hugging Face TRL GRPO</dd>" in page
    assert "<dt>grad norm</dt><dd>not logged</dd>" in page


def test_the_spread_within_groups_may_be_a_median(make_run: MakeRun) -> None:
    rows = [row | {"reward_std": 0.3} for row in ROWS]
    run = make_run(
        rows, facts={"reward_std_semantics": "within_group_median", "metrics_not_loggable": "zero_std_fraction"}
    )
    chart = next(panel for panel in build(run, {}, []) if panel.title.startswith("Spread"))
    assert "Spread within each prompt's answers, the median over prompts." in chart.notes
    assert "Prompts with a signal: cannot be logged by Hugging Face TRL GRPO." in chart.notes


def test_an_old_trl_cannot_log_cut_answers(shared_data: Path) -> None:
    run = read_run(shared_data / "trl" / "old-healthy-kl")
    assert absent.reason(run, "clipped_ratio") == (
        "cannot be logged by Hugging Face TRL GRPO with the keys of 0.14 to 0.16"
    )
    assert absent.reason(run, "kl") == "not logged"
