"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real runs the project is tried on, which are kept beside the repository.

    ``$RLCHECKS_SHARED_DATA`` names another place. Tests that need them are skipped where there are none.
    """
    path = Path(os.environ.get("RLCHECKS_SHARED_DATA") or REPOSITORY.parent / "shared" / "data")
    if not path.is_dir():
        pytest.skip(f"the shared runs are not at {path}; set RLCHECKS_SHARED_DATA")
    return path


@pytest.fixture(scope="session")
def example_run() -> Path:
    """The run that is committed with the project: its charts look like learning, and it is reward hacking."""
    return REPOSITORY / "examples" / "hack-lazy-s30"
