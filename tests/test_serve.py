"""The deployments of prefect.yaml and those that ``rlchecks serve`` runs are the same."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect import Flow
from prefect.flows import load_flow_from_entrypoint

from rlchecks.errors import UsageError
from rlchecks.serve import AUDIT_CRON, deployments

DEPLOYED: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).resolve().parent.parent / "prefect.yaml").read_text(encoding="utf-8")
)["deployments"]


@pytest.mark.parametrize("deployment", DEPLOYED, ids=lambda one: one["name"])
def test_a_deployment_names_a_flow_by_module_and_parameters_it_has(deployment: dict[str, Any]) -> None:
    assert ":" not in deployment["entrypoint"]
    flow: Flow[..., Any] = load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)
    assert deployment["parameters"].keys() <= inspect.signature(flow.fn).parameters.keys()


def test_serve_runs_the_deployments_of_prefect_yaml(tmp_path: Path) -> None:
    served = {one.name: one for one in deployments(str(tmp_path / "archive"), str(tmp_path / "reports"))}
    assert served.keys() == {one["name"] for one in DEPLOYED}
    for one in DEPLOYED:
        assert served[one["name"]].entrypoint == one["entrypoint"]
        assert served[one["name"]].parameters.keys() == one["parameters"].keys()
        assert served[one["name"]].tags == one["tags"]


def test_only_the_audit_is_scheduled_and_at_the_same_time() -> None:
    schedules = {one["name"]: one["schedules"] for one in DEPLOYED if "schedules" in one}
    assert schedules == {"nightly": [{"cron": AUDIT_CRON, "timezone": "UTC"}]}
    served = {
        one.name: [(entry.schedule.cron, entry.schedule.timezone) for entry in one.schedules or ()]
        for one in deployments("archive", "reports")
    }
    assert served == {"gate": [], "ingest": [], "nightly": [(AUDIT_CRON, "UTC")]}


def test_runs_find_the_archive_from_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for one in deployments("archive", "reports"):
        assert one.parameters["archive"] == str(tmp_path / "archive")


@pytest.mark.parametrize("cron", ["", "nightly", "0 3 * *", "61 3 * * *"])
def test_a_schedule_that_is_none_is_refused(cron: str) -> None:
    with pytest.raises(UsageError, match="is no schedule"):
        deployments("archive", "reports", cron)
