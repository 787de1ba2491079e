"""Runs of verl's dumped samples: what they say about reward, spread and validation."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, read_run
from rlchecks.readers import verl_samples as samples_module
from rlchecks.readers.score_groups import question_hash, question_id
from rlchecks.run import RunLog
from tests.readers.verl_files import rollout, validation, write_rollouts, write_samples, write_validation

SCORES = {
    1: {"a": [0, 1, 0, 0], "b": [0, 0, 0, 0]},
    2: {"c": [1, 1, 1, 1], "d": [1, 0, 1, 0]},
    3: {"e": [1, 1, 1, 1], "f": [1, 1, 1, 1]},
}
CHECKS = {0: {"p": [0.0, 1.0], "q": [0.0, 0.0]}, 3: {"p": [1.0, 1.0], "q": [0.0, 1.0]}}


def column(run: RunLog, name: str, split: str = "train") -> list[object]:
    rows = [row for row in run.steps.to_pylist() if row["split"] == split]
    return [row[name] for row in rows]


def test_rollouts_are_a_run(tmp_path: Path) -> None:
    run = read_run(write_rollouts(tmp_path / "my-run", SCORES))
    assert run.framework == "verl"
    assert run.name == "my-run"
    assert column(run, "step") == [1, 2, 3]
    assert column(run, "reward") == [0.125, 0.75, 1.0]
    assert column(run, "zero_std_fraction") == [0.5, 0.5, 1.0]
    assert column(run, "reward_std") == pytest.approx([0.25, math.sqrt(1 / 3) / 2, 0.0])
    assert run.facts["reward_std_semantics"] == "within_group"
    assert run.facts["grouped_by"] == "answers with the same input text (inferred)"
    assert len(run.inputs) == 3
    assert run.validation.num_rows == 0
    assert run.warnings == ()


def test_lengths_are_not_made_up(tmp_path: Path) -> None:
    run = read_run(write_rollouts(tmp_path / "run", SCORES))
    assert column(run, "mean_length") == [None] * 3
    assert column(run, "clipped_ratio") == [None] * 3


def test_answers_are_archived_with_their_scores(tmp_path: Path) -> None:
    run = read_run(write_rollouts(tmp_path / "run", SCORES))
    answers = run.completions.to_pylist()
    assert len(answers) == 24
    assert {row["split"] for row in answers} == {"train"}
    assert answers[1]["prompt"] == "user\na\nassistant\n"
    assert answers[1]["completion"] == "answer 1 to a"
    assert answers[1]["rewards"] == [("score", 1.0)]
    assert dict(answers[1]["extra_text"]) == {"gts": "42", "acc": "true", "request_id": "1-a-1"}
    assert answers[1]["advantage"] is None


def test_means_of_further_fields_are_kept(tmp_path: Path) -> None:
    run = read_run(write_rollouts(tmp_path / "run", SCORES))
    extra = [dict(row) for row in run.training_steps["extra"].to_pylist()]
    assert [row["dumped/acc"] for row in extra] == [0.125, 0.75, 1.0]
    assert [row["dumped/answers"] for row in extra] == [8.0, 8.0, 8.0]
    assert run.unmapped == ("dumped/acc", "dumped/answers")


def test_groups_of_one_sample_say_nothing_of_the_spread(tmp_path: Path) -> None:
    scores = {step: {"a": [0], "b": [1], "c": [0]} for step in (1, 2)}
    run = read_run(write_rollouts(tmp_path / "run", scores))
    assert column(run, "reward") == pytest.approx([1 / 3, 1 / 3])
    assert column(run, "zero_std_fraction") == [None, None]
    assert column(run, "reward_std") == [None, None]


def test_validation_samples_become_a_timeline_of_questions(tmp_path: Path) -> None:
    run = read_run(write_validation(tmp_path / "run", CHECKS))
    assert column(run, "step") == []
    assert column(run, "step", "eval") == [0, 3]
    assert column(run, "reward", "eval") == [0.25, 0.75]
    checks = {(row["step"], row["question_id"]): row["score"] for row in run.validation.to_pylist()}
    p, q = (question_id(question_hash(f"user\n{name}\nassistant\n")) for name in "pq")
    assert checks == {(0, None): 0.25, (3, None): 0.75, (0, p): 0.5, (0, q): 0.0, (3, p): 1.0, (3, q): 0.5}
    assert {row["split"] for row in run.completions.to_pylist()} == {"eval"}


def test_samples_with_their_ids_are_told_apart_all_the_same(tmp_path: Path) -> None:
    for step in (0, 5):
        samples = [{**validation(step, q, 1.0), "uid": f"{q}_0_0"} for q in "pq"]
        write_samples(tmp_path / "run" / "val", step, samples)
    for step in (1, 2):
        bare = [rollout(step, f"{step}{n}", n % 2) for n in range(4)]
        samples = [{k: v for k, v in one.items() if k not in ("acc", "request_id")} | {"uid": "x_0_0"} for one in bare]
        write_samples(tmp_path / "run" / "rollouts", step, samples)
    run = read_run(tmp_path / "run")
    assert column(run, "reward") == [0.5, 0.5]
    assert column(run, "reward", "eval") == [1.0, 1.0]


def test_rollouts_beside_validation_are_one_run(tmp_path: Path) -> None:
    write_rollouts(tmp_path / "run" / "train_gen", SCORES)
    write_validation(tmp_path / "run" / "val_gen", CHECKS)
    run = read_run(tmp_path / "run")
    assert column(run, "reward") == [0.125, 0.75, 1.0]
    assert column(run, "reward", "eval") == [0.25, 0.75]
    assert run.validation.num_rows == 6
    assert {row["split"] for row in run.completions.to_pylist()} == {"train", "eval"}
    found = find_runs(tmp_path)
    assert [str(source) for source in found.sources] == [str(tmp_path.resolve() / "run")]


def test_dumps_of_several_runs_stay_apart(tmp_path: Path) -> None:
    for name in ("val-a", "b"):
        write_rollouts(tmp_path / name, {1: {name: [0, 1]}, **dict(list(SCORES.items())[1:])})
    assert len(find_runs(tmp_path).sources) == 2


def test_rollouts_whose_reward_function_calls_its_score_reward_are_no_validation(tmp_path: Path) -> None:
    for step, question in ((1, "a"), (2, "b")):
        write_samples(tmp_path / "run", step, [validation(step, question, score) for score in (0, 1)])
    run = read_run(tmp_path / "run")
    assert column(run, "reward") == [0.5, 0.5]
    assert column(run, "step", "eval") == []


def test_samples_without_a_score_are_counted_and_in_no_mean(tmp_path: Path) -> None:
    scores = {1: {"a": [1, None, math.nan, 1]}, 2: {"a": [None, None]}}
    run = read_run(write_rollouts(tmp_path / "run", scores))
    assert column(run, "reward")[0] == 1.0
    assert math.isnan(column(run, "reward")[1])  # type: ignore[arg-type]
    assert "4 answers without a score: in no mean" in run.warnings


def test_scores_as_text_are_numbers(tmp_path: Path) -> None:
    run = read_run(write_rollouts(tmp_path / "run", {1: {"a": ["0.5", "1.5"]}}))
    assert column(run, "reward") == [1.0]


def test_a_file_cut_off_loses_one_answer_and_says_so(tmp_path: Path) -> None:
    path = write_rollouts(tmp_path / "run", SCORES) / "3.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    run = read_run(tmp_path / "run")
    assert column(run, "reward") == [0.125, 0.75, 1.0]
    assert "3.jsonl: line 8 was not written to its end: left out" in run.warnings
    assert run.completions.num_rows == 23


def test_a_file_that_cannot_be_read_is_a_missing_step(tmp_path: Path) -> None:
    directory = write_rollouts(tmp_path / "run", SCORES)
    (directory / "2.jsonl").write_text('{"input": "x", "output": "y", "score": 1, "step": 2}\nnonsense\n{}\n')
    run = read_run(directory)
    assert column(run, "step") == [1, 3]
    assert any(warning.startswith("1 file of samples left out") and "line 2" in warning for warning in run.warnings)


def test_a_file_of_several_steps_is_refused(tmp_path: Path) -> None:
    directory = write_rollouts(tmp_path / "run", {1: SCORES[1]})
    write_samples(directory, 2, [rollout(2, "a", 1), rollout(3, "a", 1)])
    run = read_run(directory)
    assert column(run, "step") == [1]
    assert any("step '3' where the file began with 2" in warning for warning in run.warnings)


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    write_samples(directory, 1, [rollout(1, "a", 1)])
    path = directory / "1.jsonl"
    path.write_text(path.read_text() + "nonsense\n{}\n")
    with pytest.raises(InputError, match="line 2"):
        read_run(directory)


def test_a_single_file_is_refused_with_the_name_of_its_directory(tmp_path: Path) -> None:
    path = write_rollouts(tmp_path / "run", SCORES) / "2.jsonl"
    with pytest.raises(NotARunError, match="name its directory"):
        read_run(path)
    copy = path.rename(tmp_path / "generations.jsonl")
    with pytest.raises(NotARunError, match="samples of one step"):
        read_run(copy)


def test_texts_beyond_the_limit_are_left_out_evenly_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples_module, "MAX_BYTES", 4000)
    scores = {step: {"a": [0, 1], "b": [1, 1]} for step in range(1, 21)}
    run = read_run(write_rollouts(tmp_path / "run", scores))
    assert column(run, "reward") == [0.75] * 20
    steps = sorted({row["step"] for row in run.completions.to_pylist()})
    assert steps[-1] == 20
    assert len({later - earlier for earlier, later in pairwise(steps)}) == 1
    assert any(
        warning.startswith(f"all 80 answers count, and the texts of {4 * len(steps)}") for warning in run.warnings
    )


def test_one_huge_file_is_cut_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples_module, "MAX_BYTES", 2000)
    run = read_run(write_rollouts(tmp_path / "run", {1: {"a": [0, 1] * 50}}))
    assert column(run, "reward") == [0.5]
    assert 0 < run.completions.num_rows < 100
    assert any(warning.startswith("all 100 answers count") for warning in run.warnings)


def test_other_json_lines_with_numbers_for_names_are_no_samples(tmp_path: Path) -> None:
    (tmp_path / "1.jsonl").write_text(json.dumps({"input": "x", "target": "y"}) + "\n")
    assert find_runs(tmp_path).sources == []


def test_bit_flips_never_end_in_a_traceback(tmp_path: Path) -> None:
    directory = write_rollouts(tmp_path / "run", {1: SCORES[1], 2: SCORES[2]})
    path = directory / "2.jsonl"
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        run = read_run(directory)
        assert column(run, "step")[0] == 1
