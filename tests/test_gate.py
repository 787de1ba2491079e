"""The gate, composed: every decision that the shared runs must get, and what stops it."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rlchecks import suites
from rlchecks.archive import Archive
from rlchecks.errors import InputError, SuiteError, UsageError
from rlchecks.gate import gate
from rlchecks.publication import GateResult
from rlchecks.requests import GateRequest
from rlchecks.runner import LocalRunner


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    """Gate a run with archive and reports in a directory of the test's own."""

    def run(path: Path, **options: Any) -> GateResult:
        request = GateRequest(
            run=str(path),
            heldout=options.pop("heldout", (str(path / "eval"),)),
            archive=str(tmp_path / "archive"),
            reports=str(tmp_path / "reports"),
        )
        return gate(dataclasses.replace(request, **options), LocalRunner(), "test")

    return run


def codes(result: GateResult, *effects: str) -> set[str]:
    return {reason["code"] for reason in result.document["reasons"] if reason["effect"] in effects}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "decision", "leading", "difference", "lower", "upper"),
    [
        ("healthy-s1", "PROMOTE", "gain_depends_on_decoding", 0.425, 0.383, 0.467),
        ("length-hack-s6", "REJECT", "reward_hacking", -0.342, -0.383, -0.302),
        ("kl-drift", "REJECT", "held_out_loss", -0.381, -0.419, -0.344),
        ("collapse-flat", "REJECT", "held_out_loss", -0.380, -0.418, -0.342),
        ("hack-lazy-s30", "REJECT", "reward_hacking", -0.358, -0.396, -0.319),
    ],
)
def test_decisions_on_the_shared_runs(
    ask: Any, shared_data: Path, name: str, decision: str, leading: str, difference: float, lower: float, upper: float
) -> None:
    result = ask(shared_data / "trl" / name)
    comparison = result.document["comparison"]
    assert result.document["decision"] == decision
    assert leading in codes(result, "reject", "warn")
    assert comparison["decoding"] == "sample"
    assert comparison["difference"] == pytest.approx(difference, abs=6e-4)
    assert comparison["ci_lower"] == pytest.approx(lower, abs=6e-4)
    assert comparison["ci_upper"] == pytest.approx(upper, abs=6e-4)
    if leading == "held_out_loss":
        assert "reward_hacking" not in codes(result, "reject")


@pytest.mark.slow
def test_the_first_twenty_questions_hold_and_ask_for_eighty_more(ask: Any, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "trl" / "healthy-s1"
    rows = [
        json.loads(line)
        for name in ("base", "checkpoint-120")
        for line in (source / "eval" / f"{name}.jsonl").read_text().splitlines()
    ]
    first = sorted({row["question_id"] for row in rows})[:20]
    path = tmp_path / "twenty.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows if row["question_id"] in first))
    result = ask(source, heldout=(str(path),))
    assert result.document["decision"] == "HOLD"
    reason = next(one for one in result.document["reasons"] if one["code"] == "too_few_questions")
    assert "80 more" in reason["observed"]
    comparison = result.document["comparison"]
    assert comparison["difference"] == pytest.approx(0.36, abs=0.006)
    assert (comparison["ci_lower"], comparison["ci_upper"]) == pytest.approx((0.10, 0.59), abs=0.006)


@pytest.mark.slow
def test_the_training_graders_own_scores_hold(ask: Any, shared_data: Path) -> None:
    result = ask(shared_data / "trl" / "healthy-s1", judges=("accuracy_reward",))
    assert result.document["decision"] == "HOLD"
    assert codes(result, "hold") == {"judge_is_grader"}


def test_the_example_is_rejected_for_reward_hacking_and_leaves_its_files(ask: Any, example_run: Path) -> None:
    result = ask(example_run)
    assert result.document["decision"] == "REJECT"
    assert result.document["reasons"][0]["code"] == "reward_hacking"
    assert {"learning", "reward_hacking"} == {finding["code"] for finding in result.document["findings"]}
    paid = {one["feature"]: one for one in result.document["grader_pays"]}
    assert paid["length"]["amount"] is not None
    assert paid["markup"]["reason"] == "it does not vary among answers to the same prompt"
    assert json.loads(result.json.read_text()) == result.document
    assert result.html.read_text().startswith("<!DOCTYPE html>")
    assert 'id="pays"' in result.html.read_text()
    assert result.html.parent.name == "checkpoint-100"


def test_the_verdict_is_archived_once_with_what_it_rests_on(ask: Any, example_run: Path, tmp_path: Path) -> None:
    first, second = ask(example_run), ask(example_run)
    assert first.document["id"] == second.document["id"]
    archive = Archive(tmp_path / "archive")
    (row,) = archive.verdicts().to_pylist()
    assert row["decision"] == "REJECT"
    assert row["document_sha256"].startswith(row["id"])
    run_id = first.document["run"]["id"]
    assert archive.signals([run_id])["last_step"].to_pylist() == [100]
    assert archive.evaluations(run_id).num_rows > 0
    assert archive.read_run(run_id).steps.num_rows > 100


def test_an_archived_run_is_gated_by_its_id(ask: Any, example_run: Path) -> None:
    first = ask(example_run)
    heldout = (str(example_run / "eval"),)
    again = ask(Path(first.document["run"]["id"]), heldout=heldout, checkpoint=str(example_run / "checkpoint-100"))
    assert again.document["decision"] == "REJECT"


def test_training_signals_are_taken_up_to_the_candidates_step(ask: Any, example_run: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = pq.read_table(example_run / "eval" / "checkpoint-100.parquet")
    moved = rows.to_pylist()
    for row in moved:
        row |= {"checkpoint": "checkpoint-40", "step": 40}
    path = tmp_path / "forty.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in moved))
    result = ask(example_run, heldout=(str(example_run / "eval" / "base.parquet"), str(path)))
    assert result.document["candidate"] == "checkpoint-40"
    assert result.document["signals"]["last_step"] == 40
    assert "ended_early" not in {finding["code"] for finding in result.document["findings"]}


def test_a_suite_copied_from_before_a_finding_existed_holds(ask: Any, example_run: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    suites.copy_to(own)
    document = json.loads((own / "promotion.json").read_text())
    document["expectations"] = [
        one for one in document["expectations"] if not one["kwargs"]["column"].endswith("answers_clipped")
    ]
    (own / "promotion.json").write_text(json.dumps(document))
    run = tmp_path / "cut"
    shutil.copytree(example_run, run)
    state = json.loads((run / "trainer_state.json").read_text())
    for row in state["log_history"]:
        if "reward" in row:
            row["completions/clipped_ratio"] = 0.3
    (run / "trainer_state.json").write_text(json.dumps(state))
    result = ask(run, expectations=str(own))
    assert "health_unnamed_finding" in codes(result, "hold")
    assert "health_unnamed_finding" not in codes(ask(run), "hold")


@pytest.mark.parametrize("content", ["not json\n", "", '{"question_id": "a"}\n'])
def test_held_out_results_that_cannot_be_read_decide_nothing(
    ask: Any, example_run: Path, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=r"broken\.jsonl"):
        ask(example_run, heldout=(str(path),))
    assert not (tmp_path / "reports").exists()


def test_a_run_that_is_neither_path_nor_id_is_named(ask: Any, example_run: Path) -> None:
    with pytest.raises(InputError, match="no-such-run"):
        ask(Path("no-such-run"), heldout=(str(example_run / "eval"),))


def test_an_unusable_suite_decides_nothing(ask: Any, example_run: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    suites.copy_to(own)
    (own / "promotion.json").write_text('{"name": "promotion", "expectations": []}')
    with pytest.raises(SuiteError):
        ask(example_run, expectations=str(own))


def test_a_rejected_candidate_is_not_promoted(ask: Any, example_run: Path, tmp_path: Path) -> None:
    result = ask(example_run, promote=str(tmp_path / "production"))
    assert result.promotion is None
    assert not (tmp_path / "production").exists()


def test_an_override_promotes_and_stays_visible(ask: Any, example_run: Path, tmp_path: Path) -> None:
    target = tmp_path / "production"
    options = {"promote": str(target), "override": "A person has read all answers."}
    result = ask(example_run, **options)
    assert result.document["decision"] == "REJECT"
    assert result.promotion is not None
    assert result.promotion.changed
    assert "A person has read all answers." in result.html.read_text()
    assert "A person has read all answers." in (target / "ledger.jsonl").read_text()
    assert not ask(example_run, **options).promotion.changed
    assert len((target / "ledger.jsonl").read_text().splitlines()) == 1


@pytest.mark.slow
def test_a_promotion_is_recorded_once(ask: Any, shared_data: Path, tmp_path: Path) -> None:
    source, target = shared_data / "trl" / "healthy-s1", tmp_path / "production"
    first = ask(source, promote=str(target))
    assert first.promotion.changed
    ledger = (target / "ledger.jsonl").read_bytes()
    assert not ask(source, promote=str(target)).promotion.changed
    assert (target / "ledger.jsonl").read_bytes() == ledger


def test_without_the_candidates_files_nothing_can_be_promoted(ask: Any, example_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "bare"
    shutil.copytree(example_run, run, ignore=shutil.ignore_patterns("checkpoint-*"))
    (run / "eval").mkdir(exist_ok=True)
    for path in (example_run / "eval").iterdir():
        shutil.copy(path, run / "eval")
    with pytest.raises(UsageError, match="--checkpoint"):
        ask(run, promote=str(tmp_path / "production"))


def test_the_second_candidate_on_the_same_questions_is_a_second_look(
    ask: Any, example_run: Path, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    first = ask(example_run, family="adders")
    assert first.document["comparison"]["looks"] == 1
    other = tmp_path / "other"
    shutil.copytree(example_run, other)
    config = other / "checkpoint-100" / "config.json"
    config.write_text(config.read_text() + " ")
    rows = pq.read_table(other / "eval" / "checkpoint-100.parquet").to_pylist()
    rows[0]["answer"] += "."
    path = tmp_path / "others.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    heldout = (str(other / "eval" / "base.parquet"), str(path))
    again = {"family": "adders", "run_id": "other", "heldout": heldout}
    second = ask(other, **again)
    assert second.document["comparison"]["looks"] == 2
    assert second.document["comparison"]["confidence"] == pytest.approx(1 - 0.05 / 3)
    assert ask(other, **again).document["comparison"]["looks"] == 2
    assert ask(example_run, family="adders").document["comparison"]["looks"] == 2


@pytest.fixture
def several(example_run: Path, tmp_path: Path) -> tuple[str, ...]:
    """The example's rows, with two more candidates that answer every question, or none, right."""
    import pyarrow.parquet as pq

    rows = pq.read_table(example_run / "eval" / "base.parquet").to_pylist()
    path = tmp_path / "several.jsonl"
    with path.open("w") as file:
        for name, score in (("always", 1.0), ("never", 0.0)):
            for row in rows:
                file.write(json.dumps(row | {"checkpoint": name, "score": score, "answer": name, "step": None}) + "\n")
    return str(example_run / "eval" / "base.parquet"), str(path)


def test_of_several_candidates_the_best_is_judged_and_all_are_looks(
    ask: Any, example_run: Path, several: tuple[str, ...]
) -> None:
    asked = {"heldout": several, "baseline": "base", "candidates": ("never", "always")}
    comparison = ask(example_run, **asked).document["comparison"]
    assert comparison["choice"]["chosen"] == "always"
    assert comparison["looks"] == 2
    assert [row["confirmed"] for row in comparison["choice"]["rows"]] == [True, False]
    assert len(comparison["other_answers"]) == 1
    assert ask(example_run, **asked).document["comparison"]["looks"] == 2
    alone = ask(example_run, heldout=several, baseline="base", candidate="never").document["comparison"]
    assert (alone["looks"], alone["choice"]) == (2, None)


def test_chosen_on_a_share_the_others_are_no_looks_at_the_rest(
    ask: Any, example_run: Path, several: tuple[str, ...]
) -> None:
    asked = {"heldout": several, "baseline": "base", "candidates": ("never", "always"), "choose_on": 0.5}
    comparison = ask(example_run, **asked).document["comparison"]
    assert (comparison["looks"], comparison["choose_on"]) == (1, 0.5)
    seen = comparison["choice"]["questions"]
    whole = ask(example_run, heldout=several, baseline="base", candidate="always").document["comparison"]
    assert comparison["n_questions"] + seen == whole["n_questions"]
    assert whole["looks"] == 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"candidates": ("a",)}, "give the one or the others"),
        ({"candidates": ("a", "b"), "candidate": "c"}, "give the one or the others"),
        ({"choose_on": 0.5}, "chooses among several candidates"),
        ({"candidates": ("a", "b"), "choose_on": 1.0}, "between 0 and 1"),
        ({"candidates": ("a", "b"), "checkpoint": "x"}, "files of one candidate"),
    ],
)
def test_what_only_several_candidates_have_is_refused_without_them(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        GateRequest(run="r", heldout=("h",), **fields)


def test_a_candidate_from_beyond_the_log_holds(ask: Any, example_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "crashed"
    shutil.copytree(example_run, run)
    shutil.rmtree(run / "checkpoint-100")
    state = json.loads((run / "trainer_state.json").read_text())
    state["log_history"] = [row for row in state["log_history"] if row["step"] <= 60]
    (run / "trainer_state.json").write_text(json.dumps(state))
    result = ask(run)
    assert {"candidate_not_in_run", "candidate_beyond_log"} <= codes(result, "hold")
    reason = next(one for one in result.document["reasons"] if one["code"] == "candidate_beyond_log")
    assert "from step 100, the last logged reward from step 60" in reason["observed"]
    elsewhere = codes(ask(run, checkpoint=str(example_run / "checkpoint-100")), "hold")
    assert "candidate_not_in_run" not in elsewhere
    assert not {"candidate_not_in_run", "candidate_beyond_log"} & codes(ask(example_run), "hold")


def test_a_candidate_without_a_step_is_taken_for_the_end_of_the_run(
    ask: Any, example_run: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.csv"
    rows = [f"{step},{0.3 + step / 300 if step <= 60 else ''},120" for step in range(1, 121)]
    log.write_text("\n".join(["step,reward,mean_length", *rows]))
    import pyarrow.parquet as pq

    held = [
        {**row, "step": None, "checkpoint": "final" if name != "base" else "base"}
        for name in ("base", "checkpoint-100")
        for row in pq.read_table(example_run / "eval" / f"{name}.parquet").to_pylist()
    ]
    path = tmp_path / "held.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in held))
    names = {"baseline": "base", "candidate": "final", "graders": ("lazy_grader_reward",)}
    assert "candidate_beyond_log" in codes(ask(log, heldout=(str(path),), **names), "hold")
    assert "candidate_beyond_log" not in codes(ask(example_run, heldout=(str(path),), **names), "hold")


def test_without_a_judge_that_is_the_reason_and_not_its_consequences(
    ask: Any, example_run: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["step,reward", *(f"{step},{0.3 + step / 300}" for step in range(1, 101))]))
    result = ask(log, heldout=(str(example_run / "eval"),))
    assert result.document["decision"] == "HOLD"
    assert [one["code"] for one in result.document["reasons"] if one["effect"] == "hold"] == [
        "judge_not_chosen",
        "grader_unknown",
    ]


def test_where_the_only_judge_is_the_grader_that_is_the_reason(ask: Any, example_run: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = [
        row
        for name in ("base", "checkpoint-100")
        for row in pq.read_table(example_run / "eval" / f"{name}.parquet").to_pylist()
        if row["judge"] == "lazy_grader_reward"
    ]
    path = tmp_path / "graders.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    holds = [
        one["code"] for one in ask(example_run, heldout=(str(path),)).document["reasons"] if one["effect"] == "hold"
    ]
    assert holds[0] == "judge_is_grader"
    assert "judge_not_chosen" not in holds


def test_a_later_verdict_does_not_make_an_override_vanish(ask: Any, example_run: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "production")
    ask(example_run, promote=target, override="A person has read all answers.")
    later = ask(example_run)
    assert later.document["override"]["reason"] == "A person has read all answers."
    assert "A person has read all answers." in later.html.read_text()
    ask(example_run, promote=target, override="And so has another.")
    lines = (tmp_path / "production" / "ledger.jsonl").read_text().splitlines()
    assert len(lines) == 2


def test_a_gate_of_an_early_checkpoint_leaves_the_archived_signals_of_the_whole_run(
    ask: Any, example_run: Path, tmp_path: Path
) -> None:
    import pyarrow.parquet as pq

    rows = pq.read_table(example_run / "eval" / "checkpoint-100.parquet").to_pylist()
    path = tmp_path / "forty.jsonl"
    path.write_text("\n".join(json.dumps(row | {"checkpoint": "checkpoint-40", "step": 40}) for row in rows))
    ask(example_run, heldout=(str(example_run / "eval" / "base.parquet"), str(path)))
    assert Archive(tmp_path / "archive").signals()["last_step"].to_pylist() == [100]


def test_the_id_is_that_of_the_content_wherever_it_lies(ask: Any, example_run: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / example_run.name
    shutil.copytree(example_run, elsewhere)
    files = [str(elsewhere / "eval" / name) for name in ("checkpoint-100.parquet", "base.parquet")]
    moved = ask(elsewhere, heldout=tuple(files), archive=str(tmp_path / "other"))
    assert moved.document["id"] == ask(example_run).document["id"]


@pytest.mark.parametrize("option", ["run", "checkpoint", "promote", "archive", "reports"])
def test_an_empty_text_is_not_the_current_directory(ask: Any, example_run: Path, option: str) -> None:
    with pytest.raises(UsageError, match="is empty"):
        ask(example_run, **{option: " "})


def test_an_override_without_anything_to_promote_is_refused(ask: Any, example_run: Path) -> None:
    with pytest.raises(UsageError, match="--promote"):
        ask(example_run, override="because")


def test_what_keeps_the_report_from_being_written_keeps_the_model_from_being_promoted(
    ask: Any, example_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "reports").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        ask(example_run, promote=str(tmp_path / "production"), override="A reason.")
    assert not (tmp_path / "production").exists()


def test_a_margin_out_of_range_stores_nothing(ask: Any, example_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="margin"):
        ask(example_run, margin=5.0)
    assert not (tmp_path / "archive").exists()


def test_a_metric_that_could_not_be_read_holds(ask: Any, example_run: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = [f"{step},{0.3 + step / 300},{90 + step % 7}" for step in range(1, 101)]
    log.write_text("\n".join(["step,reward,clipped_ratio", *rows]))
    result = ask(log, heldout=(str(example_run / "eval"),), graders=("lazy_grader_reward",))
    assert "health_unreadable_metrics" in codes(result, "hold")


def renamed(example_run: Path, to: Path, change: Any) -> str:
    """The example's held-out rows with the training grader's scores under another name in the judge's place."""
    import pyarrow.parquet as pq

    rows = [row for path in sorted((example_run / "eval").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    graded = [row for row in rows if row["judge"] == "lazy_grader_reward"]
    path = to / "renamed.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in graded + [row | change(row) for row in graded]))
    return str(path)


def test_the_training_grader_under_another_name_holds(ask: Any, example_run: Path, tmp_path: Path) -> None:
    path = renamed(example_run, tmp_path, lambda row: {"judge": "our_judge", "score": 10 * row["score"]})
    result = ask(example_run, heldout=(path,))
    assert result.document["decision"] == "HOLD"
    assert "judge_equals_grader_scores" in codes(result, "hold")
    assert not {"judge_is_grader", "independent_by_name_only"} & codes(result, "hold", "warn")
    lookalike = renamed(example_run, tmp_path, lambda row: {"judge": "lаzy_grader_reward", "score": 1 - row["score"]})
    assert "judge_is_grader" in codes(ask(example_run, heldout=(lookalike,)), "hold")


def test_a_suite_from_before_identities_holds_for_a_renamed_grader_too(
    ask: Any, example_run: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    suites.copy_to(own)
    document = json.loads((own / "promotion.json").read_text())
    document["expectations"] = [
        one for one in document["expectations"] if one["kwargs"]["column"] != "judge_copies_grader"
    ]
    (own / "promotion.json").write_text(json.dumps(document))
    path = renamed(example_run, tmp_path, lambda row: {"judge": "our_judge"})
    result = ask(example_run, heldout=(path,), expectations=str(own))
    assert "judge_is_grader" in codes(result, "hold")


def test_declared_identities_stand_in_the_verdict(ask: Any, example_run: Path, tmp_path: Path) -> None:
    rubric = tmp_path / "rubric.md"
    rubric.write_text("Is the sum right?")
    result = ask(
        example_run,
        judges=(f"strict_exact:kind=rule:prompt=@{rubric}",),
        graders=("lazy_grader_reward:model=openai/gpt-4o",),
    )
    assert result.document["decision"] == "REJECT"
    assert "independent_by_name_only" not in codes(result, "hold", "warn")
    identity = result.document["judge"]["identity"]
    assert (identity["kind"], identity["from"]) == ("rule", {"kind": "declared", "prompt_sha256": "declared"})
    assert result.document["graders"][0]["identity"]["family"] == "gpt"
    assert "openai/gpt-4o" in result.html.read_text()


def test_the_graders_model_is_no_judge_whatever_it_is_called(ask: Any, example_run: Path) -> None:
    result = ask(
        example_run,
        judges=("strict_exact:model=openai/gpt-4o",),
        graders=("lazy_grader_reward:model=azure/gpt-4o-2024-08-06",),
    )
    assert "judge_is_grader" in codes(result, "hold")


def test_a_grader_that_the_log_does_not_name_is_remarked_on(ask: Any, example_run: Path) -> None:
    def remarks(*graders: str) -> list[str]:
        return [text for text in ask(example_run, graders=graders).document["run"]["warnings"] if "--grader" in text]

    assert remarks() == remarks("lazy_grader_reward") == remarks("train/rewards/lazy_grader_reward/mean") == []
    (said,) = remarks("nosuchgrader", "lazy_grader_reward")
    assert said.startswith("--grader nosuchgrader: the log names lazy_grader_reward only")
