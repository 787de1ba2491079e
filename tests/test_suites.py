"""Suites and thresholds: the shipped ones load, edited copies are used, and mistakes in them are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlchecks import suites
from rlchecks.diagnosis import PROFILES, Severity
from rlchecks.errors import SuiteError, UsageError


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_loads(profile: str) -> None:
    loaded = suites.load(profile)
    assert loaded.health.expectations
    assert loaded.promotion.expectations
    assert loaded.parameters.hold_below["n_reward_rows"] == 10


def test_an_unknown_profile_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="chat, reasoning, hosted"):
        suites.load("poetry")


def test_a_copy_is_complete_and_is_never_written_over(tmp_path: Path) -> None:
    copied = suites.copy_to(tmp_path / "mine")
    assert len(copied) == 5
    assert suites.load("reasoning", tmp_path / "mine").health.expectations
    with pytest.raises(UsageError, match="already holds"):
        suites.copy_to(tmp_path / "mine")


def test_an_edited_level_is_the_one_that_findings_use(tmp_path: Path) -> None:
    suites.copy_to(tmp_path)
    path = tmp_path / "training_health.json"
    path.write_text(path.read_text().replace('"max_value": 0.25', '"max_value": 0.1'))
    assert suites.load("chat", tmp_path).parameters.warn_above["clipped_ratio_late"] == 0.1


def test_removing_an_expectation_does_not_silence_the_finding(tmp_path: Path) -> None:
    suites.copy_to(tmp_path)
    path = tmp_path / "training_health.json"
    document = json.loads(path.read_text())
    document["expectations"] = [
        one for one in document["expectations"] if one["kwargs"]["column"] != "clipped_ratio_late"
    ]
    path.write_text(json.dumps(document))
    assert suites.load("chat", tmp_path).parameters.warn_above["clipped_ratio_late"] == 0.25


def test_a_table_or_key_that_is_left_out_keeps_the_shipped_value(tmp_path: Path) -> None:
    suites.copy_to(tmp_path)
    (tmp_path / "findings.toml").write_text("[kl_without_gain]\nmin_rise_nats = 0.5\n")
    parameters = suites.load("chat", tmp_path).parameters
    assert parameters.limit("kl_without_gain", "min_rise_nats") == 0.5
    assert parameters.limit("kl_without_gain", "min_rise") == 0.2
    assert parameters.severity("length_collapse") == Severity.CRITICAL


def test_a_profile_overrides_only_itself(tmp_path: Path) -> None:
    suites.copy_to(tmp_path)
    (tmp_path / "findings.toml").write_text("[hosted.sudden_reward]\nrise = 0.5\n")
    assert suites.load("hosted", tmp_path).parameters.limit("sudden_reward", "rise") == 0.5
    assert suites.load("chat", tmp_path).parameters.limit("sudden_reward", "rise") == 0.3
    assert suites.load("reasoning").parameters.severity("length_with_reward") == Severity.INFORMATION


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[nonsense]\nx = 1\n", "nonsense.*unknown table"),
        ("[sudden_reward]\nraise = 0.3\n", "raise.*unknown key; known are"),
        ("[sudden_reward]\nrise = 'high'\n", "rise.*finite number"),
        ("[sudden_reward]\nrise = true\n", "rise.*finite number"),
        ("[sudden_reward]\nrise = nan\n", "rise.*finite number"),
        ("[sudden_reward]\nseverity = 'mild'\n", "expected one of information, warning, critical"),
        ("[sudden_reward\n", "not readable as TOML"),
    ],
)
def test_a_mistake_in_the_thresholds_is_named(tmp_path: Path, text: str, words: str) -> None:
    suites.copy_to(tmp_path)
    (tmp_path / "findings.toml").write_text(text)
    with pytest.raises(SuiteError, match=words):
        suites.load("chat", tmp_path)


def test_a_directory_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="rlchecks init"):
        suites.load("chat", tmp_path / "none")


def test_a_signal_that_does_not_exist_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    suites.copy_to(tmp_path)
    path = tmp_path / "training_health.json"
    path.write_text(path.read_text().replace('"reward_end"', '"reward_endd"'))
    with pytest.raises(SuiteError, match="reward_end"):
        suites.load("chat", tmp_path)


def test_a_promotion_suite_that_lost_its_last_line_of_defence_is_refused(tmp_path: Path) -> None:
    suites.copy_to(tmp_path)
    path = tmp_path / "promotion.json"
    document = json.loads(path.read_text())
    document["expectations"] = [one for one in document["expectations"] if one["kwargs"]["column"] != "unnamed_finding"]
    path.write_text(json.dumps(document))
    with pytest.raises(SuiteError, match="unnamed_finding"):
        suites.load("chat", tmp_path)
