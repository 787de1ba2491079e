"""Training prompts that are given beside the log."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError
from rlchecks.gate import gate
from rlchecks.readers import read_run
from rlchecks.requests import GateRequest
from rlchecks.runner import LocalRunner


def request(run: Path, folder: Path, prompts: Path) -> GateRequest:
    return GateRequest(
        run=str(run),
        heldout=(str(run / "eval"),),
        training_prompts=(str(prompts),),
        archive=str(folder / "archive"),
        reports=str(folder / "reports"),
    )


def test_all_training_prompts_may_be_given_and_all_may_be_copies(example_run: Path, tmp_path: Path) -> None:
    path = next((example_run / "eval").glob("*.parquet"))
    prompts = sorted(set(pq.read_table(path)["prompt"].to_pylist()))
    given = tmp_path / "prompts.jsonl"
    given.write_text("".join(json.dumps({"prompt": text.upper()}) + "\n" for text in prompts[:150]))
    result = gate(request(example_run, tmp_path, given), LocalRunner(), "test")
    comparison = result.document["comparison"]
    assert comparison["overlap"]["questions"] >= 150
    # They are not all: the run was trained on others, as its log shows.
    assert comparison["overlap"]["share_seen"] is None
    assert comparison["n_questions"] <= 50 < comparison["with_overlap"]["n_questions"]
    assert "too_few_questions" in {reason["code"] for reason in result.document["reasons"]}
    assert str(given) in {file["path"] for file in result.document["provenance"]["inputs"]}
    assert "Questions that were training prompts" in result.html.read_text(encoding="utf-8")


def test_files_with_all_logged_prompts_are_taken_for_all(example_run: Path, tmp_path: Path) -> None:
    run = read_run(example_run)
    logged = run.completions.filter(pc.equal(run.completions["split"], "train"))["prompt"].unique().to_pylist()
    given = tmp_path / "prompts.jsonl"
    given.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in (*logged, "another")))
    result = gate(request(example_run, tmp_path, given), LocalRunner(), "test")
    assert result.document["comparison"]["overlap"]["share_seen"] == 1.0


def test_a_file_without_prompts_ends_the_gate_before_anything_is_stored(example_run: Path, tmp_path: Path) -> None:
    given = tmp_path / "prompts.csv"
    given.write_text("id,text\n1,a\n")
    with pytest.raises(InputError, match="no column holds prompts"):
        gate(request(example_run, tmp_path, given), LocalRunner(), "test")
    assert [path.name for path in tmp_path.iterdir()] == ["prompts.csv"]
