from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rlchecks.readers import tree
from rlchecks.readers.fingerprint import ABSENT, SETTLED_NS, mark_of, readers_version
from rlchecks.readers.tree import list_tree


def old(path: Path) -> None:
    os.utime(path, (0, time.time() - 100))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with files at three levels, all written long ago."""
    for name in ("a", "b/c", "b/d/e"):
        path = tmp_path / "place" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        old(path)
    return tmp_path / "place"


def test_everything_is_listed_once_in_order(place: Path) -> None:
    root = list_tree(place)
    assert root.names == {"a", "b"}
    assert [leaf.name for leaf in root.leaves] == ["a"]
    (below,) = root.folders
    assert (below.path, [leaf.name for leaf in below.leaves]) == (place / "b", ["c"])
    assert below.folders[0].path == place / "b" / "d"


def add(place: Path) -> None:
    (place / "b" / "d" / "f").touch()
    old(place / "b" / "d" / "f")


def rewrite(place: Path) -> None:
    before = (place / "b" / "c").stat()
    (place / "b" / "c").write_text("x/y")
    os.utime(place / "b" / "c", ns=(before.st_atime_ns, before.st_mtime_ns))


def replace(place: Path) -> None:
    (place / "b" / "new").write_text("b/c")
    os.utime(place / "b" / "new", ns=(0, (place / "b" / "c").stat().st_mtime_ns))
    (place / "b" / "new").replace(place / "b" / "c")


CHANGES: list[Callable[[Path], None]] = [
    add,
    rewrite,
    replace,
    lambda place: (place / "b" / "c").unlink(),
    lambda place: (place / "b" / "c").rename(place / "b" / "g"),
    lambda place: (place / "b" / "d").rename(place / "b" / "h"),
    lambda place: (place / "b" / "empty").mkdir(),
    lambda place: (place / "b" / "link").symlink_to("c"),
    lambda place: (place / "b" / "nowhere").symlink_to("x"),
    lambda place: old(place / "b" / "c"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_below_shows_above_and_nowhere_else(change: Callable[[Path], None], place: Path) -> None:
    (place / "other").mkdir()
    before = list_tree(place)
    assert list_tree(place) == before
    assert before.mark is not None
    time.sleep(0.01)
    change(place)
    after = list_tree(place)
    assert after.mark != before.mark
    assert after.folders[1] == before.folders[1]
    assert after.folders[1].path.name == "other"


def test_a_mark_is_settled_once_its_newest_file_is_two_seconds_old(place: Path) -> None:
    (place / "b" / "c").touch()
    root = list_tree(place)
    assert root.mark is not None
    newest = (place / "b" / "c").stat().st_mtime_ns
    assert root.mark.newest == mark_of(place / "b" / "c").newest == newest
    assert root.folders[0].folders[0].mark is not None
    assert root.folders[0].folders[0].mark.newest < newest
    assert not root.mark.settled(newest + SETTLED_NS - 1)
    assert root.mark.settled(newest + SETTLED_NS)


def test_hidden_directories_and_linked_ones_are_not_entered_but_watched(place: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (place / ".git").mkdir()
    (place / "link").symlink_to(tmp_path / "outside")
    watched = (place / ".git", tmp_path / "outside")
    for path in watched:
        old(path)
    for path in watched:
        before = list_tree(place)
        assert [folder.path.name for folder in before.folders] == ["b"]
        assert before.mark is not None
        (path / "x").touch()
        old(path)
        assert list_tree(place).mark != before.mark


def test_a_link_that_leads_nowhere_has_a_mark(place: Path) -> None:
    (place / "b" / "latest").symlink_to("checkpoint-9")
    assert list_tree(place).mark is not None
    assert mark_of(place / "absent").stamp == ABSENT


def test_a_mark_can_leave_out_what_is_watched_elsewhere(place: Path) -> None:
    before = list_tree(place).mark_without({place / "b" / "d"})
    add(place)
    after = list_tree(place)
    assert after.mark_without({place / "b" / "d"}) == before
    assert after.mark_without(()) == after.mark
    rewrite(place)
    assert list_tree(place).mark_without({place / "b" / "d"}) != before


def test_what_is_not_listed_leaves_no_mark(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_DEPTH", 1)
    root = list_tree(place)
    assert root.mark is None
    assert not root.folders[0].folders
    monkeypatch.undo()
    monkeypatch.setattr(tree, "MAX_ENTRIES", 4)
    root = list_tree(place)
    cut = root.folders[0].folders[0]
    assert cut.cut == "more than 4 files and directories: the rest was not searched"
    assert root.mark is root.folders[0].mark is cut.mark is None


def test_an_archive_is_not_entered(place: Path) -> None:
    for name in ("runs", "steps", ".locks"):
        (place / "archive" / name).mkdir(parents=True)
    before = list_tree(place)
    assert not before.folders[0].folders
    (place / "archive" / "runs" / "x.parquet").touch()
    assert list_tree(place).mark == before.mark is not None


def test_names_that_are_no_utf8_are_listed(tmp_path: Path) -> None:
    for name in (b"\xff\xfe", b"a\nb/1-2", b"\x1b[31m"):
        path = Path(os.fsdecode(bytes(tmp_path) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.touch()
        old(path)
    assert list_tree(tmp_path).mark is not None


def test_the_version_of_the_readers_is_one_text() -> None:
    assert readers_version() == readers_version()
    assert len(readers_version()) == 64
