"""What is set before Prefect is imported; the user's own choices stay."""

from __future__ import annotations

import os

import pytest

from rlchecks.orchestrator import environment

CONSOLE_LEVEL = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing set by a test stays, and no setting of the machine gets in."""
    for name in [*environment.TELEMETRY, CONSOLE_LEVEL, *environment.LOGGING_CHOICES, "PYTHONSAFEPATH"]:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_nobody_is_told_that_rlchecks_is_used() -> None:
    environment.prepare()
    assert os.environ["DO_NOT_TRACK"] == "1"
    assert os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert os.environ["GX_ANALYTICS_ENABLED"] == "false"


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GX_ANALYTICS_ENABLED", "true")
    environment.prepare()
    assert os.environ["GX_ANALYTICS_ENABLED"] == "true"


def test_prefect_is_quiet_on_the_terminal() -> None:
    environment.prepare()
    assert os.environ[CONSOLE_LEVEL] == "WARNING"


@pytest.mark.parametrize("choice", environment.LOGGING_CHOICES)
def test_prefect_is_as_loud_as_the_user_wants(monkeypatch: pytest.MonkeyPatch, choice: str) -> None:
    monkeypatch.setenv(choice, "DEBUG")
    environment.prepare()
    assert CONSOLE_LEVEL not in os.environ


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "127.0.0.1"),
        ("example.org", "example.org,127.0.0.1"),
        (" example.org , ", "example.org,127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("*", "*"),
    ],
)
def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    monkeypatch.setenv("NO_PROXY", before)
    monkeypatch.setenv("no_proxy", before)
    environment.bypass_proxy("127.0.0.1")
    assert (os.environ["NO_PROXY"], os.environ["no_proxy"]) == (after, after)
