from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rlchecks.evaluation.journal import Journal, key_of


def test_what_was_put_is_there_also_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "j.jsonl"
    journal = Journal(path)
    assert journal.get("a") is None
    journal.put("a", {"text": "ü\n\ud800"})
    journal.put("b", {"text": "two"})
    journal.put("a", {"text": "again"})
    journal.close()
    journal = Journal(path)
    assert (journal.get("a"), journal.get("b")) == ({"text": "again"}, {"text": "two"})
    journal.close()


@given(st.integers(min_value=0, max_value=200))
def test_a_file_torn_anywhere_loses_only_what_was_torn(tmp_path_factory: object, cut: int) -> None:
    path = Path(tmp_path_factory.mktemp("journal")) / "j.jsonl"  # type: ignore[attr-defined]
    journal = Journal(path)
    for number in range(4):
        journal.put(str(number), {"number": number})
    journal.close()
    whole = path.read_bytes()
    kept = max(0, len(whole) - cut)
    path.write_bytes(whole[:kept])
    journal = Journal(path)
    # A line is whole also without its line end.
    ends = [at for at, sign in enumerate(whole) if sign == 10]
    whole_lines = [end <= kept for end in ends]
    assert [journal.get(str(number)) is not None for number in range(4)] == whole_lines
    journal.put("new", {"number": 9})
    assert journal.get("new") == {"number": 9}
    journal.close()
    journal = Journal(path)
    assert journal.get("new") == {"number": 9}
    journal.close()


def test_lines_that_are_no_entries_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'[]\n{"key": 1, "value": {}}\n{"key": "x", "value": 1}\n\xff\n{"key": "a", "value": {"n": 1}}\n')
    journal = Journal(path)
    assert (journal.get("x"), journal.get("a")) == (None, {"n": 1})
    journal.close()


def test_a_key_tells_all_parts_apart() -> None:
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
