"""Logged answers as rows of the archive's table."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest

from rlchecks.readers.answers import Answer, spaced, to_table
from rlchecks.schema import COMPLETIONS


def test_an_answer_becomes_a_row() -> None:
    answers = [
        Answer(3, "p", "c", 0.5, {"format": 1, "truth": "0.25"}, {"note": [1, None], "empty": None}),
        Answer(4, None, {"role": "assistant"}, None, {"truth": None}, {"note": "n"}),
    ]
    table = to_table("r", ["train", "eval"], answers)
    assert table.schema.equals(COMPLETIONS)
    first, second = table.to_pylist()
    assert first["rewards"] == [("format", 1.0), ("truth", 0.25)]
    assert first["extra_text"] == [("note", "[1, null]")]
    assert (first["split"], first["step"], first["prompt"], first["completion"]) == ("train", 3, "p", "c")
    assert first["advantage"] == 0.5
    assert (second["prompt"], second["completion"]) == (None, '{"role": "assistant"}')
    assert second["advantage"] is None
    assert second["rewards"] == []


def test_a_score_that_is_no_number_is_kept_as_text() -> None:
    table = to_table(
        "r", ["train"] * 3, [Answer(1, "p", "c", None, {"g": score}, {}) for score in ("bad", math.nan, 10**400)]
    )
    rows = table.to_pylist()
    assert rows[0]["rewards"] == []
    assert rows[0]["extra_text"] == [("g", "bad")]
    assert math.isnan(rows[1]["rewards"][0][1])
    assert rows[2]["extra_text"][0][1].startswith("1000")


def test_text_that_utf8_cannot_hold_is_escaped() -> None:
    table = to_table("r", ["train"], [Answer(1, "\ud800", "c", None, {"\udfff": 1.0}, {"\ud800": "x"})])
    table.validate(full=True)
    assert table.to_pylist()[0]["prompt"] == "\\ud800"


def test_no_answers_are_an_empty_table() -> None:
    assert to_table("r", [], []).equals(COMPLETIONS.empty_table())


@pytest.mark.parametrize(("most", "kept"), [(10_000, 10), (1000, 10), (999, 5), (300, 3), (1, 1)])
def test_chosen_files_are_evenly_spaced_and_end_with_the_last(tmp_path: Path, most: int, kept: int) -> None:
    files = []
    for step in range(1, 11):
        path = tmp_path / f"{step}.jsonl"
        path.write_bytes(b"x" * 100)
        files.append((step, path))
    chosen = sorted(spaced(files, most))
    assert len(chosen) == kept
    assert chosen[-1] == 10
    assert len({after - before for before, after in pairwise(chosen)}) <= 1


def test_files_that_vanish_do_not_matter(tmp_path: Path) -> None:
    assert spaced([(1, tmp_path / "none")]) == {1}
    assert spaced([]) == set()
