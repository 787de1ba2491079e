from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers.guarded import Guarded
from rlchecks.readers.registry import ReadOptions


class Faulty:
    """A reader whose every method does what it was made to do."""

    name = "faulty\x1b[31m"
    looks_for = "anything"
    suffixes = frozenset({".x"})

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    def detect(self, path: Path, head: bytes) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    def read(self, path: Path, options: ReadOptions) -> Any:
        return self.detect(path, b"")

    def parts(self, path: Path) -> Any:
        return self.detect(path, b"")

    def opening(self, path: Path, part: str | None = None) -> Any:
        return self.detect(path, b"")


PATH = Path("logs/a.x")


@pytest.mark.parametrize("method", ["detect", "read", "parts", "opening"])
@pytest.mark.parametrize(
    "error",
    [
        ValueError("x\ny"),
        KeyError("k"),
        OSError(5, "Input/output error"),
        RecursionError(),
        MemoryError(),
        SystemExit(2),
        GeneratorExit(),
        type("Own", (BaseException,), {})("x"),
    ],
    ids=repr,
)
def test_whatever_a_reader_raises_is_one_sentence_that_names_it(method: str, error: BaseException) -> None:
    reader = Guarded(Faulty(error))
    arguments = {"detect": (PATH, b""), "read": (PATH, ReadOptions())}.get(method, (PATH,))
    with pytest.raises(InputError, match=r"^logs/a\.x: the reader 'faulty.*' failed in " + method) as caught:
        getattr(reader, method)(*arguments)
    assert str(caught.value).isprintable()
    assert str(caught.value).endswith("; report it to those who offer that reader.")


def test_what_a_reader_says_on_purpose_stays() -> None:
    with pytest.raises(NotARunError, match="no reward"):
        Guarded(Faulty(NotARunError("no reward"))).read(PATH, ReadOptions())


def test_an_interruption_is_none_of_the_readers() -> None:
    with pytest.raises(KeyboardInterrupt):
        Guarded(Faulty(KeyboardInterrupt())).read(PATH, ReadOptions())


@pytest.mark.parametrize(("method", "outcome"), [("read", None), ("read", {}), ("parts", "abc"), ("opening", 7)])
def test_what_is_returned_is_checked(method: str, outcome: object) -> None:
    arguments = (PATH, ReadOptions()) if method == "read" else (PATH,)
    with pytest.raises(InputError, match=f"failed in {method} \\(it returned a {type(outcome).__name__}\\)"):
        getattr(Guarded(Faulty(outcome)), method)(*arguments)


@pytest.mark.parametrize(("method", "outcome"), [("parts", [b"a"]), ("files", ["a"]), ("beside", [PATH, 7])])
def test_what_a_list_holds_is_checked(method: str, outcome: object) -> None:
    class Listing(Faulty):
        def files(self, path: Path) -> Any:
            return self.outcome

        beside = files

    with pytest.raises(InputError, match=f"failed in {method} .its list has a (bytes|str|int) in it"):
        getattr(Guarded(Listing(outcome)), method)(PATH)


def test_an_attribute_that_fails_is_one_sentence() -> None:
    class Failing(Faulty):
        @property
        def files(self) -> Any:
            raise SystemExit(3)

    with pytest.raises(InputError, match="failed in files"):
        _ = Guarded(Failing(True)).files


def test_what_a_reader_lacks_is_lacking() -> None:
    reader = Guarded(Faulty(True))
    assert reader.suffixes == {".x"}
    assert reader.detect(PATH, b"") is True
    for name in ("files", "belongs", "beside", "holds", "named"):
        assert not hasattr(reader, name)
