"""The gate says which checkpoint was best."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlchecks.gate import gate
from rlchecks.requests import GateRequest
from rlchecks.runner import LocalRunner


@pytest.mark.slow
def test_the_verdict_holds_all_checkpoints_and_the_page_shows_them(shared_data: Path, tmp_path: Path) -> None:
    run = shared_data / "trl" / "kl-drift"
    request = GateRequest(
        run=str(run),
        heldout=(str(run / "eval"),),
        archive=str(tmp_path / "archive"),
        reports=str(tmp_path / "reports"),
        run_id="kl-drift",
    )
    document = gate(request, LocalRunner(), "test").document
    found = document["comparison"]["checkpoints"]
    assert (found["best"], found["as_good"]) == ("base", "base")
    assert [row["checkpoint"] for row in found["rows"]] == ["base", "checkpoint-40", "checkpoint-120"]
    assert "earlier_checkpoint_as_good" not in {one["code"] for one in document["findings"]}  # it is the baseline
    written = tmp_path / "reports" / "kl-drift" / "checkpoint-120"
    assert json.loads((written / "verdict.json").read_text())["comparison"]["checkpoints"] == found
    assert "base scored highest of 3 checkpoints" in (written / "verdict.html").read_text()


@pytest.mark.slow
def test_a_checkpoint_before_the_candidate_that_is_as_good_is_a_finding(shared_data: Path, tmp_path: Path) -> None:
    run = shared_data / "trl" / "healthy-s1"
    rows = [
        json.loads(line) for path in sorted((run / "eval").glob("*.jsonl")) for line in path.read_text().splitlines()
    ]
    # The last checkpoint answers as the one before it did, which makes that one exactly as good.
    kept = [row for row in rows if row["checkpoint"] != "checkpoint-120"]
    again = [row | {"checkpoint": "checkpoint-120", "step": 120} for row in kept if row["step"] == 80]
    heldout = tmp_path / "rows.jsonl"
    heldout.write_text("\n".join(json.dumps(row) for row in kept + again))
    request = GateRequest(
        run=str(run), heldout=(str(heldout),), archive=str(tmp_path / "archive"), reports=str(tmp_path / "reports")
    )
    document = gate(request, LocalRunner(), "test").document
    one = next(one for one in document["findings"] if one["code"] == "earlier_checkpoint_as_good")
    assert one["title"].startswith("checkpoint-80 is as good as the candidate: on 200 held-out questions")
    assert one["onset_step"] == 80
    assert document["decision"] == "PROMOTE"
