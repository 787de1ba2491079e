from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import UsageError
from rlchecks.readers.identity import run_id, run_name, slug


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/my-run/trainer_state.json", "my-run"),
        ("runs/my-run/checkpoint-40/trainer_state.json", "my-run"),
        ("runs/my-run/logs/metrics.jsonl", "my-run"),
        ("runs/lr1e-5.csv", "lr1e-5"),
    ],
)
def test_a_run_is_named_after_what_tells_it(tmp_path: Path, path: str, name: str) -> None:
    assert run_name(tmp_path / path) == name


def test_a_directory_is_named_with_its_dots(tmp_path: Path) -> None:
    (tmp_path / "qwen2.5-0.5b" / "checkpoint-10").mkdir(parents=True)
    assert run_name(tmp_path / "qwen2.5-0.5b") == "qwen2.5-0.5b"
    assert run_name(tmp_path / "qwen2.5-0.5b" / "checkpoint-10") == "qwen2.5-0.5b"


def test_the_working_directory_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run_name(Path(".")) == "here"


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_slugs_are_harmless_file_names(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug(name))
    assert len(slug(name)) <= 60


def test_slugs_keep_letters_without_their_accents() -> None:
    assert slug("Récompense 2.5/β") == "recompense-2-5"
    assert slug("報酬") == "run"


def test_ids_depend_on_name_framework_and_first_row_alone() -> None:
    row = {"step": 1, "reward": float("nan")}
    identity = run_id(None, "My Run", "trl_grpo", row)
    assert re.fullmatch(r"my-run-[0-9a-f]{8}", identity)
    assert run_id(None, "My Run", "trl_grpo", {"reward": float("nan"), "step": 1}) == identity
    others = [
        run_id(None, "my run 2", "trl_grpo", row),
        run_id(None, "My Run", "table", row),
        run_id(None, "My Run", "trl_grpo", {**row, "reward": 0.5}),
    ]
    assert len({identity, *others}) == 4


def test_the_id_that_the_user_wants_is_taken() -> None:
    assert run_id("Exp 7", "My Run", "trl_grpo", {}) == "Exp 7"


@pytest.mark.parametrize("given_id", ["", "  ", "a\nb", "a\x1b[31m", "a\0"])
def test_blank_and_unprintable_ids_are_refused(given_id: str) -> None:
    with pytest.raises(UsageError, match="the run id is blank or holds characters that cannot be printed"):
        run_id(given_id, "n", "f", {})
