"""The numbers that are known of public evaluation logs, read where they lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError
from rlchecks.heldout import ComparisonRequest, compare, read_rows


@pytest.fixture(scope="session")
def public(shared_data: Path) -> Path:
    path = shared_data / "public"
    if not path.is_dir():
        pytest.skip(f"there are no public logs in {shared_data}")
    return path


def one(public: Path, pattern: str) -> Path:
    (path,) = public.glob(pattern)
    return path


def test_inspect_logs_give_the_accuracy_they_report(public: Path, scores: Any, mean: Any) -> None:
    rows = read_rows([one(public, "inspect/*mj7*/*.eval")])
    found = scores(rows)["openai/gpt-4o-mini", "match"]
    assert len(found) == 10
    assert mean(found.values()) == pytest.approx(0.8)
    assert "10 of the 100 questions" in rows.warnings[0]
    row = rows.table.to_pylist()[0]
    assert row["answer"] in ("Yes", "No")
    assert row["prompt"].startswith("Is the following statement")
    for pattern, key in (
        ("inspect/*mmlu*/*.eval", ("openai/gpt-4o", "choice")),
        ("inspect/*log_formats*/*.eval", ("ollama/llama3.1", "match")),
    ):
        assert list(scores(read_rows([one(public, pattern)]))[key].values()) == [0.0]


def test_an_inspect_log_without_scores_is_refused(public: Path) -> None:
    with pytest.raises(InputError, match="has no scored answer"):
        read_rows([one(public, "inspect/*dPi*/*.eval")])


ACCURACY = {"base_0_6b": 0.0, "base_8b": 0.246, "dpo": 0.372, "grpo": 0.436, "rft": 0.376, "sft_full": 0.352}
FLIPS = {"base_0_6b": (0, 123), "dpo": (96, 33), "grpo": (127, 32), "rft": (96, 31), "sft_full": (94, 41)}


def test_countdown_accuracies_and_flips(public: Path, scores: Any, mean: Any) -> None:
    folder = one(public, "evals/countdown-sft-grpo-rft")
    paths = {name: folder / f"data__eval__{name}__eval_samples.jsonl" for name in ACCURACY}
    rows = read_rows([f"{name}={path}" for name, path in paths.items()])
    found = scores(rows)
    for name, accuracy in ACCURACY.items():
        assert len(found[name, "correct"]) == 500
        assert mean(found[name, "correct"].values()) == pytest.approx(accuracy)
        reported = json.loads((folder / f"data__eval__{name}__eval_metrics.json").read_text())
        assert reported["accuracy"] == pytest.approx(accuracy)
        assert any(f"{reported['truncated_count']} of 500 answers were cut" in said for said in rows.warnings)
    for name, (better, worse) in FLIPS.items():
        document = compare(rows, ComparisonRequest(baseline="base_8b", candidate=name)).document
        assert document["flips"] == {"improved": better, "worsened": worse, "unchanged": 500 - better - worse}


def test_countdown_summaries_hold_no_answers(public: Path) -> None:
    with pytest.raises(InputError):
        read_rows([one(public, "evals/*/data__eval__grpo__eval_metrics.json")])


def test_alpaca_annotations_give_their_win_rate(public: Path, scores: Any, mean: Any) -> None:
    path = one(public, "judges/alpacaeval-*/*.json")
    rows = read_rows([path])
    found = scores(rows)
    judge = "alpaca_eval_gpt4 vs text_davinci_003"
    assert len(found["text_davinci_001", judge]) == 805
    assert list(found["text_davinci_001", judge].values()).count(None) == 1
    # 15.17 % on AlpacaEval's leaderboard of version 1.
    assert mean(found["text_davinci_001", judge].values()) == pytest.approx(0.15174, abs=1e-5)
    assert set(found["text_davinci_003", judge].values()) == {0.5}
    # The mean of the preferences as they stand is 1.114; draws are written as 0.
    draws = path.read_text().count('"preference":0.0')
    win_rate = mean(found["text_davinci_001", judge].values())
    assert (804 * (1 + win_rate) - 1.5 * draws) / 804 == pytest.approx(1.114, abs=5e-4)
    assert "3 escapes" in rows.warnings[0]


def test_mt_bench_means(public: Path, scores: Any, mean: Any) -> None:
    rows = read_rows([one(public, "judges/mtbench-*/*.jsonl")])
    found = scores(rows)
    assert sum(map(len, found.values())) == 320
    assert mean(found["claude-3-5-sonnet-20240620", "gpt-4"].values()) == pytest.approx(9.21, abs=0.005)
    assert mean(found["claude-3-opus-20240229", "gpt-4"].values()) == pytest.approx(8.68, abs=0.0051)
    assert (rows.judges[0].low, rows.judges[0].high) == (1.0, 10.0)
    first = rows.table.to_pylist()[0]
    assert (first["question_id"], first["cluster"]) == ("81/turn 1", "81")
    assert first["prompt"].startswith("Compose an engaging travel blog post")
    assert first["answer"].startswith("Here's a draft")


# Agreement with the label over both orders, pairs whose verdict changes with the order, orders without a verdict.
LLMBAR = {
    "ChatGPT/Vanilla": (0.815, 29, 0),
    "GPT-4/Vanilla": (0.955, 5, 0),
    "LLaMA2/Vanilla": (0.805, 21, 0),
    "Falcon/Vanilla": (0.740, 48, 0),
    "ChatGPT/Vanilla_NoRules": (0.790, 32, 0),
    "GPT-4/Vanilla_NoRules": (0.935, 3, 0),
    "PaLM2/Vanilla": (0.830, 20, 4),
    "ChatGPT/CoT": (0.740, 36, 1),
}


def test_llmbar_judges_agree_with_the_labels_as_counted(public: Path, scores: Any) -> None:
    rows = read_rows(sorted(public.glob("judges/llmbar-natural/*result.json")))
    found = scores(rows)
    gold = found["output_2", "gold"]
    assert len(gold) == 100
    for judge, (agreement, inconsistent, failed) in LLMBAR.items():
        given = found["output_2", judge]
        unscored = [question for question, score in given.items() if score is None]
        # A pair that is judged one way in one order and the other way in the other agrees in one of two.
        agreed = [1 - abs(score - gold[question]) for question, score in given.items() if score is not None]
        ties = list(given.values()).count(0.5)
        if not failed:
            assert not unscored
            assert sum(agreed) / 100 == pytest.approx(agreement)
            assert ties == inconsistent
        else:
            assert 0 < len(unscored) <= failed
            # An order without a verdict agrees with nothing; the other one of the pair may.
            assert sum(agreed) / 100 <= agreement <= (sum(agreed) + len(unscored) / 2) / 100 + 1e-9
            assert ties <= inconsistent <= ties + len(unscored)


def test_pandalm_judges_agree_with_the_majority_of_persons_as_counted(public: Path, scores: Any) -> None:
    folder = public / "judges/pandalm-testset"
    found = scores(read_rows(sorted(path for path in folder.glob("*.json") if "inference" not in path.name)))
    people = [found["response2", f"annotator{number}"] for number in (1, 2, 3)]
    assert list(found["response2", "gpt"].values()).count(None) == 25
    # Besides what was scored: verdicts of gpt-3.5 that cannot be read where most people saw a tie.
    agreed = {}
    for judge in ("gpt", "pandalm"):
        agreed[judge] = [0, 0]
        for question, score in found["response2", judge].items():
            votes = [person[question] for person in people]
            majority = max(set(votes), key=votes.count)
            agreed[judge][0] += score == majority
            agreed[judge][1] += score is None and majority == 0.5
    assert agreed["pandalm"] == [667, 0]
    assert agreed["gpt"] == [697, 13]
    assert round(667 / 999, 3) == 0.668
    assert round((697 + 13) / 999, 4) == 0.7107


def test_files_that_judge_nothing_are_refused(public: Path) -> None:
    for pattern in ("judges/pandalm-testset/testset-inference*.json", "judges/llmbar-natural/Natural__dataset.json"):
        with pytest.raises(InputError):
            read_rows([one(public, pattern)])
