from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout import ComparisonRequest, compare, parse_scorer, read_rows

SAMPLES, RESULTS = "samples_sums_2026-01-02T03-04-05.json" + "l", "results_2026-01-02T03-04-05.json"


def sample(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "doc_id": number,
        "doc": {"question": f"{number}?"},
        "target": str(number),
        "arguments": {"gen_args_0": {"arg_0": f"{number}?", "arg_1": {}}},
        "resps": [["one"]],
        "filtered_resps": ["one"],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"doc {number}",
        "prompt_hash": f"prompt {number}",
        "target_hash": f"target {number}",
        "acc": 1.0,
        **changes,
    }


def test_real_logs_each_filter_is_a_judge(logs: Path, scores: Any, mean: Any) -> None:
    rows = read_rows([logs / "lm_eval/models__base", logs / "lm_eval/models__checkpoint-100"])
    found = scores(rows)
    for name in ("base", "checkpoint-100"):
        (path,) = (logs / f"lm_eval/models__{name}").glob("results_*.json")
        reported = json.loads(path.read_text())["results"]["sums"]
        for judge in ("exact_match,strict-match", "exact_match,flexible-extract"):
            assert len(found[name, judge]) == 5
            assert mean(found[name, judge].values()) == pytest.approx(reported[judge])
        assert reported["exact_match_stderr,strict-match"] == "N/A"
    assert found["base", "exact_match,strict-match"] != found["base", "exact_match,flexible-extract"]
    row = rows.table.to_pylist()[0]
    wanted = {"question_id": "sums/0", "prompt": "What is 0+1?", "target": "1", "answer": "1", "category": "sums"}
    assert row | wanted | {"decoding": "greedy", "step": 0} == row
    assert [said.split(": ")[1] for said in rows.warnings] == ["5 of the 6 questions of the task were asked."] * 2


def test_the_results_beside_the_samples_are_recorded_as_inputs(logs: Path) -> None:
    names = [Path(file.path).name.split("_")[0] for file in read_rows([logs / "lm_eval/models__base"]).inputs]
    assert names == ["samples", "results"]


def test_other_prompts_for_the_same_documents_are_refused(logs: Path) -> None:
    rows = read_rows([logs / "lm_eval"])
    request = ComparisonRequest(baseline="base", candidate="models/other-prompt")
    with pytest.raises(InputError, match="5 of 5 questions are not the same for 'base' and 'models/other-prompt'"):
        compare(rows, request)
    judge = parse_scorer("exact_match,strict-match")
    compare(rows, ComparisonRequest(baseline="base", candidate="checkpoint-100", judges=(judge,)))


def test_another_version_of_the_task_is_another_question(write: Any) -> None:
    for name, version in (("base", 1.0), ("step_3", 2.0)):
        write(f"{name}/{SAMPLES}", [sample(1)])
        write(f"{name}/{RESULTS}", {"model_name": "m", "versions": {"sums": version}})
    rows = read_rows([write("step_3/note.txt", b"").parent.parent])
    with pytest.raises(InputError, match="version of the task"):
        compare(rows, ComparisonRequest())


def test_a_metric_where_lower_is_better_has_to_be_declared(write: Any) -> None:
    for name, score in (("base", 9.0), ("step_3", 5.0)):
        write(f"{name}/{SAMPLES}", [sample(number, acc=score) for number in range(3)])
        write(f"{name}/{RESULTS}", {"model_name": name, "higher_is_better": {"sums": {"acc": False}}})
    rows = read_rows([write("step_3/note.txt", b"").parent.parent])
    assert any("lower is better for 'acc'" in said for said in rows.warnings)
    with pytest.raises(UsageError, match="Lower is better for acc by its evaluation log"):
        compare(rows, ComparisonRequest())
    document = compare(rows, ComparisonRequest(judges=(parse_scorer("acc:0..10:lower"),))).document
    assert document["difference"] == pytest.approx(4.0)


@pytest.mark.parametrize("value", [None, "N/A", float("nan"), "", [1, 2]])
def test_what_is_no_number_is_unscored(write: Any, scores: Any, value: Any) -> None:
    rows = read_rows([write(SAMPLES, [sample(0), sample(1, acc=value)])])
    (found,) = scores(rows).values()
    assert found == {"sums/0": 1.0, "sums/1": None}


def test_old_samples_do_not_list_their_metrics(write: Any, scores: Any) -> None:
    old = sample(0)
    del old["metrics"], old["filter"]
    old["arguments"] = [["0?", {}]]
    rows = read_rows([write(SAMPLES, [old])])
    assert scores(rows) == {("samples_sums_2026-01-02T03-04-05", "acc"): {"sums/0": 1.0}}
    assert rows.table["prompt"].to_pylist() == ["0?"]


def test_fewer_samples_than_the_results_count_are_said(write: Any) -> None:
    write(RESULTS, {"n-samples": {"sums": {"original": 9, "effective": 3}}})
    rows = read_rows([write(SAMPLES, [sample(0), sample(1)])])
    assert "2 questions are in the samples, the results count 3" in rows.warnings[0]


def test_a_torn_line_is_an_error_that_names_it(write: Any) -> None:
    whole = json.dumps(sample(0)) + "\n" + json.dumps(sample(1))
    with pytest.raises(InputError, match="line 2: no complete JSON"):
        read_rows([write(SAMPLES, whole[:-5])])


def test_samples_without_metrics_or_ids_are_refused(write: Any) -> None:
    for changes, problem in (({"metrics": [], "acc": "x"}, "no metric"), ({"doc_id": None}, "no doc_id")):
        with pytest.raises(InputError, match=problem):
            read_rows([write(SAMPLES, [sample(0, **changes)])])
