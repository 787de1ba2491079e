from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import rlchecks.readers.registry as registry
from rlchecks.errors import UsageError
from rlchecks.readers import ReadOptions, Source, find_runs, read_run
from rlchecks.readers.aliases import framework
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.run import RunLog


class LineReader:
    """One reward a line: what a third party may offer, in one file."""

    name = "lines"
    looks_for = "a file of rewards (.rewards)"

    def detect(self, path: Path, head: bytes) -> bool:
        return path.suffix in (".rewards", ".csv")

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        rows = [{"reward": float(line)} for line in path.read_text().split()]
        return assemble(Logged(path, path.stem, framework("table"), rows, ()), options)


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    offered: list[object] = []
    points = [EntryPoint("lines", "nowhere:Reader", registry.ENTRY_POINTS)]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.ENTRY_POINTS else [])
    monkeypatch.setattr(EntryPoint, "load", lambda _: offered[0])
    registry.readers.cache_clear()
    yield offered
    registry.readers.cache_clear()


@pytest.mark.parametrize("offer", [LineReader, LineReader()], ids=["class", "instance"])
def test_a_third_partys_reader_is_asked_before_the_tables(
    offer: object, third_party: list[object], tmp_path: Path
) -> None:
    third_party.append(offer)
    names = [reader.name for reader in registry.readers()]
    assert names[-2:] == ["lines", "table"]
    assert "trl" in names
    path = tmp_path / "a.rewards"
    path.write_text("0.5 0.6")
    assert read_run(path).steps["reward"].to_pylist() == [0.5, 0.6]
    assert find_runs(tmp_path).sources == [Source(path)]
    (tmp_path / "a.csv").write_text("0.7")
    assert read_run(tmp_path / "a.csv").steps["reward"].to_pylist() == [0.7]


def test_a_reader_that_cannot_be_loaded_is_named(third_party: list[object]) -> None:
    with pytest.raises(UsageError, match=r"the reader 'lines' cannot be loaded \('IndexError"):
        registry.readers()


def test_the_built_in_readers_are_found_by_name() -> None:
    names = [reader.name for reader in registry.readers()]
    assert len(names) == len(set(names))
    assert registry.built_in() == registry.readers()
    assert registry.reader_named("table").looks_for.startswith("a table")
