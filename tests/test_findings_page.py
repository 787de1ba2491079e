"""docs/findings.md: every finding has its section, and nothing on the page has drifted from what it describes."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rlchecks.diagnosis import CODES, PROFILES
from rlchecks.signals import SIGNALS
from rlchecks.suites import load

DOCS = Path(__file__).resolve().parent.parent / "docs"
OTHERS = frozenset({"reasoning", "hosted", "start + d (alpha - beta ln d)", "comparison.checkpoints.kl_curve", "d"})


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def words() -> dict[str, Any]:
    return tomllib.loads((DOCS / "findings_words.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "findings.md").read_text(encoding="utf-8")


def test_the_page_is_current(page: str) -> None:
    assert page == module("findings").page(), "run: python docs/findings.py"


@pytest.mark.parametrize("code", CODES)
def test_every_finding_has_a_section_with_all_its_parts(code: str, page: str, words: dict[str, Any]) -> None:
    section = page.partition(f"\n## {code}\n")[2].partition("\n## ")[0]
    for part in ("**Rule.** ", "**Severity and gate.** ", "**Measured.** "):
        assert part in section
    assert f"![{words[code]['caption']}](images/{code}.svg)" in section
    picture = (DOCS / "images" / f"{code}.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg xmlns=")
    assert len(picture) < 30_000
    assert not re.search(r"<script|href=|url\(|\bon\w+=", picture)


def test_nothing_is_said_of_findings_that_are_none(words: dict[str, Any]) -> None:
    assert words.keys() == set(CODES)
    assert {path.stem for path in (DOCS / "images").glob("*.svg")} == set(CODES)


def test_every_threshold_stands_on_the_page(page: str) -> None:
    for profile in PROFILES:
        for table, keys in load(profile).parameters.tables.items():
            for key in keys:
                assert f"`[{table}] {key}`" in page


def test_the_rules_name_only_what_there_is(words: dict[str, Any]) -> None:
    tables = {profile: load(profile).parameters.tables for profile in PROFILES}
    keys = {key for some in tables.values() for table in some.values() for key in table}
    dotted = {f"[{table}] {key}" for some in tables.values() for table, given in some.items() for key in given}
    for code, entry in words.items():
        for name in re.findall(r"`([^`]+)`", entry["rule"] + entry["means"]):
            known = name in SIGNALS or name in keys or name in dotted or name in CODES or name in OTHERS
            assert known or re.fullmatch(r"[a-z(][^`]*[+-][^`]*", name), f"{code}: {name}"
        for table in entry.get("tables", []):
            assert table in tables["chat"], f"{code}: {table}"


TABLE = """# How often

seed 2026, 100 runs of each of 3 scenarios

**Profile chat.** Healthy runs with any warning: 1 of 100 (1.0%).

| finding | true cases | recall | can be shown | precision | onset error |
|---|---|---|---|---|---|
| `learning` | 90 | 0.989 | 0.10 | 0.997 | - |
| `drift` | 0 | - | - | - | - |

**Profile hosted.** Healthy runs with any warning: 0 of 100.

| finding | true cases | recall | can be shown | precision | onset error |
|---|---|---|---|---|---|
| `learning` | 90 | 0.970 | 0.10 | 1.000 | 0.012 |

seed 5, 100 runs of each of 3 scenarios

**Profile chat.** Healthy runs with any warning: 2 of 100 (2.0%).

| finding | true cases | recall | can be shown | precision | onset error |
|---|---|---|---|---|---|
| `learning` | 91 | 0.100 | 0.10 | 0.100 | - |
"""


def test_measured_figures_are_read_from_the_benchmark_s_table() -> None:
    findings = module("findings")
    measured = findings.tables(TABLE)
    assert measured["chat"]["learning"]["recall"] == "0.989"  # of several seeds the first
    told = findings._measured("learning", measured)
    assert told.startswith(
        "chat: recall 0.989, precision 0.997 on 90 true cases; hosted: recall 0.970, precision 1.000, "
    )
    assert "onset error 0.012" in told
    assert findings._measured("drift", measured).startswith("chat: never said")
    assert findings._measured("saturated", measured) == "Not measured."
    assert findings.tables("") == {}


def test_the_pictures_of_real_runs_are_what_the_report_draws(shared_data: Path, words: dict[str, Any]) -> None:
    pictures = module("pictures")
    for code, cards in pictures.real(shared_data / "trl").items():
        drawn = (DOCS / "images" / f"{code}.svg").read_text(encoding="utf-8")
        assert pictures.picture(cards, words[code]["caption"]) == drawn, "run: python -m docs.pictures"
        assert "(TRL, run " in words[code]["caption"]


def test_pictures_of_simulated_runs_say_so(words: dict[str, Any]) -> None:
    pictures = module("pictures")
    assert all(words[code]["caption"].endswith("(simulated).") for code in pictures.SIMULATED)
    assert pictures.REAL.keys() | {"reward_hacking", "earlier_checkpoint_as_good"} == set(CODES) - set(
        pictures.SIMULATED
    )
