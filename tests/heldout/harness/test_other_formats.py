"""Formats of which no real log is at hand; the files are written as the harnesses' source says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError
from rlchecks.heldout import read_rows


def details(*rows: tuple[str, str, dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "doc": {"id": own, "query": query, "task_name": "gsm8k|0", "choices": ["a"]},
                "metric": metric,
                "model_response": {"text": ["one"], "logprobs": [0.5]},
            }
            for own, query, metric in rows
        ]
    )


def lighteval(folder: Path, table: pa.Table, model: str = "org/checkpoint-5") -> Path:
    path = folder / "details" / model / "2026-01-02T03" / "details_gsm8k|0_2026-01-02T03.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(table, path)
    return path


def test_lighteval_details(tmp_path: Path, scores: Any) -> None:
    lighteval(tmp_path, details(("1", "q1", {"em": 1, "f1": 0.5}), ("2", "q2", {"em": 0, "f1": float("nan")})))
    rows = read_rows([tmp_path])
    assert scores(rows) == {
        ("checkpoint-5", "em"): {"gsm8k|0/1": 1.0, "gsm8k|0/2": 0.0},
        ("checkpoint-5", "f1"): {"gsm8k|0/1": 0.5, "gsm8k|0/2": None},
    }
    assert rows.table.to_pylist()[0] | {"prompt": "q1", "answer": "one", "step": 5} == rows.table.to_pylist()[0]


@pytest.mark.parametrize("ids", [("", ""), ("1", "1")])
def test_lighteval_ids_that_tell_nothing_are_replaced_by_the_query(tmp_path: Path, ids: tuple[str, str]) -> None:
    lighteval(tmp_path, details((ids[0], "q1", {"em": 1}), (ids[1], "q2", {"em": 0})))
    questions = read_rows([tmp_path]).table["question_id"].to_pylist()
    assert len(set(questions)) == 2
    assert not {"gsm8k|0/", "gsm8k|0/1"} & set(questions)


def event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"run_id": "r", "event_id": number, "sample_id": f"s.{number}", "type": kind, "data": data}


def run_spec(functions: list[str], cls: str = "evals.elsuite.basic.match:Match") -> dict[str, Any]:
    return {"spec": {"eval_name": "x.dev", "completion_fns": functions, "run_config": {"eval_spec": {"cls": cls}}}}


FINAL = {"final_report": {"accuracy": 0.5}, "run_id": "r"}


def test_openai_evals_matches(write: Any, scores: Any) -> None:
    lines = [
        run_spec(["policy"]),
        event(1, "sampling", prompt="q?", sampled=["yes"]),
        event(1, "match", correct=True, expected="yes", picked="yes"),
        event(2, "match", correct=False, expected="no", picked=None),
        event(3, "error", type="Timeout", message="late"),
        FINAL,
    ]
    rows = read_rows([write("run.jsonl", lines)])
    assert scores(rows) == {("policy", "match"): {"s.1": 1.0, "s.2": 0.0, "s.3": None}}
    assert rows.warnings == ()
    assert rows.table["prompt"].to_pylist()[0] == "q?"
    assert "no final report" in read_rows([write("run.jsonl", lines[:-1])]).warnings[0]


GRADED = "evals.elsuite.modelgraded.classify:ModelBasedClassify"


def test_openai_evals_judged_by_a_model(write: Any, scores: Any) -> None:
    lines = [run_spec(["policy", "gpt-5"], GRADED), event(1, "metrics", choice="A", score=1.0)]
    lines += [event(2, "metrics", choice="__invalid__"), FINAL]
    rows = read_rows([write("run.jsonl", lines)])
    assert scores(rows) == {("policy", "score@gpt-5"): {"s.1": 1.0, "s.2": None}}
    assert rows.judges[0].models == ("gpt-5",)
    lines[0] = run_spec(["policy"], GRADED)
    with pytest.raises(InputError, match="the evaluated model judged itself"):
        read_rows([write("run.jsonl", lines)])
    with pytest.raises(InputError, match="no event scores an answer"):
        read_rows([write("run.jsonl", [run_spec(["policy"]), FINAL])])


def stat(name: str, value: float | None, count: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = {"name": {"name": name, "split": "test"}, "count": count}
    return found if value is None else found | {"sum": value * count, "mean": value}


def test_helm_statistics(write: Any, scores: Any) -> None:
    robust = {"name": "typos", "seed": 1}
    write(
        "run/per_instance_stats.json",
        [
            {"instance_id": "id1", "train_trial_index": 0, "stats": [stat("exact_match", 1.0), stat("num_bytes", 9)]},
            {"instance_id": "id2", "train_trial_index": 0, "stats": [stat("exact_match", None, 0)]},
            {"instance_id": "id1", "train_trial_index": 0, "perturbation": robust, "stats": [stat("exact_match", 0.0)]},
        ],
    )
    write("run/display_predictions.json", [{"instance_id": "id1", "train_trial_index": 0, "predicted_text": "one"}])
    path = write("run/run_spec.json", {"adapter_spec": {"model": "org/policy", "temperature": 0.0}})
    rows = read_rows([path.parent])
    found = {"id1#0": 1.0, "id2#0": None, "id1/typos/1#0": 0.0}
    assert scores(rows) == {("org/policy", "exact_match"): found}
    assert rows.table["cluster"].to_pylist() == ["id1", "id2", "id1"]
    assert rows.table["answer"].to_pylist() == ["one", None, None]
    assert set(rows.table["decoding"].to_pylist()) == {"greedy"}
    assert len(rows.inputs) == 3


def test_verifiers_results(write: Any, scores: Any) -> None:
    rollout = {"example_id": 0, "task": "t", "prompt": [{"role": "user", "content": "q"}], "answer": "1"}
    lines = [rollout | {"completion": "a", "reward": reward} for reward in (1.0, 0.25, None)]
    lines.append(rollout | {"completion": None, "reward": 0.0, "error": {"error": "Timeout"}})
    lines.append(rollout | {"example_id": 1, "completion": "a", "reward": 0.5})
    path = write("x/results.jsonl", lines)
    write("x/metadata.json", {"model": "policy", "sampling_args": {"temperature": 0.7}})
    rows = read_rows([path.parent])
    assert scores(rows) == {
        ("policy", "reward"): {"t/0#0": 1.0, "t/0#1": 0.25, "t/0#2": None, "t/0#3": None, "t/1#0": 0.5}
    }
    assert set(rows.table["decoding"].to_pylist()) == {"temperature 0.7"}


def test_skyrl_dumps(write: Any, scores: Any) -> None:
    answer = {"input_prompt": "q", "output_response": "a", "stop_reason": "stop"}
    lines = [answer | {"score": score} for score in (1.0, [0.0, 0.0, 0.5], [], [None, 1.0], None)]
    path = write("dumped_evals/global_step_20_evals/gsm8k.jsonl", lines)
    write("dumped_evals/global_step_20_evals/aggregated_results.jsonl", [{"eval/all/avg_score": 0.5}])
    rows = read_rows([path.parent])
    ((key, found),) = scores(rows).items()
    assert key == ("global_step_20", "score")
    assert list(found.values()) == [1.0, 0.5, None, None, None]
    assert set(rows.table["step"].to_pylist()) == {20}


def test_simple_evals_are_refused_with_the_reason(write: Any) -> None:
    with pytest.raises(InputError, match="have no question ids"):
        read_rows([write("x_allresults.json", {"score": 0.5, "metrics": {}, "htmls": [], "convos": []})])
