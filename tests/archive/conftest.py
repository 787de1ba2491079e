from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pyarrow.parquet as pq
import pytest

from rlchecks.archive import Archive

WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture(scope="session")
def worker() -> ModuleType:
    """The script of the real processes, for its builders of runs."""
    spec = importlib.util.spec_from_file_location("archive_worker", WORKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive")


def listed_files(root: Path) -> set[str]:
    """What an archive of finished writes holds: runs files, what they list, and verdicts; read without rlchecks."""
    listed = {str(path.relative_to(root)) for path in (root / "verdicts").glob("*.parquet")}
    for path in (root / "runs").glob("*.parquet"):
        listed.add(f"runs/{path.name}")
        for file in pq.read_table(path).to_pylist()[0]["tables"]:
            listed.add(f"{file['name']}/{path.stem}.{file['generation']}.parquet")
    return listed


@pytest.fixture
def strays(archive: Archive):  # type: ignore[no-untyped-def]
    """Function: the files that no listing names, temporary ones among them, or are listed and absent."""

    def find() -> set[str]:
        root = Path(archive.root)
        files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
        return {name for name in files if not name.startswith(".locks/")} ^ listed_files(root)

    return find
