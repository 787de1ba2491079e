from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.cells import cell_len
from rich.console import Console

from rlchecks.report import terminal

HOSTILE = [
    "[red]x[/red]",
    "[link=https://example.org]x[/link]",
    "\x1b[2Jx",
    "\x1b]8;;https://a.b\x07x",
    "a\rb\x07c",
    ":boom:",
]


def printed(view: str, *arguments: Any, width: int = 80, tty: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    console = Console(file=file, width=width, force_terminal=tty, color_system="truecolor" if tty else None)
    getattr(terminal, view)(console, *arguments)
    file.flush()
    return raw.getvalue().decode(encoding)


def poisoned(value: Any, hostile: str) -> Any:
    if isinstance(value, dict):
        return {key: poisoned(item, hostile) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, hostile) for item in value]
    return hostile if isinstance(value, str) else value


@pytest.fixture
def fleet(document: dict[str, Any]) -> dict[str, Any]:
    run = {"run_id": "toy-1", "source": "runs/toy", "framework": "trl_grpo", "findings": document["findings"]}
    healthy = {**run, "run_id": "well", "status": "healthy", "findings": document["findings"][:1]}
    return {
        "version": 1,
        "runs": [healthy, {**run, "status": "sick"}, {**run, "run_id": "odd", "status": "fine"}],
        "refused": [{"source": "runs/broken", "reason": "line 3: no JSON."}],
        "skipped": [{"source": "runs/copy", "reason": "a copy of toy."}],
    }


@pytest.fixture
def ingested() -> dict[str, Any]:
    run = {
        "run_id": "toy-1",
        "source": "runs/toy",
        "framework": "trl_grpo",
        "steps": 40,
        "first_step": 1,
        "last_step": 40,
        "metrics": {
            "reward": {"first": 0.3, "last": 0.7, "mean": 0.5, "count": 40},
            "clipped_ratio": {"first": None, "last": 0.25, "mean": 0.1, "count": 39},
        },
        "unmapped": ["clip_ratio/high_max"],
        "warnings": ["2 rows repeat an earlier step."],
    }
    return {"version": 1, "runs": [run], "refused": []}


PATHS = {"report": Path("reports/toy/verdict.html"), "verdict": "reports/toy/verdict.json"}


def test_a_verdict_reads_well_in_eighty_columns(document: dict[str, Any]) -> None:
    text = printed("verdict", document, PATHS)
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())
    order = [
        "REJECT",
        "toy, checkpoint-40 against base",
        "Overridden by somebody: shown to the board",
        "Reward hacking: the training grader's score rose",
        "Do not promote.",
        "-0.358 [-0.396, -0.319]",
        "Gap of the gains",
        "The grader gained, the judge lost, from step 12",
        "Not measured: entropy",
        "reports/toy/verdict.json",
    ]
    places = [text.index(phrase) for phrase in order]
    assert places == sorted(places)


def test_nothing_is_coloured_off_a_terminal(document: dict[str, Any]) -> None:
    assert "\x1b" not in printed("verdict", document, PATHS)
    assert "\x1b[" in printed("verdict", document, PATHS, tty=True)


def test_paths_are_not_broken_in_a_narrow_terminal(document: dict[str, Any]) -> None:
    long = "reports/" + "x" * 120 + "/verdict.html"
    assert long in printed("verdict", document, {"report": long}, width=40)


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("tty", [False, True])
def test_text_from_logs_is_neither_markup_nor_a_command(
    hostile: str, tty: bool, document: dict[str, Any], fleet: dict[str, Any], ingested: dict[str, Any]
) -> None:
    pages = [
        printed("verdict", poisoned(document, hostile), {"report": hostile}, tty=tty),
        printed("diagnosis", poisoned(fleet, hostile), tty=tty),
        printed("audit", poisoned(fleet, hostile), tty=tty),
        printed("ingest", poisoned(ingested, hostile), tty=tty),
        printed("signals", {hostile: hostile, "reward_end": 0.5}, tty=tty),
        printed("table", pa.table({hostile: [hostile, None]}), tty=tty),
    ]
    for page in pages:
        # What remains of escapes are rich's own colours, and those only on a terminal.
        bare = re.sub(r"\x1b\[[0-9;]*m", "", page) if tty else page
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", bare)
        assert "]8;" not in page
        if hostile.startswith(("[", ":")):
            assert hostile in re.sub(r"\s+", "", bare)


def test_a_terminal_without_unicode_gets_ascii(document: dict[str, Any]) -> None:
    document["run"]["name"] = "läuft → 走"
    assert r"l\xe4uft -> \u8d70" in printed("verdict", document, PATHS, encoding="ascii")


def test_an_empty_document_is_no_pass() -> None:
    assert "NO DECISION" in printed("verdict", {}, {})


def test_a_diagnosis_names_run_finding_evidence_and_what_was_not_read(fleet: dict[str, Any]) -> None:
    text = printed("diagnosis", fleet)
    assert "toy-1  sick  trl_grpo" in text
    assert "clipped ratio late 25%" in text
    assert "Refused (1)\n  runs/broken" in text
    assert "Skipped (1)\n  runs/copy" in text


def test_what_a_warning_explains_is_not_said_to_be_unknown(fleet: dict[str, Any]) -> None:
    table = {"framework": "table", "unmapped": ["cut", "other"], "warnings": ["'cut' has values outside 0 to 1."]}
    fleet["runs"] = [{**fleet["runs"][0], **table}]
    assert "other not understood; name a metric with --column" in printed("diagnosis", fleet)


def test_an_audit_counts_all_and_lists_those_that_are_not_healthy_worst_first(fleet: dict[str, Any]) -> None:
    text = printed("audit", fleet)
    assert "3 runs: 1 sick, 1 incomplete, 1 healthy, 1 refused" in text
    assert "healthy: well" in text
    # A status nobody knows does not pass for healthy.
    assert text.index("toy-1  sick") < text.index("odd  incomplete")


def test_an_audit_of_very_many_runs_stays_short(fleet: dict[str, Any]) -> None:
    fleet["runs"] = [{"run_id": f"r{n}", "status": "sick"} for n in range(1000)]
    text = printed("audit", fleet)
    assert "1,000 runs: 1000 sick" in text
    assert "and 950 more that are not healthy" in text


def test_ingest_lists_the_metrics_of_one_run_in_their_units(ingested: dict[str, Any]) -> None:
    text = printed("ingest", ingested)
    assert re.search(r"clipped_ratio +not measured +25% +10% +39", text)
    assert "Kept without a known meaning\n  clip_ratio/high_max" in text
    assert re.search(r"^  toy-1 +trl_grpo +1-40 +2 +1 +1  runs/toy$", text, re.M)
    assert "Warnings\n  toy-1  2 rows repeat an earlier step." in text


@pytest.fixture
def many(ingested: dict[str, Any]) -> dict[str, Any]:
    (run,) = ingested["runs"]
    long = {**run, "run_id": "a-run-with-a-rather-long-name-0123456789abcdef", "first_step": 7, "last_step": 7}
    bare = {**run, "run_id": "bare", "metrics": {"reward": {}}, "unmapped": [], "warnings": [], "unchanged": True}
    return {
        **ingested,
        "runs": [run, long, bare],
        "refused": [{"source": "runs/torn.csv", "reason": "runs/torn.csv: line 3: no valid CSV."}],
        "skipped": [{"source": "runs/copy", "reason": "a copy of runs/toy"}],
    }


@pytest.mark.parametrize("width", [40, 80, 160])
def test_ingest_ends_with_the_summary_and_breaks_neither_id_nor_source(width: int, many: dict[str, Any]) -> None:
    many["runs"][2]["source"] = "runs/console.log#2"
    text = printed("ingest", many, width=width)
    order = [
        "Metrics",
        "Kept without",
        "Warnings",
        "Skipped (1)",
        "Refused (1)",
        "Runs",
        "3 runs: 1 unchanged, 1 skipped",
    ]
    places = [re.sub(r"\s+", " ", text).index(words) for words in order]
    assert places == sorted(places)
    lines = [line.rstrip() for line in text.splitlines()]
    long = "a-run-with-a-rather-long-name-0123456789abcdef"
    assert all(len(line) <= width or long in line for line in lines)
    (row,) = [line.split() for line in lines if line.startswith(f"  {long}") and "Warnings" not in line][-1:]
    assert row[0] == long
    if width == 40:
        assert row == [long]
    if width == 160:
        assert row[1:] == ["trl_grpo", "7", "2", "1", "1", "runs/toy"]
        assert re.search(r"^  bare .* runs/console.log#2$", "\n".join(lines), re.M)
    else:
        assert "    runs/console.log#2" in lines
    assert "runs/torn.csv\n    line 3: no valid CSV." in re.sub(" +\n", "\n", text)


def test_long_lists_of_unknown_keys_are_cut_with_a_count(ingested: dict[str, Any]) -> None:
    ingested["runs"][0]["unmapped"] = [f"key/{n}" for n in range(30)]
    text = printed("ingest", ingested)
    assert "key/7 and 22 more" in text
    assert "--json prints them all" in text


def test_a_warning_of_several_runs_is_said_once(many: dict[str, Any]) -> None:
    text = printed("ingest", many, width=160)
    assert text.count("2 rows repeat an earlier step.") == 1
    assert "toy-1, a-run-with-a-rather-long-name-0123456789abcdef  2 rows" in text


def test_a_run_of_validation_alone_shows_its_checks(ingested: dict[str, Any]) -> None:
    checks = {"first": 0.1, "last": 0.5, "mean": 0.3, "count": 7}
    ingested["runs"][0] |= {"steps": 0, "first_step": None, "last_step": None, "metrics": {}, "validation": checks}
    text = printed("ingest", ingested)
    assert re.search(r"reward \(validation\) +0.100 +0.500 +0.300 +7", text)
    assert re.search(r"toy-1 .* 7 checks", text)


def test_what_many_runs_have_in_common_is_said_once(many: dict[str, Any]) -> None:
    many["runs"] += [{**many["runs"][0], "run_id": f"r{n}"} for n in range(1000)]
    text = printed("ingest", many)
    assert "1,003 runs: 1 unchanged" in text
    assert "  1,002 runs  reward, clipped_ratio" in text
    assert "  bare  reward\n" in re.sub(" +\n", "\n", text)
    assert text.count("clip_ratio/high_max") == 1
    assert "and 803 more; --json prints them all" in text
    assert len(text.splitlines()) < 450


def test_an_ingestion_without_any_run_says_so(many: dict[str, Any]) -> None:
    text = printed("ingest", {**many, "runs": []})
    assert text.strip().endswith("0 runs: 1 skipped, 1 refused")
    assert "framework" not in text
    assert "0 runs" in printed("ingest", {})


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_do_not_break_the_lines_of_an_ingestion(hostile: str, many: dict[str, Any]) -> None:
    wide = {**many, "runs": [*poisoned(many["runs"], hostile + "走" * 50), many["runs"][0]]}
    for width in (40, 80, 160):
        text = printed("ingest", wide, width=width)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
        # Ids and sources alone are never broken.
        assert all(cell_len(line.rstrip()) <= width or "走" in line for line in text.splitlines())
        assert max(cell_len(line.rstrip()) for line in text.splitlines()) <= max(width, 250)


def test_signals_are_one_a_line_and_absent_ones_say_so() -> None:
    text = printed("signals", {"clipped_ratio_late": 0.25, "kl_end": None, "non_finite_lasts": False})
    lines = [line.split(maxsplit=1) for line in text.splitlines()]
    assert [(name, value.strip()) for name, value in lines] == [
        ("clipped_ratio_late", "25%"),
        ("kl_end", "not measured"),
        ("non_finite_lasts", "no"),
    ]


def test_a_query_result_is_cut_and_says_so() -> None:
    text = printed("table", pa.table({"n": list(range(1000)), "name": ["x"] * 1000}))
    assert "and 800 more rows" in text
    assert len(text.splitlines()) == 202


def test_a_wide_query_result_keeps_its_first_columns_and_says_how_many_are_left() -> None:
    wide = pa.table({"run_id": ["run-with-a-long-name-1"], **{f"metric_{n}": [n + 0.125] for n in range(30)}})
    text = printed("table", wide)
    header, row, rest = text.splitlines()
    assert header.split()[:2] == ["run_id", "metric_0"]
    assert row.split()[:2] == ["run-with-a-long-name-1", "0.125"]
    left = 31 - len(header.split())
    assert 0 < left < 30
    assert rest.strip() == f"and {left} more columns; --json prints them all"
    assert max(map(len, text.splitlines())) <= 80
    assert "more column" not in printed("table", wide, width=400)


def test_a_query_result_that_is_wider_than_the_terminal_shows_one_column() -> None:
    text = printed("table", pa.table({"text": ["x" * 50], "other": [1]}), width=10)
    assert re.sub(r"\s", "", text).startswith("text" + "x" * 50)
    assert "and 1 more column;" in re.sub(r"\s+", " ", text)
    assert "other" not in text


def test_a_query_result_without_rows_shows_its_columns() -> None:
    assert printed("table", pa.table({"run_id": pa.array([], pa.string())})).split() == ["run_id", "no", "rows"]


def test_reading_notes_of_healthy_runs_are_told_once(fleet: dict[str, Any]) -> None:
    fleet["runs"] = [{"run_id": f"r{n}", "status": "healthy", "warnings": ["'kl' is odd."]} for n in range(5)]
    text = printed("audit", fleet)
    assert "of these 5 with notes on how they were read" in text
    assert text.count("'kl' is odd.") == 1
    assert "r0, r1, r2 and 2 more: 'kl' is odd." in text


def test_a_diagnosis_says_that_no_range_was_checked(fleet: dict[str, Any]) -> None:
    assert "`rlchecks audit` checks the healthy ranges" in printed("diagnosis", fleet)


def test_numbers_of_a_query_are_short_and_no_line_ends_with_blanks() -> None:
    text = printed("table", pa.table({"mean": [0.49959999999999993], "id": ["a"]}))
    assert [line.split() for line in text.splitlines()] == [["mean", "id"], ["0.4996", "a"]]
    assert all(line == line.rstrip() for line in text.splitlines())
