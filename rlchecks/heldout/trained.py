"""What a run's log tells of the models in its training: the one it started from, and those that graded it."""

from __future__ import annotations

from collections.abc import Iterable

from rlchecks.heldout.families import same_model
from rlchecks.heldout.harness.log import JudgeFacts
from rlchecks.heldout.names import same_name
from rlchecks.heldout.scorer import Scorer
from rlchecks.run import RunLog


def base_models(run: RunLog) -> tuple[str, ...]:
    """Names of the model that the training started from; empty if the log does not name it."""
    name = run.facts.get("base_model")
    return (name,) if name else ()


def graders_told(run: RunLog, graders: Iterable[Scorer]) -> tuple[JudgeFacts, ...]:
    """What the log tells of the graders beside their names.

    A reward model is a grader: the one of its name, which is the end of its path (as TRL has it), or the one that was
    declared with it, else another one.

    Args:
        run: the run's log.
        graders: the graders by name, logged and declared.
    """
    model = run.facts.get("reward_model")
    if not model:
        return ()
    end = model.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1] or model
    known = (one.name for one in graders if same_name(one.name, end) or same_model(one.model or "", model))
    return (JudgeFacts(next(known, end), "model", (model,)),)
