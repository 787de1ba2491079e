"""Evidence on the judges: one was chosen, and it is not the training grader."""

from __future__ import annotations

from rlchecks.heldout.case import Case
from rlchecks.heldout.entry import Entry
from rlchecks.heldout.names import labels, same_name


def independence(case: Case) -> dict[str, Entry]:
    """Columns on who judges and who graded the training."""
    panel, request = case.panel, case.request
    graders_known = request.graders_known or bool(request.graders)
    names = labels(judge.name for judge in panel.decisive)
    if panel.decisive:
        chosen = f"{names} decide{'s' if len(panel.decisive) == 1 else ''}."
    elif panel.candidates:
        chosen = f"{len(panel.candidates)} judges could decide and none was named: {labels(panel.candidates)}."
    else:
        chosen = f"No judge of the held-out rows can decide (they have {labels(case.answers.judges)})."
    guilty = [judge.name for judge in panel.decisive if any(same_name(judge.name, one.name) for one in request.graders)]
    models = (case.checkpoints.baseline, case.checkpoints.candidate)
    itself = [judge.name for judge in panel.decisive if any(same_name(judge.name, model) for model in models)]
    is_grader: bool | None
    if panel.decisive:
        is_grader = bool(guilty or itself)
        text = f"{names} has another name than every training grader ({labels(one.name for one in request.graders)})."
        if not request.graders:
            text = f"No training grader is known by name to compare {names} with."
        if guilty:
            text = f"{labels(guilty)} is a training grader, so its scores do not count as held-out evidence."
        elif itself:
            text = f"{labels(itself)} is the evaluated model itself, so its scores do not count."
    else:
        is_grader = True if panel.graders and not panel.candidates else None
        text = (
            f"The only judges are training graders: {labels(one.name for one in panel.graders)}."
            if is_grader
            else chosen
        )
    return {
        "judge_chosen": Entry(bool(panel.decisive), chosen),
        "judge_is_grader": Entry(is_grader, text),
        "grader_known": Entry(
            graders_known,
            f"Training graders: {labels(one.name for one in request.graders)}."
            if graders_known
            else "Neither the log nor the call names the training grader.",
        ),
        "judge_identity_declared": Entry(
            request.judge_identity_declared,
            "Judge and grader are declared to be different."
            if request.judge_identity_declared
            else "Judge and grader differ by name; nothing else says that they are independent.",
        ),
    }
