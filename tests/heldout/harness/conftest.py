"""Evaluation logs made by hand, and what was read from them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.heldout import HeldoutRows

DATA = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture(scope="session")
def logs() -> Path:
    """Logs of real harnesses: see ``data/make``."""
    return DATA


def _scores(rows: HeldoutRows) -> dict[tuple[str, str], dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for row in rows.table.to_pylist():
        key = row["question_id"] if row["epoch"] is None else f"{row['question_id']}#{row['epoch']}"
        assert key not in found[row["checkpoint"], row["judge"]]
        found[row["checkpoint"], row["judge"]][key] = row["score"]
    return dict(found)


def _mean(scores: Iterable[float | None]) -> float:
    given = [score for score in scores if score is not None]
    return sum(given) / len(given)


@pytest.fixture(scope="session")
def scores() -> Callable[[HeldoutRows], dict[tuple[str, str], dict[str, Any]]]:
    """``scores(rows)[checkpoint, judge][question]``; a question with a repeat is ``question#repeat``."""
    return _scores


@pytest.fixture(scope="session")
def mean() -> Callable[[Iterable[float | None]], float]:
    """Mean of the scores that there are."""
    return _mean


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """``write("a/b.jsonl", [..])``: a JSON Lines file, or a JSON document where the name ends in ``.json``."""

    def written(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str | bytes):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        elif path.suffix == ".json":
            path.write_text(json.dumps(content))
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in content))
        return path

    return written
