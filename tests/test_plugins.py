"""The documented example of a reader is installed and read with, and faulty readers cost one clear sentence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "plugins.md"
LOG = "".join(f"step {n} | score {n / 20} | tokens {100 + n} | colour 7\n" for n in range(1, 13))


def blocks() -> dict[str, str]:
    """The files of the example, by name."""
    found = re.findall(r"^`([\w.]+)`\n\n```\w+\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
    return dict(found)


def install(site: Path, module: str, toml: str) -> None:
    """Put a distribution into a directory as an installer would: its module, and its entry points as metadata."""
    project = tomllib.loads(toml)["project"]
    (name, module_and_class), *_ = project["entry-points"]["rlchecks.readers"].items()
    (site / f"{module_and_class.split(':')[0]}.py").write_text(module)
    metadata = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (metadata / "entry_points.txt").write_text(f"[rlchecks.readers]\n{name} = {module_and_class}\n")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    return place


def rlchecks(site: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command with the distributions of a directory."""
    command = [sys.executable, "-W", "error", "-m", "rlchecks.cli", *map(str, words)]
    return subprocess.run(
        command,
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        timeout=60,
    )


def ingested(site: Path, path: Path, code: int) -> dict[str, Any]:
    done = rlchecks(site, "ingest", path, "--local", "--json")
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_documented_example_is_short_and_reads_its_format(site: Path, tmp_path: Path) -> None:
    files = blocks()
    lines = [line for text in files.values() for line in text.splitlines()]
    assert len(lines) < 40 + 8
    install(site, files["pipe_logs.py"], files["pyproject.toml"])
    path = tmp_path / "logs" / "first.pipes"
    path.parent.mkdir()
    path.write_text(LOG + "step 13 | sco")
    for asked in (path.parent, path):
        (run,) = ingested(site, asked, 0)["runs"]
        assert (run["steps"], run["first_step"], run["last_step"], run["framework"]) == (12, 1, 12, "table")
        assert run["metrics"]["reward"]["last"] == 0.6
        assert run["metrics"]["mean_length"]["mean"] == 106.5
        assert run["unmapped"] == ["colour"]
    assert rlchecks(site, "diagnose", path).returncode in (0, 1, 2)
    program = f"from rlchecks import read_run; print(read_run({str(path)!r}).run_id)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == run["run_id"]


FAULTY = """
class FaultyReader:
    name = "{name}"
    looks_for = "everything"

    def detect(self, path, head):
        {detect}

    def read(self, path, options):
        {read}
"""
PROJECT = """
[project]
name = "faulty"
version = "1"
[project.entry-points."rlchecks.readers"]
faulty = "faulty:FaultyReader"
"""


@pytest.mark.parametrize(
    ("detect", "read"),
    [
        ("return {}['x']", "pass"),
        ("return True", "raise ValueError('no \\x1b[31m')"),
        ("return True", "return {}"),
        ("return True", "import sys; sys.exit(0)"),
    ],
)
def test_a_faulty_reader_costs_one_sentence_that_names_it(detect: str, read: str, site: Path, tmp_path: Path) -> None:
    install(site, FAULTY.format(name="faulty", detect=detect, read=read), PROJECT)
    path = tmp_path / "logs" / "log.csv"
    path.parent.mkdir()
    path.write_text("step,reward\n1,0.5\n2,0.6\n")
    for asked in (path, path.parent):
        for refused in ingested(site, asked, 3)["refused"]:
            assert "the reader 'faulty' failed in " in refused["reason"]
            assert refused["reason"].isprintable()
    # A run that another reader recognises first is none of its business.
    state = tmp_path / "trl" / "trainer_state.json"
    state.parent.mkdir()
    state.write_text('{"log_history": [{"step": 1, "reward": 0.5}, {"step": 2, "reward": 0.6}]}')
    assert len(ingested(site, state.parent, 0)["runs"]) == 1


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("raise ImportError('x')", "the reader 'faulty' cannot be loaded"),
        ("FaultyReader = 7", "the reader 'faulty' has no name"),
        (FAULTY.format(name="table", detect="pass", read="pass"), "two readers are called 'table'"),
    ],
)
def test_a_package_without_a_reader_is_named(module: str, words: str, site: Path, tmp_path: Path) -> None:
    install(site, module, PROJECT)
    done = rlchecks(site, "ingest", tmp_path, "--local")
    assert done.returncode == 3
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_new_version_of_a_reader_reads_again(site: Path, tmp_path: Path) -> None:
    files = blocks()
    install(site, files["pipe_logs.py"], files["pyproject.toml"])
    path = tmp_path / "logs" / "first.pipes"
    path.parent.mkdir()
    path.write_text(LOG)
    os.utime(path, (0, 0))
    assert [ingested(site, path.parent, 0)["runs"][0].get("unchanged") for _ in range(2)] == [None, True]
    module = site / "pipe_logs.py"
    module.write_text(module.read_text() + "\n# mended\n")
    assert ingested(site, path.parent, 0)["runs"][0].get("unchanged") is None
