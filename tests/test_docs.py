"""The reference pages are what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"


def page(name: str) -> str:
    spec = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    written: str = tables.PAGES[name]()
    return written


@pytest.mark.parametrize("name", ["signals.md", "evidence.md", "formats/frameworks.md", "formats/README.md"])
def test_a_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == page(name), "run: python docs/tables.py"
