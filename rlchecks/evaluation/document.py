"""What an evaluation did, as one JSON document."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlchecks.evaluation.request import EvaluateRequest
from rlchecks.evaluation.specs import JudgeSpec
from rlchecks.heldout.harness.inspect_ours import MARK

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

    from rlchecks.evaluation.questions import Questions

_LISTED = 100


def document_of(
    request: EvaluateRequest,
    questions: Questions | None,
    logs: Sequence[EvalLog],
    costs: Sequence[Mapping[str, Any]],
    judges: Sequence[JudgeSpec],
    judge_costs: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """The document of ``rlchecks evaluate --json``.

    Args:
        request: what was asked for.
        questions: the questions; None if answers were judged again.
        logs: one a checkpoint, with its scores.
        costs: calls and tokens of each checkpoint.
        judges: who judged.
        judge_costs: calls and tokens of the model judges, by name.
    """
    names = [Path(request.out) / f"{_told(log)['checkpoint']}.eval" for log in logs]
    return {
        "version": 1,
        "out": request.out,
        "questions": None
        if questions is None
        else {"path": str(questions.path), "sha256": questions.sha256, "count": len(questions.items)},
        "models": [_model(path, log, cost) for path, log, cost in zip(names, logs, costs, strict=True)],
        "judges": [
            {
                "name": judge.name,
                "kind": "rule" if judge.endpoint is None else "model",
                "model": None if judge.endpoint is None else judge.endpoint.model,
                **judge_costs.get(judge.name, {}),
                "models": [_scores(log, judge.name) for log in logs],
            }
            for judge in judges
        ],
    }


def _told(log: EvalLog) -> Mapping[str, Any]:
    told: Mapping[str, Any] = (log.eval.metadata or {})[MARK]
    return told


def _model(path: Path, log: EvalLog, cost: Mapping[str, Any]) -> dict[str, Any]:
    from rlchecks.evaluation.judging import unanswered

    samples = log.samples or []
    silent = [(sample, reason) for sample in samples if (reason := unanswered(sample)) is not None]
    return {
        "name": path.stem,
        "model": log.eval.model.split("/", 1)[-1],
        "base_url": log.eval.model_base_url,
        "log": str(path),
        "planned": len(samples),
        "answered": len(samples) - len(silent),
        "cut": sum(sample.output.stop_reason == "max_tokens" for sample in samples if sample.output.choices),
        "unanswered": [{**_place(sample), "reason": reason} for sample, reason in silent[:_LISTED]],
        **cost,
    }


def _scores(log: EvalLog, judge: str) -> dict[str, Any]:
    from rlchecks.evaluation.judging import INSTRUCTS

    values, reasons, instructing = [], Counter[str](), []
    for sample in log.samples or []:
        score = (sample.scores or {}).get(judge)
        value = None if score is None else score.value
        if isinstance(value, int | float) and math.isfinite(value):
            values.append(float(value))
        else:
            reasons[(score.explanation if score is not None else None) or "not judged"] += 1
        if score is not None and score.metadata and INSTRUCTS in score.metadata:
            instructing.append({**_place(sample), "how": score.metadata[INSTRUCTS]})
    return {
        "name": _told(log)["checkpoint"],
        "scored": len(values),
        "unscored": sum(reasons.values()),
        "mean": math.fsum(values) / len(values) if values else None,
        "reasons": [{"reason": reason, "count": count} for reason, count in reasons.most_common(_LISTED)],
        "instructing": len(instructing),
        "instructing_answers": instructing[:_LISTED],
    }


def _place(sample: EvalSample) -> dict[str, Any]:
    return {"question_id": str(sample.id), "epoch": sample.epoch}
