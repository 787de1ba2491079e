"""Whole commands on Prefect's temporary server, each in a process of its own, as people run them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from rlchecks.orchestrator.readback import MARK_EVENT
from rlchecks.orchestrator.server import READY, TemporaryServer
from tests.orchestrator.commands import Command, Ended, command, is_running, recorded

pytestmark = pytest.mark.slow

TASKS = 10
RESULT = str(sum(number * number for number in range(TASKS)))
# Port 9 (discard) is closed on any machine of this century.
DEAD = "http://127.0.0.1:9/api"
VERDICT_EVENT = "rlchecks.verdict.promote"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PREFECT_HOME nobody has used; the first test that asks for ``crowd`` creates its database."""
    return tmp_path_factory.mktemp("prefect")


@pytest.fixture(scope="module")
def crowd(home: Path) -> dict[str, Ended]:
    """Four commands that start at once where there is no database yet."""
    modes = ["ten", "ten again", "ten once more", "fail"]
    commands = {mode: Command(mode, home) for mode in modes}
    return {mode: one.finish() for mode, one in commands.items()}


@pytest.mark.parametrize("mode", ["ten", "ten again", "ten once more"])
def test_four_commands_at_once_all_work(crowd: dict[str, Ended], mode: str) -> None:
    assert (crowd[mode].code, crowd[mode].errors, crowd[mode].result) == (0, "", RESULT)


@pytest.mark.parametrize("mode", ["ten", "ten again", "ten once more"])
def test_nothing_is_lost_when_four_write_at_once(crowd: dict[str, Ended], home: Path, mode: str) -> None:
    kept = recorded(home, crowd[mode].run)
    assert kept.flow == "COMPLETED"
    assert kept.tasks == {"COMPLETED": TASKS}
    assert kept.events == {VERDICT_EVENT: 1, MARK_EVENT: 1}
    assert len(kept.artifacts) == 3


def test_a_failing_flow_is_reported_once_and_recorded(crowd: dict[str, Ended], home: Path) -> None:
    assert crowd["fail"].code == 3
    assert crowd["fail"].errors == "UsageError: this flow fails on purpose.\n"
    kept = recorded(home, crowd["fail"].run)
    assert kept.flow == "FAILED"
    assert kept.tasks == {"COMPLETED": TASKS}


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("attempt", [1, 2])
def test_nothing_is_lost_time_and_again(home: Path, attempt: int) -> None:
    ended = command("ten", home)
    assert (ended.code, ended.errors) == (0, "")
    kept = recorded(home, ended.run)
    assert kept.tasks == {"COMPLETED": TASKS}
    assert kept.events == {VERDICT_EVENT: 1, MARK_EVENT: 1}


@pytest.mark.usefixtures("crowd")
def test_tasks_in_worker_processes_are_recorded_on_the_same_server(home: Path) -> None:
    ended = command("shards", home)
    assert (ended.code, ended.errors) == (0, "")
    assert ended.result == "[(3, '1'), (7, '1'), (11, '1')]"
    assert recorded(home, ended.run).tasks == {"COMPLETED": 3}


@pytest.mark.usefixtures("crowd")
def test_ctrl_c_is_recorded_and_ends_the_server(home: Path) -> None:
    one = Command("wait", home)
    one.wait_for("waiting")
    one.process.send_signal(signal.SIGINT)
    ended = one.finish()
    assert (ended.code, ended.errors) == (3, "")
    assert not is_running(one.server)
    kept = recorded(home, ended.run)
    assert kept.flow == "CRASHED"
    assert kept.tasks == {"COMPLETED": TASKS}


@pytest.mark.usefixtures("crowd")
def test_ctrl_c_before_the_server_answers_ends_it(home: Path) -> None:
    one = Command("ten", home)
    one.wait_for("server")
    one.process.send_signal(signal.SIGINT)
    ended = one.finish()
    assert (ended.code, ended.errors) == (3, "")
    assert not is_running(one.server)


@pytest.mark.usefixtures("crowd")
def test_the_server_ends_when_the_command_is_killed(home: Path) -> None:
    one = Command("wait", home)
    one.wait_for("waiting")
    one.process.kill()
    one.finish()
    deadline = time.monotonic() + 60
    while is_running(one.server) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_running(one.server)


@pytest.mark.usefixtures("crowd")
def test_a_server_lost_while_the_flow_runs_is_an_orchestrator_error(home: Path) -> None:
    one = Command("wait", home, PREFECT_CLIENT_MAX_RETRIES="1")
    one.wait_for("waiting")
    os.kill(one.server, signal.SIGKILL)
    ended = one.finish()
    assert ended.code == 3
    assert ended.errors.endswith(
        "OrchestratorError: Prefect's server stopped answering; the run is not fully recorded there.\n"
    )
    assert "Traceback" not in ended.errors


@pytest.mark.usefixtures("crowd")
def test_prefect_starts_its_server_itself_where_its_inside_has_changed(home: Path) -> None:
    ended = command("unsupported", home)
    assert (ended.code, ended.errors) == (0, "")
    kept = recorded(home, ended.run)
    assert kept.tasks == {"COMPLETED": TASKS}
    assert kept.events == {VERDICT_EVENT: 1, MARK_EVENT: 1}


@pytest.mark.usefixtures("crowd")
def test_a_running_server_is_used_and_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(home))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    server = TemporaryServer.start()
    try:
        assert server.wait(120) == READY
        ended = command("ten", home, PREFECT_API_URL=server.url)
        assert (ended.code, ended.errors) == (0, "")
        assert not any(line.startswith("server") for line in ended.lines)
        assert server.alive
        # It was all sent; this server stores it when it likes.
        deadline = time.monotonic() + 60
        while recorded(home, ended.run).tasks != {"COMPLETED": TASKS} and time.monotonic() < deadline:
            time.sleep(0.1)
        kept = recorded(home, ended.run)
        assert (kept.flow, kept.tasks) == ("COMPLETED", {"COMPLETED": TASKS})
    finally:
        server.stop()


def test_a_server_that_a_profile_configures_is_used(tmp_path: Path) -> None:
    profile = f'active = "ours"\n[profiles.ours]\nPREFECT_API_URL = "{DEAD}"\n'
    (tmp_path / "profiles.toml").write_text(profile)
    ended = command("ten", tmp_path)
    assert ended.code == 3
    assert ended.errors.startswith(f"OrchestratorError: Prefect does not answer at {DEAD} (ConnectError: ")
    assert not (tmp_path / "prefect.db").exists()


def test_a_home_that_cannot_be_written_is_an_orchestrator_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = command("ten", tmp_path / "file" / "home")
    assert ended.code == 3
    assert "OrchestratorError: Prefect's temporary server did not start: " in ended.errors
    assert "Traceback" not in ended.errors


def test_a_configured_server_that_is_dead_is_an_orchestrator_error(tmp_path: Path) -> None:
    ended = command("ten", tmp_path, PREFECT_API_URL=DEAD)
    assert ended.code == 3
    assert ended.errors.startswith(f"OrchestratorError: Prefect does not answer at {DEAD} (ConnectError: ")
    assert ended.errors.count("\n") == 1
    assert not any(line.startswith("server") for line in ended.lines)
