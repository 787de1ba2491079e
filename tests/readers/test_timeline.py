"""Timelines of validation questions: what is one, what it says, and what is not one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers.timeline_rows import QUESTIONS, SCORES, STEPS, shape_of, wide_steps
from rlchecks.run import RunLog

Write = Callable[[str, str | bytes], Path]
SCORES_BY_STEP = {0: {"q1": 0.0, "q2": 1.0}, 10: {"q1": 0.5, "q2": 1.0}, 20: {"q1": 1.0, "q2": 1.0}}
LONG = [{"step": s, "question_id": q, "score": x} for s, asked in SCORES_BY_STEP.items() for q, x in asked.items()]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def delimited(rows: list[dict[str, Any]], sign: str = ",") -> str:
    names = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[str(row.get(name, "")) for name in names] for row in rows]
    return "".join(sign.join(row) + "\n" for row in [names, *cells])


def column(run: RunLog, name: str, split: str) -> list[object]:
    return [row[name] for row in run.steps.to_pylist() if row["split"] == split]


def checks(run: RunLog) -> dict[tuple[int, str | None, str | None], float | None]:
    rows = run.validation.to_pylist()
    found = {(row["step"], row["question_id"], row["grader"]): row["score"] for row in rows}
    assert len(found) == len(rows)
    return found


def expect(run: RunLog) -> None:
    """The timeline of ``SCORES_BY_STEP``."""
    assert column(run, "step", "eval") == [0, 10, 20]
    assert column(run, "reward", "eval") == [0.5, 0.75, 1.0]
    assert column(run, "step", "train") == []
    questions = {(s, q): x for (s, q, _), x in checks(run).items() if q is not None}
    assert questions == {(s, q): x for s, asked in SCORES_BY_STEP.items() for q, x in asked.items()}
    assert {row["run_id"] for row in run.validation.to_pylist()} == {run.run_id}


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv", "t.tsv", "t.parquet"])
def test_a_long_timeline_in_every_format(write: Write, tmp_path: Path, name: str) -> None:
    texts = {
        "t.jsonl": lines(LONG),
        "t.json": json.dumps(LONG),
        "t.csv": delimited(LONG),
        "t.tsv": delimited(LONG, "\t"),
    }
    if name in texts:
        path = write(name, texts[name])
    else:
        path = tmp_path / name
        pq.write_table(pa.Table.from_pylist(LONG), path)
    run = read_run(path)
    expect(run)
    assert run.warnings == ()


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("step", STEPS)
def test_other_names_of_the_columns(write: Write, question: str, score: str, step: str) -> None:
    rows = [{step: row["step"], question: row["question_id"], score: row["score"]} for row in LONG]
    expect(read_run(write("t.jsonl", lines(rows))))
    expect(read_run(write("t.csv", delimited(rows))))


def test_the_number_at_the_end_of_a_checkpoint_is_its_step(write: Write) -> None:
    rows = [
        {"checkpoint": f"ft:o4:org::ckpt-step-{row['step']}", "question_id": row["question_id"], "score": row["score"]}
        for row in LONG
    ]
    expect(read_run(write("t.jsonl", lines(rows))))


def test_rows_whose_step_is_unknown_are_told(write: Write) -> None:
    rows = [*LONG, {"step": "final", "question_id": "q1", "score": 1.0}]
    run = read_run(write("t.jsonl", lines(rows)))
    expect(run)
    assert run.warnings == ("1 row with a question but no usable step: left out",)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize("form", ["{}", "step {}", "step_{}", "checkpoint-{}"])
def test_a_wide_timeline(write: Write, name: str, form: str) -> None:
    rows = [{"question_id": q, **{form.format(s): SCORES_BY_STEP[s][q] for s in SCORES_BY_STEP}} for q in ("q1", "q2")]
    expect(read_run(write(name, delimited(rows) if name == "t.csv" else lines(rows))))


def test_a_timeline_as_an_object(write: Write) -> None:
    questions = {q: [SCORES_BY_STEP[s][q] for s in SCORES_BY_STEP] for q in ("q1", "q2")}
    expect(read_run(write("t.json", json.dumps({"steps": [0, 10, 20], "questions": questions}, indent=1))))
    path = write("bad.json", json.dumps({"steps": [0, 10], "questions": questions}))
    with pytest.raises(InputError, match="as many scores of each question as there are steps"):
        read_run(path)


def test_training_rewards_may_stand_among_the_questions(write: Write) -> None:
    training = [{"step": step, "reward": 0.1 * step, "kl": 0.01} for step in (5, 10, 15, 20)]
    run = read_run(write("t.jsonl", lines(sorted([*LONG, *training], key=lambda row: row["step"]))))
    assert column(run, "step", "train") == [5, 10, 15, 20]
    assert column(run, "reward", "train") == [0.5, 1.0, 1.5, 2.0]
    assert column(run, "kl", "train") == [0.01] * 4
    assert column(run, "reward", "eval") == [0.5, 0.75, 1.0]
    table = read_run(write("t.csv", delimited([*training, *LONG])))
    assert column(table, "reward", "train") == [0.5, 1.0, 1.5, 2.0]
    assert column(table, "reward", "eval") == [0.5, 0.75, 1.0]


def test_one_grader_is_the_total(write: Write) -> None:
    run = read_run(write("t.jsonl", lines([{**row, "grader": "g"} for row in LONG])))
    assert run.graders == ("g",)
    found = checks(run)
    assert found[0, "q2", None] == found[0, "q2", "g"] == 1.0
    assert "validation_total" not in run.facts


def test_of_several_graders_the_mean_is_the_total(write: Write) -> None:
    rows = [{**row, "grader": g, "score": row["score"] * w} for row in LONG for g, w in (("a", 1.0), ("b", 0.5))]
    run = read_run(write("t.jsonl", lines(rows)))
    assert run.graders == ("a", "b")
    found = checks(run)
    assert found[20, "q1", None] == 0.75
    assert found[20, "q1", "b"] == 0.5
    assert run.facts["validation_total"] == "mean of the graders (inferred)"
    part = read_run(write("part.jsonl", lines(rows[:-1])))
    assert checks(part)[20, "q2", None] is None
    assert column(part, "reward", "eval")[-1] == 0.75


def test_a_total_that_is_given_counts(write: Write) -> None:
    rows = [*LONG, *({**row, "grader": "a", "score": 0.25} for row in LONG)]
    run = read_run(write("t.jsonl", lines(rows)))
    expect_totals = {key: score for key, score in checks(run).items() if key[1] is not None and key[2] is None}
    assert set(expect_totals.values()) == {0.0, 0.5, 1.0}


def test_repeats_of_a_question_are_averaged(write: Write) -> None:
    run = read_run(write("t.jsonl", lines([*LONG, {"step": 20, "question_id": "q1", "score": 0.0}])))
    assert checks(run)[20, "q1", None] == 0.5
    assert run.warnings == ("1 row with a question, step and grader as before: their mean counts",)


def test_an_answer_without_a_score_is_missing_and_not_zero(write: Write) -> None:
    rows = [dict(row) for row in LONG]
    rows[0]["score"], rows[2]["score"] = None, math.nan
    run = read_run(write("t.jsonl", lines(rows)))
    assert column(run, "reward", "eval") == [1.0, 1.0, 1.0]
    assert checks(run)[0, "q1", None] is None
    assert checks(run)[10, "q1", None] is None


def test_truth_values_are_scores(write: Write) -> None:
    run = read_run(write("t.jsonl", lines([{**row, "score": row["score"] == 1.0} for row in LONG])))
    assert column(run, "reward", "eval") == [0.5, 0.5, 1.0]


def test_columns_that_are_not_read_are_named(write: Write) -> None:
    run = read_run(write("t.jsonl", lines([{**row, "answer": "x", "latency": 2} for row in LONG])))
    expect(run)
    assert run.warnings == ("columns of the questions that are not read: 'answer', 'latency'",)


@pytest.mark.parametrize(
    "rows",
    [
        [{"question_id": "q", "checkpoint": "base", "judge": "j", "score": 1.0}],
        [{"question_id": "q", "checkpoint": "c-10", "judge": "j", "score": 1.0, "step": 10}],
        [{"id": step, "step": step, "reward": 0.5} for step in range(5)],
        [{"step": 1, "prompt_id": place, "reward": 0.5, "loss": 0.1, "grad_norm": 1.0} for place in range(4)],
        [{"step": step, "reward": 0.5, "loss": 0.1} for step in range(5)],
        [{"step": step, "question_id": None, "reward": 0.5} for step in range(5)],
        [{"id": "a", "score": 1.0}],
    ],
)
def test_what_is_no_timeline(rows: list[dict[str, Any]]) -> None:
    assert shape_of(rows) is None


def test_held_out_rows_are_refused_as_before(write: Write) -> None:
    rows = [
        {"question_id": f"q{n}", "checkpoint": c, "judge": "j", "score": 1.0, "step": 0}
        for n in range(3)
        for c in ("a-1", "b-2")
    ]
    path = write("eval.jsonl", lines(rows))
    with pytest.raises(NotARunError):
        read_run(path)
    assert find_runs(path.parent).sources == []


def test_an_ordinary_log_with_an_id_stays_one(write: Write) -> None:
    rows = [{"id": place, "step": place // 2, "reward": 0.5} for place in range(8)]
    run = read_run(write("log.jsonl", lines([{"id": step, "step": step, "reward": 0.1 * step} for step in range(8)])))
    assert column(run, "step", "train") == list(range(8))
    run = read_run(write("samples.jsonl", lines(rows)))
    assert column(run, "step", "train") == [0, 1, 2, 3]


def test_samples_of_the_training_are_no_timeline(write: Write) -> None:
    rows = [{"prompt_id": f"p{place}", "step": place // 2, "reward": 0.5} for place in range(8)]
    run = read_run(write("samples.jsonl", lines(rows)))
    assert column(run, "step", "eval") == []
    rows[7]["prompt_id"] = "p0"
    path = write("samples.jsonl", lines(rows))
    with pytest.raises(NotARunError, match="only 1 of 7 questions are scored at more than one step"):
        read_run(path)


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (["question", "0", "10"], True),
        (["question_id", "grader", "step_1", "step_2"], True),
        (["question_id", "10", "0"], False),
        (["question_id", "10"], False),
        (["question_id", "0", "10", "note"], False),
        (["name", "0", "10"], False),
        (["question_id", "ckpt-5", "ckpt-5 "], False),
    ],
)
def test_which_columns_make_a_wide_timeline(keys: list[str], found: bool) -> None:
    assert (wide_steps(keys) is not None) is found


def test_a_timeline_cut_off_anywhere(write: Write) -> None:
    data = lines(LONG).encode()
    ends = [place for place, byte in enumerate(data, 1) if byte == ord("\n")]
    for length in range(ends[1], len(data)):
        run = read_run(write("t.jsonl", data[:length]))
        whole = sum(end <= length + 1 for end in ends)
        assert sum(q is not None for _, q, _ in checks(run)) == whole


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.one_of(st.none(), st.floats(-5, 5))),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=60, deadline=None)
def test_the_mean_of_each_check_is_that_of_its_questions(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[int, str, float | None]]
) -> None:
    scored = {(step, q): score for step, q, score in found}
    rows = [{"step": step, "question_id": q, "score": score} for (step, q), score in scored.items()]
    again = [{"step": step, "question_id": "z", "score": 1.0} for step in range(6)]
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_text(lines([*again, *rows]))
    steps: dict[str, set[int]] = {}
    for step, q in scored:
        steps.setdefault(q, set()).add(step)
    if 1 + sum(len(at) > 1 for at in steps.values()) < 0.5 * (1 + len(steps)):
        with pytest.raises(NotARunError):
            read_run(path)
        return
    run = read_run(path)
    for step, mean in zip(column(run, "step", "eval"), column(run, "reward", "eval"), strict=True):
        values = [1.0, *(score for (at, _), score in scored.items() if at == step and score is not None)]
        assert mean == pytest.approx(sum(values) / len(values))
