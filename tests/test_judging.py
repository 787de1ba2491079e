from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rlchecks.cli import app, run
from rlchecks.errors import UsageError
from rlchecks.heldout import Scorer
from rlchecks.judging import compare_judges
from rlchecks.report import terminal

# Agreement with the label, over both orders, as the public files' README lists it.
LLMBAR = {
    "ChatGPT/Vanilla": 0.815,
    "GPT-4/Vanilla": 0.955,
    "LLaMA2/Vanilla": 0.805,
    "Falcon/Vanilla": 0.740,
    "ChatGPT/Vanilla_NoRules": 0.790,
    "GPT-4/Vanilla_NoRules": 0.935,
    "PaLM2/Vanilla": 0.830,
    "ChatGPT/CoT": 0.740,
}


@pytest.fixture
def public(shared_data: Path) -> Path:
    path = shared_data / "public/judges"
    if not path.is_dir():
        pytest.skip(f"there are no public logs in {shared_data}")
    return path


def test_llmbar_judges_agree_with_people_as_listed(public: Path) -> None:
    document = compare_judges([str(path) for path in sorted(public.glob("llmbar-natural/*result.json"))])
    assert document["people"] == ["gold"]
    found = {pair["other"]: pair for pair in document["pairs"] if pair["one"] == "gold"}
    assert found.keys() == LLMBAR.keys()
    for judge, listed in LLMBAR.items():
        # A pair with an order that gave no verdict is unscored here, so its closeness is only bounded.
        assert found[judge]["closeness_lowest"] - 1e-9 <= listed <= found[judge]["closeness_highest"] + 1e-9
        assert found[judge]["unscored"] or found[judge]["closeness"] == pytest.approx(listed)
    assert sum(not found[judge]["unscored"] for judge in LLMBAR) == 6


def test_pandalm_judges_agree_with_most_people_as_listed(public: Path) -> None:
    paths = [str(path) for path in sorted(public.glob("pandalm-testset/*.json")) if "inference" not in path.name]
    document = compare_judges(paths)
    assert document["people"] == ["annotator1", "annotator2", "annotator3"]
    found = {pair["other"]: pair for pair in document["pairs"] if pair["one"] == "people"}
    assert found["pandalm"]["equal"] == pytest.approx(667 / 999)
    # The listed .693 is 692 of 999: without the five ties on which gpt-3.5 and most people agree.
    assert (found["gpt"]["answers"], round(found["gpt"]["equal"] * 974)) == (974, 697)
    assert round((697 - 5) / 999, 3) == 0.693


def rows(path: Path, judges: dict[str, list[float | None]]) -> str:
    lines = [
        {"question_id": f"q{n}", "checkpoint": side, "judge": judge, "score": score, "answer": "\x1b[31m[bold]<b>"}
        for judge, scores in judges.items()
        for side in ("checkpoint-0", "checkpoint-5")
        for n, score in enumerate(scores)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_the_command_prints_json_and_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = rows(tmp_path / "rows.jsonl", {"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]})
    monkeypatch.chdir(tmp_path)
    assert run(lambda: app(["judges", path, "--human", "b", "--json"], standalone_mode=False)) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["baseline"], document["candidate"], document["people"]) == ("checkpoint-0", "checkpoint-5", ["b"])
    assert [verdict["judge"] for verdict in document["verdicts"]] == ["a", "b"]
    assert document["pairs"][0]["equal"] == 0.75
    assert [file.name for file in tmp_path.iterdir()] == ["rows.jsonl"]


def test_hostile_answers_are_shown_as_they_are_and_obeyed_by_nothing(tmp_path: Path) -> None:
    document = compare_judges([rows(tmp_path / "rows.jsonl", {"a": [0, 1, 1, 0], "[red]b": [0, 1, 0, 0]})])
    console = Console(width=80, record=True, file=io.StringIO())
    terminal.judges(console, document)
    text = console.export_text(styles=True)
    assert "[bold]<b>" in text
    assert "\x1b[31m" not in text
    assert "[red]b" in text
    # Without prompts no line is left empty for them.
    shown = console.export_text() or text
    listed = shown[shown.index("Where they differ most") :].splitlines()[1:]
    assert all(line.strip() for line in listed)


def test_the_estimates_by_labels_stand_beside_people_and_judge_on_the_same_questions(tmp_path: Path) -> None:
    scores: dict[str, list[float | None]] = {"llm": [1.0, 1.0, 0.0, 1.0] * 20, "anna": [1.0, 0.0, 0.0, 1.0] * 5}
    document = compare_judges([rows(tmp_path / "rows.jsonl", scores)], people=("anna",))
    console = Console(width=300, file=io.StringIO())
    terminal.judges(console, document)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "on the labelled ones people 0.500, the judge 0.750; the judge on all 0.750" in text
    assert "Each line is an estimate of its own" in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"judges": (Scorer("c"),)}, "There is no judge 'c'"),
        ({"people": ("c",)}, "There is no judge 'c'"),
        ({"judges": (Scorer("a"),)}, "From 2 to 12 judges are compared, not 1"),
        ({"baseline": "other"}, "other"),
    ],
)
def test_a_name_that_is_not_there_is_said(tmp_path: Path, asked: dict[str, Any], said: str) -> None:
    path = rows(tmp_path / "rows.jsonl", {"a": [0, 1], "b": [1, 1]})
    with pytest.raises(UsageError, match=said):
        compare_judges([path], **asked)
