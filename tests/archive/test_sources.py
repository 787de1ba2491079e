"""What an archive remembers of the logs it was made from."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.archive import Archive
from rlchecks.archive.sources import content_of, holds, key_of, recall, remember
from rlchecks.archive.store import Store, Writer
from rlchecks.errors import ArchiveError
from rlchecks.readers import read_run
from rlchecks.stages import store_run

KEY = key_of(["x"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "archive")


def test_what_is_remembered_comes_back(store: Store) -> None:
    assert recall(store, KEY) is None
    for document in ({"a": [1, None, "\udcff", "ü"]}, [], {"b": math.inf}):
        remember(store, KEY, document)
        assert recall(store, KEY) == document
    assert recall(store, key_of(["y"])) is None


def test_the_same_again_writes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(store, KEY, {"a": math.nan})
    monkeypatch.setattr(Writer, "write", lambda *_: pytest.fail("it writes"))
    remember(store, KEY, {"a": math.nan})


def test_a_writer_that_dies_leaves_the_old_or_the_new(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(store, KEY, "old")
    for name in ("put", "flush", "move"):
        original = getattr(Writer, name)

        def dying(self: Writer, *arguments: Any, name: str = name, original: Callable[..., None] = original) -> None:
            if name == "put":
                path, data = arguments
                original(self, path, data.slice(0, data.size // 2))
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Writer, name, dying)
            with pytest.raises(KeyboardInterrupt):
                remember(store, KEY, "new")
        assert recall(store, KEY) == "old"
    remember(store, KEY, "new")
    assert recall(store, KEY) == "new"


def test_what_is_not_what_was_written_is_nothing(store: Store) -> None:
    remember(store, KEY, {"a": list(range(20))})
    (file,) = (Path(store.root) / "sources").iterdir()
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at])
        assert recall(store, KEY) is None
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert recall(store, KEY) is None


def test_an_archive_that_cannot_be_written_says_so(store: Store) -> None:
    Path(store.root).write_text("no directory")
    assert recall(store, KEY) is None
    with pytest.raises(ArchiveError):
        remember(store, KEY, {})


def test_a_run_is_held_while_every_file_of_it_is_whole(store: Store, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("step,reward\n" + "".join(f"{n},{n / 9}\n" for n in range(1, 20)))
    run = read_run(log)
    assert content_of(store, run.run_id) is None
    Archive(store.root).write_run(run)
    content = content_of(store, run.run_id)
    assert content is not None
    # Its signals are still missing.
    assert not holds(store, run.run_id, content)
    store_run(run, store.root)
    assert holds(store, run.run_id, content)
    assert not holds(store, run.run_id, "other")
    assert not holds(store, "other", content)
    for file in sorted(Path(store.root).rglob("*.parquet")):
        whole = file.read_bytes()
        for damage in (whole[:-1], b"", bytes([*whole[:-9], whole[-9] ^ 1, *whole[-8:]])):
            file.write_bytes(damage)
            assert not holds(store, run.run_id, content)
        file.unlink()
        assert not holds(store, run.run_id, content)
        file.write_bytes(whole)
    assert holds(store, run.run_id, content)
