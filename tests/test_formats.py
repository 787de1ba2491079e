"""Every format that is read has its page, and the index names them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rlchecks.metrics import METRICS
from rlchecks.readers.registry import built_in

PAGES = Path(__file__).resolve().parent.parent / "docs" / "formats"
NAMES = [reader.name for reader in built_in()]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_what_is_read_of_which_versions_and_what_is_not(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^(#+ .*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    assert headings[0].startswith("# ")
    assert headings[1:] == ["## What is read", "## Versions", "## What is not read"]
    title, sentence, *sections = re.split(r"^#.*$", text, flags=re.M)
    assert not title.strip()
    assert all(part.strip() for part in [sentence, *sections])


@pytest.mark.parametrize("name", NAMES)
def test_the_index_links_every_page(name: str) -> None:
    assert f"]({name}.md) | `{name}` |" in (PAGES / "README.md").read_text(encoding="utf-8")


def test_there_is_no_page_of_a_format_that_is_not_read() -> None:
    assert {path.stem for path in PAGES.iterdir()} - {*NAMES} == {"README", "frameworks"}


def test_the_page_of_tables_lists_what_a_column_can_be() -> None:
    text = (PAGES / "table.md").read_text(encoding="utf-8")
    assert [name for name in (*METRICS, "step", "epoch", "validation_reward") if f"`{name}`" not in text] == []


def test_what_a_reader_looks_for_fits_into_a_sentence() -> None:
    for reader in built_in():
        assert reader.looks_for == reader.looks_for.strip(". ")
        assert "\n" not in reader.looks_for
