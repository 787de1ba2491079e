"""What a gate asks of the comparison, as far as the run's log and the user tell it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.heldout import ComparisonRequest, HeldoutRows, Scorer, parse_scorer, trained
from rlchecks.heldout.names import labels, same_name
from rlchecks.heldout.prompts import forms
from rlchecks.requests import GateRequest
from rlchecks.run import RunLog

_LACKING = 0.02  # share of the logged prompts, which a log may have cut or put into a template


def declared_judges(request: GateRequest) -> tuple[Scorer, ...]:
    """Read the judges that the user declared.

    Raises:
        UsageError: a declaration, or the margin beside them, can mean nothing; so nothing is stored.
    """
    judges = tuple(parse_scorer(text) for text in request.judges)
    ComparisonRequest(judges=judges, margin=request.margin)
    return judges


def graders_of(run: RunLog, declared: Iterable[Scorer]) -> tuple[Scorer, ...]:
    """The training graders of the log, each with what was declared of it, and those only declared or by model."""
    by_name = {scorer.name: scorer for scorer in declared}
    logged = [by_name.pop(name, Scorer(name)) for name in run.graders]
    named = (*logged, *by_name.values())
    models = [one.name for one in trained.graders_told(run, named)]
    return (*named, *(Scorer(name) for name in models if name not in {one.name for one in named}))


def unknown_graders(run: RunLog, rows: HeldoutRows, declared: Iterable[Scorer]) -> list[str]:
    """Remarks on graders that are declared and that neither the log nor the held-out rows know: perhaps mistyped."""
    known = (*run.graders, *pc.unique(rows.table["judge"]).to_pylist())
    strange = [one.name for one in declared if not any(same_name(one.name, name) for name in known)]
    if not run.graders or not strange:
        return []
    return [
        f"--grader {labels(strange)}: the log names {labels(run.graders)} only, so this counts as a further training "
        "grader; correct the name if it is mistyped."
    ]


def range_of(graders: tuple[Scorer, ...]) -> tuple[float, float] | None:
    """The reward's range, if it is that of the only grader; a weighted sum of several has no declared range."""
    if len(graders) == 1 and graders[0].low is not None and graders[0].high is not None:
        return graders[0].low, graders[0].high
    return None


def scale_of(row: dict[str, Any]) -> tuple[float, float] | None:
    """The scale of the training reward, as the signals tell it; None if it has no width."""
    low, high = row["scale_low"], row["scale_high"]
    return (low, high) if low is not None and high is not None and low < high else None


def question_of(
    request: GateRequest,
    run: RunLog,
    judges: tuple[Scorer, ...],
    graders: tuple[Scorer, ...],
    told_prompts: frozenset[str],
) -> ComparisonRequest:
    """Ask the question, before candidate and looks are known.

    Args:
        request: what is asked of the gate.
        run: the run.
        judges: those that the user declared.
        graders: of :func:`graders_of`.
        told_prompts: training prompts of files of their own.
    """
    return ComparisonRequest(
        baseline=request.baseline,
        judges=judges,
        graders=graders,
        graders_known=bool(graders),
        graders_told=trained.graders_told(run, graders),
        base_models=trained.base_models(run),
        decoding=request.decoding,
        margin=request.margin,
        training_prompts=_training_prompts(run, told_prompts),
        training_prompts_share=_share_told(run, told_prompts) if request.training_prompts else _share_seen(run),
        near_copies=request.near_copies,
    )


def _training_prompts(run: RunLog, told: frozenset[str]) -> frozenset[str] | None:
    """The prompts of the run's logged answers and those of files of their own; None if there are neither."""
    answers = _trained_on(run)
    return _logged(answers) | told if answers.num_rows or told else None


def _share_told(run: RunLog, told: frozenset[str]) -> float | None:
    """All, unless the log shows prompts that the files do not hold: then nobody knows what else they lack."""
    logged = [forms(prompt) for prompt in _logged(_trained_on(run))]
    known = frozenset[str]().union(*map(forms, told)) if logged else frozenset[str]()
    lacking = sum(1 for one in logged if one and not one & known)
    return None if lacking > _LACKING * len(logged) else 1.0


def _trained_on(run: RunLog) -> pa.Table:
    return run.completions.filter(pc.equal(run.completions["split"], "train"))


def _logged(answers: pa.Table) -> frozenset[str]:
    return frozenset(pc.unique(answers["prompt"].drop_null()).to_pylist())


def _share_seen(run: RunLog) -> float | None:
    """Share of the training steps whose prompts were logged: what the overlap check has seen."""
    logged = pc.count_distinct(run.completions["step"]).as_py()
    steps: int = pc.count_distinct(run.training_steps["step"]).as_py()
    return min(1.0, logged / steps) if logged and steps else None
