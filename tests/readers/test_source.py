from __future__ import annotations

from pathlib import Path

import pytest

from rlchecks.errors import NotARunError
from rlchecks.readers.source import Source, choose, source_of


def test_a_source_is_read_as_it_is_written(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.touch()
    for source in (Source(log), Source(log, "2"), Source(log, "a#b"), Source(log, "")):
        assert source_of(str(source)) == source


def test_a_path_with_the_mark_in_its_name_is_a_path(tmp_path: Path) -> None:
    odd = tmp_path / "run#2"
    odd.touch()
    (tmp_path / "run").touch()
    assert source_of(odd) == Source(odd)
    assert source_of(f"{odd}#1") == Source(odd, "1")


def test_a_run_is_told_from_a_file_that_is_called_like_it(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    for name in ("x.log", "x.log#2", "x.log#a"):
        (tmp_path / name).touch()
    assert source_of(f"{log}#2") == Source(tmp_path / "x.log#2")
    sources = [Source(log, part) for part in ("1", "2", "a#b", "#2", "##", "")]
    assert [str(one).removeprefix(str(log)) for one in sources[:4]] == ["#1", "##2", "##a#b", "###2"]
    for source in (*sources, Source(tmp_path / "x.log#2")):
        assert source_of(str(source)) == source
        assert not source.nameless
    with pytest.raises(NotARunError, match=r"such as .*x\.log##2"):
        choose(log, ["2", "3"], None)


def test_a_run_with_files_called_like_both_of_its_spellings_has_no_name(tmp_path: Path) -> None:
    for name in ("x.log", "x.log#2", "x.log##2"):
        (tmp_path / name).touch()
    assert Source(tmp_path / "x.log", "2").nameless
    assert not Source(tmp_path / "x.log", "3").nameless


def test_a_path_that_does_not_exist_stays_whole(tmp_path: Path) -> None:
    assert source_of(tmp_path / "absent#1") == Source(tmp_path / "absent#1")
    assert source_of("#1") == Source(Path("#1"))


def test_the_only_part_needs_no_name() -> None:
    assert choose(Path("a"), ["x"], None) == "x"
    assert choose(Path("a"), ["x", "y"], "y") == "y"


@pytest.mark.parametrize(("parts", "wanted"), [(["x", "y"], None), ([], None), (["x"], "z"), ([], "z")])
def test_no_part_is_guessed(parts: list[str], wanted: str | None) -> None:
    with pytest.raises(NotARunError, match=r"a: (2 runs|no run)"):
        choose(Path("a"), parts, wanted)
