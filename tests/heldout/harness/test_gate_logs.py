"""The gate on evaluation results as a team has them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rlchecks.gate import gate
from rlchecks.requests import GateRequest
from rlchecks.runner import LocalRunner

SCRIPT = Path(sys.executable).with_name("rlchecks")


@pytest.fixture(scope="module")
def own_results(example_run: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The sampled answers of the example run in files of one's own, without checkpoint and judge."""
    folder = tmp_path_factory.mktemp("own")
    paths = []
    for path in sorted((example_run / "eval").glob("*.parquet")):
        rows = pq.read_table(path).to_pylist()
        kept = [row for row in rows if row["decoding"] == "sample" and row["judge"] == "strict_exact"]
        lines = [
            {"id": row["question_id"], "right": row["score"], "said": row["answer"], "k": row.get("epoch")}
            for row in kept
        ]
        paths.append(folder / f"{kept[0]['checkpoint']}.jsonl")
        paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    return paths


COLUMNS = {"id": "question_id", "right": "score", "said": "answer", "k": "epoch"}


def test_results_of_ones_own_give_the_decision_of_the_rows(
    example_run: Path, own_results: list[Path], tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"reports": str(tmp_path / "reports")}
    own_archive, archive = str(tmp_path / "own"), str(tmp_path / "archive")  # in one they would be two looks
    declared = tuple(f"{path.stem}={path}" for path in own_results)
    request = GateRequest(run=str(example_run), heldout=declared, heldout_columns=COLUMNS, archive=own_archive, **asked)
    own = gate(request, LocalRunner(), "test").document
    rows = gate(
        GateRequest(
            run=str(example_run), heldout=(str(example_run / "eval"),), decoding="sample", archive=archive, **asked
        ),
        LocalRunner(),
        "test",
    ).document
    assert own["decision"] == "REJECT"
    for name in ("difference", "ci_lower", "ci_upper", "n_questions", "method"):
        assert own["comparison"][name] == pytest.approx(rows["comparison"][name])
    assert (own["baseline"], own["candidate"]) == (rows["baseline"], rows["candidate"])
    assert {file["path"] for file in own["provenance"]["inputs"]} >= {str(path) for path in own_results}


def test_what_was_odd_in_a_log_stands_in_the_verdict(example_run: Path, logs: Path, tmp_path: Path) -> None:
    request = GateRequest(
        run=str(example_run),
        heldout=(str(logs / "lm_eval/models__base"), str(logs / "lm_eval/models__checkpoint-100")),
        judges=("exact_match,strict-match",),
        archive=str(tmp_path / "archive"),
        reports=str(tmp_path / "reports"),
    )
    document = gate(request, LocalRunner(), "test").document
    assert document["decision"] == "HOLD"
    assert any("5 of the 6 questions of the task were asked" in said for said in document["run"]["warnings"])
    assert (document["baseline"], document["candidate"]) == ("base", "checkpoint-100")


@pytest.mark.installed
def test_the_command_takes_names_and_columns(example_run: Path, own_results: list[Path], tmp_path: Path) -> None:
    words = [SCRIPT, "gate", example_run, "--local", "--json"]
    for path in own_results:
        words += ["--heldout", f"{path.stem}={path}"]
    bad = subprocess.run([*words, "--heldout-column", "id"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert bad.returncode == 3
    assert "--heldout-column id: expected OWN=NAME, such as id=question_id" in bad.stderr
    for own, name in COLUMNS.items():
        words += ["--heldout-column", f"{own}={name}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["judge"]["name"] == "right"
