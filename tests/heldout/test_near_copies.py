from __future__ import annotations

import sys

import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout.near_copies import find_near_copies

WORDS = [f"{one}{other}" for one in "abcdefgh" for other in "abcdefgh"][:60]
TEXT = " ".join(WORDS) + " 7"


def test_without_datasketch_the_user_is_told_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasketch", None)
    with pytest.raises(UsageError, match=r"pip install 'rlchecks\[minhash\]'"):
        find_near_copies([TEXT], [TEXT])


def test_a_changed_word_is_found_and_a_changed_number_is_not() -> None:
    pytest.importorskip("datasketch")
    changed = TEXT.replace(WORDS[30], "other")
    number = TEXT.replace(" 7", " 8")
    unlike = " ".join(f"else{word}" for word in WORDS) + " 7"
    assert find_near_copies([unlike, TEXT], [number, unlike[:40], changed]) == [(1, 2)]
    # Three changed words in sixty leave 42 of 72 runs in common, a similarity of .58.
    three = TEXT.replace(WORDS[10], "x").replace(WORDS[30], "y").replace(WORDS[50], "z")
    assert find_near_copies([TEXT], [three]) == []
    assert find_near_copies(["too short"], ["too short"]) == []
