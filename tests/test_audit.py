"""The audit: status and exit code of each run, and one validation of all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from rlchecks.audit import audit, exit_code, status
from rlchecks.diagnosis import Finding, Severity
from rlchecks.errors import UsageError
from rlchecks.health import Check
from rlchecks.quicklook import look
from rlchecks.requests import AuditRequest
from rlchecks.runner import LocalRunner

RISE = list(np.linspace(0.3, 0.7, 40))


def finding(code: str, severity: Severity = Severity.INFORMATION) -> Finding:
    return Finding(code, severity, "Title.", "Meaning.", "Advice.")


def trouble(effect: str, outcome: str = "failed", code: str = "health_reward_end") -> Check:
    return Check(
        "training_health", code, "column", "Title.", "", "", cast("Any", outcome), None, "", cast("Any", effect)
    )


@pytest.mark.parametrize(
    ("findings", "troubles", "expected"),
    [
        ([finding("learning")], [], "healthy"),
        ([finding("starved", Severity.WARNING)], [], "warning"),
        ([finding("learning")], [trouble("warn")], "warning"),
        ([finding("learning")], [trouble("warn", "missing")], "healthy"),
        ([finding("starved_floor", Severity.CRITICAL)], [], "sick"),
        ([finding("learning")], [trouble("hold")], "sick"),
        ([finding("learning")], [trouble("reject")], "sick"),
        ([finding("learning")], [trouble("hold", "missing")], "incomplete"),
        ([finding("too_short")], [], "incomplete"),
        ([finding("too_short")], [trouble("hold", "failed", "health_too_short")], "incomplete"),
        ([finding("learning")], [trouble("hold", "failed", "health_unreadable_metrics")], "incomplete"),
        ([finding("learning")], [trouble("hold", "failed", "health_missing_reward_fraction")], "incomplete"),
        ([finding("learning"), finding("rewards_missing", Severity.WARNING)], [], "incomplete"),
        ([finding("learning"), finding("ended_early")], [], "incomplete"),
        ([finding("ended_early"), finding("diverged", Severity.CRITICAL)], [], "sick"),
    ],
)
def test_status_of_a_run(findings: list[Finding], troubles: list[Check], expected: str) -> None:
    assert status(findings, troubles) == expected


@pytest.mark.parametrize(
    ("statuses", "refused", "code"),
    [
        (["healthy", "warning"], 0, 0),
        (["healthy", "sick", "incomplete"], 1, 1),
        (["healthy", "incomplete"], 0, 2),
        (["healthy"], 1, 2),
        ([], 1, 3),
        ([], 0, 3),
    ],
)
def test_exit_code_of_an_audit(statuses: list[str], refused: int, code: int) -> None:
    runs = [{"status": one} for one in statuses]
    assert exit_code({"runs": runs, "refused": [{}] * refused}) == code


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, **series: list[Any]) -> Path:
        path = tmp_path / "runs" / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        size = len(next(iter(series.values())))
        rows = [",".join(str(values[at]) for values in series.values()) for at in range(size)]
        path.write_text("\n".join([",".join(["step", *series]), *(f"{at + 1},{row}" for at, row in enumerate(rows))]))
        return path

    return write


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    def run(*paths: Path, **options: Any) -> dict[str, Any]:
        places = {"archive": str(tmp_path / "archive"), "reports": str(tmp_path / "reports"), "workers": 1}
        return audit(AuditRequest(tuple(map(str, paths)), **(places | options)), LocalRunner())

    return run


def test_sick_runs_stand_out(ask: Any, write: Callable[..., Path], tmp_path: Path) -> None:
    write("fine", reward=RISE, clipped_ratio=[0.0] * 40)
    write("cut", reward=RISE, clipped_ratio=[0.9] * 40)
    write("short", reward=RISE[5:10], clipped_ratio=[0.0] * 5)
    document = ask(tmp_path / "runs")
    found = {Path(run["source"]).stem: run for run in document["runs"]}
    assert {name: run["status"] for name, run in found.items()} == {
        "fine": "healthy",
        "cut": "sick",
        "short": "incomplete",
    }
    assert {one["column"] for one in found["cut"]["failed"]} == {"clipped_ratio_late"} | {
        one["column"] for one in found["fine"]["failed"]
    }
    assert found["cut"]["signals"]["clipped_ratio_late"] == pytest.approx(0.9)
    assert json.loads((tmp_path / "reports" / "audit.json").read_text()) == document


def test_without_paths_the_whole_archive_is_audited(ask: Any, write: Callable[..., Path], tmp_path: Path) -> None:
    write("a", reward=RISE)
    write("b", reward=RISE[::-1])
    first = ask(tmp_path / "runs")
    assert ask()["runs"] == first["runs"]


def test_an_empty_archive_could_not_be_audited(ask: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        ask()
    assert not (tmp_path / "reports").exists()


def test_a_damaged_run_is_refused_by_name_and_the_others_are_audited(
    ask: Any, write: Callable[..., Path], tmp_path: Path
) -> None:
    write("a", reward=RISE)
    write("b", reward=[value / 2 for value in RISE])
    ids = [run["run_id"] for run in ask(tmp_path / "runs")["runs"]]
    (victim,) = [path for path in (tmp_path / "archive" / "steps").iterdir() if path.name.startswith(ids[0])]
    victim.write_bytes(b"PAR1" + b"\0" * 100)
    document = ask()
    assert [run["run_id"] for run in document["runs"]] == ids[1:]
    assert document["refused"][0]["source"] == ids[0]
    assert exit_code(document) == 2


def test_a_shard_of_nothing_but_damaged_runs_does_not_stop_the_others(
    ask: Any, write: Callable[..., Path], tmp_path: Path
) -> None:
    for at in range(20):
        write(f"run{at:02}", reward=[value + at / 100 for value in RISE])
    ids = sorted(run["run_id"] for run in ask(tmp_path / "runs")["runs"])
    for path in (tmp_path / "archive" / "steps").iterdir():
        if path.name.startswith(tuple(ids[:10])):
            path.unlink()
    document = ask()
    assert [run["run_id"] for run in document["runs"]] == ids[10:]
    assert {one["source"] for one in document["refused"]} == set(ids[:10])


def test_the_profile_decides_what_is_healthy(ask: Any, write: Callable[..., Path], tmp_path: Path) -> None:
    write("long", reward=RISE, mean_length=[100 + 5 * step for step in range(40)])
    assert ask(tmp_path / "runs")["runs"][0]["status"] == "warning"
    assert ask(profile="reasoning")["runs"][0]["status"] == "healthy"


@pytest.mark.slow
def test_every_shared_run_gets_what_it_must_and_nothing_else(ask: Any, shared_data: Path) -> None:
    must = {
        "clipped": {"answers_clipped"},
        "collapse-flat": {"length_collapse"},
        "kl-drift": {"kl_without_gain"},
        "length-hack-s6": {"length_with_reward", "answers_clipped"},
        "nan-survives": {"non_finite"},
        "reward-inf": {"non_finite"},
        "starved-ceiling": {"starved_ceiling"},
        "starved-floor": {"starved_floor"},
    }
    may = {"nan-survives": {"starved_floor", "answers_clipped", "diverged"}, "hack-lazy-s30": {"kl_without_gain"}}
    information = dict.fromkeys(
        [
            *("healthy-s1", "healthy-kl-s4", "old-healthy-kl", "mid-healthy-kl", "resumed", "restarted"),
            *("two-rewards-conv-eval", "reward-none"),
        ],
        "learning",
    ) | {"defaults-grad-accum": "too_short", "nan-crash": "ended_early"}
    runs = {Path(run["source"]).name: run for run in ask(shared_data / "trl")["runs"]}
    assert len(runs) == 19
    for name, run in runs.items():
        found = {one["code"] for one in run["findings"]}
        alarms = {one["code"] for one in run["findings"] if one["severity"] != "information"}
        assert must.get(name, set()) <= alarms, name
        assert alarms <= must.get(name, set()) | may.get(name, set()), name
        if name in information:
            assert information[name] in found, name
    steps = {name: run["signals"]["last_step"] for name, run in runs.items()}
    assert steps["nan-crash"] == 30
    assert (steps["resumed"], steps["restarted"]) == (100, 60)
    crash = runs["nan-crash"]["findings"]
    assert "non_finite" not in {one["code"] for one in crash}


def test_the_quick_look_and_the_audit_agree_on_metrics_that_cannot_be_read(ask: Any, tmp_path: Path) -> None:
    path = tmp_path / "per-cent.csv"
    path.write_text("step,reward,cut\n" + "".join(f"{n},{0.4 + n / 100},{90 + n % 7}\n" for n in range(60)))
    columns = {"cut": "clipped_ratio"}
    (seen,) = look((str(path),), "chat", None, columns)["runs"]
    (audited,) = ask(path, columns=columns)["runs"]
    assert seen["status"] == audited["status"] == "incomplete"
    assert any("divide it by 100" in warning for warning in seen["warnings"])
