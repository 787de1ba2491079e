from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers import trl_prefix
from rlchecks.readers.trl_prefix import is_beginning


def state(path: Path, rows: list[Any], indent: int | None = 2) -> Path:
    path.write_text(json.dumps({"global_step": len(rows), "log_history": rows, "max_steps": 9}, indent=indent))
    return path


ROWS = st.lists(st.fixed_dictionaries({"reward": st.sampled_from([0, 1, 10, float("nan")])}), min_size=1, max_size=4)


@given(one=ROWS, more=ROWS, block=st.sampled_from([64, 1 << 20]))
def test_what_is_told_to_be_a_beginning_is_one(one: list[Any], more: list[Any], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as directory:
        patch.setattr(trl_prefix, "_BLOCK", block)
        folder = Path(directory)
        first, second = state(folder / "a", one), state(folder / "b", more)
        longer = state(folder / "c", [*one, *more])
        truth = len(one) < len(more) and json.dumps(more[: len(one)]) == json.dumps(one)
        if len(one) != len(more):
            assert is_beginning(first, second) == truth
        assert is_beginning(first, longer)
        assert not is_beginning(longer, first)


def test_a_state_is_a_beginning_of_itself_and_nothing_is_told_of_what_is_no_state(tmp_path: Path) -> None:
    one = state(tmp_path / "a", [{"reward": 1}])
    assert is_beginning(one, one)
    for name, content in (("empty", ""), ("other", "{}"), ("torn", one.read_text()[:50])):
        (tmp_path / name).write_text(content)
        assert not is_beginning(tmp_path / name, one)
        assert not is_beginning(one, tmp_path / name)
    assert not is_beginning(tmp_path / "absent", one)
    assert not is_beginning(one, state(tmp_path / "b", [{"reward": 1}, {"reward": 2}], indent=None))
