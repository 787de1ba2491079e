"""Small logs written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

Row = dict[str, Any]


@pytest.fixture
def write_state(tmp_path: Path) -> Callable[..., Path]:
    """Write a trainer_state.json and return its path; keyword arguments become fields."""

    def write(rows: Sequence[Any], where: str = "run", **fields: Any) -> Path:
        path = tmp_path / where / "trainer_state.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {"global_step": len(rows), "log_history": list(rows), "logging_steps": 1, "max_steps": 60, **fields}
        path.write_text(json.dumps(document))
        return path

    return write


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file and return its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
