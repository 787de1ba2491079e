"""How a judge is related to a training grader, and to the model that it judges.

Unknown is equal to nothing and different from nothing. A judge is told apart from a grader only by what is known of
both and differs; it is taken for the grader where a known model or prompt is shared and nothing known speaks against.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlchecks.heldout.families import same_model
from rlchecks.heldout.identity import Identity, Known
from rlchecks.heldout.names import label, same_name


def same_identity(judge: Identity, grader: Identity) -> str | None:
    """In what a judge is a training grader, or may be one for all that is known; None if it is another.

    Returns:
        The end of a sentence that begins with the judge.
    """
    named = f"the training grader {label(grader.name)}"
    if same_name(judge.name, grader.name):
        return "is a training grader"
    prompts = _prompts(judge, grader)
    if _differ(judge.kind, grader.kind):
        # A prompt is no rule's code: one of the two declarations is wrong. People may well score by a grader's rubric.
        if prompts and not _people(judge, grader):
            return f"has the prompt, rubric or code of {named}, whatever kind it is said to be"
        return None
    shared = _shared(judge, grader)
    if shared:
        if prompts is False:
            return None
        known = "with the same prompt" if prompts else "and nothing says that its prompt is another"
        return f"asks {label(shared)} as {named} does, {known}"
    if prompts and not (judge.model.values and grader.model.values):
        return f"has the prompt, rubric or code of {named}"
    return None


def related(judge: Identity, grader: Identity) -> str | None:
    """In what a judge that is another than a training grader is like it; None if in nothing that is known.

    Returns:
        The end of a sentence that begins with the judge.
    """
    named = f"the training grader {label(grader.name)}"
    if _differ(judge.kind, grader.kind):
        return f"scores by the prompt or rubric of {named}" if _prompts(judge, grader) else None
    shared = _shared(judge, grader)
    if shared:
        return f"asks {label(shared)} as {named} does, with another prompt"
    common = [family for family in judge.family.values if family in grader.family.values]
    if common:
        return f"is of the same model family as {named} ({', '.join(common)})"
    return f"asks another model with the prompt of {named}" if _prompts(judge, grader) else None


def told_apart(judge: Identity, grader: Identity) -> bool:
    """Whether more than the names says that a judge is another than a grader: kind, model or prompt, known of both."""
    if same_identity(judge, grader):
        return False
    models = bool(judge.model.values and grader.model.values) and not _shared(judge, grader)
    return _differ(judge.kind, grader.kind) or models or _prompts(judge, grader) is False


def is_model(judge: Identity, evaluated: Sequence[str]) -> str | None:
    """The evaluated model that a judge is: by its own name, or by that of the model that it asks; None if it is none.

    Args:
        judge: the judge.
        evaluated: names of baseline and candidate, and of the model that the training started from.
    """
    for name in evaluated:
        if same_name(judge.name, name) or any(same_model(model, name) for model in judge.may_be):
            return name
    return None


def _differ(one: Known, other: Known) -> bool:
    return bool(one.values and other.values) and one.values != other.values


def _people(*scorers: Identity) -> bool:
    return any("human" in one.kind.values for one in scorers)


def _prompts(judge: Identity, grader: Identity) -> bool | None:
    """Whether the prompts are the same; None if that cannot be told."""
    one, other = judge.prompt, grader.prompt
    if not (one.values and other.values and one.source == other.source):
        return None
    return one.values == other.values


def _shared(judge: Identity, grader: Identity) -> str | None:
    """A model that both ask; None where neither says which model it asks, or there is no such."""
    if not (judge.model.values or grader.model.values):
        return None
    return next((one for one in judge.may_be for other in grader.may_be if same_model(one, other)), None)
