"""Evidence on the judges: one was chosen, and it is neither the training grader nor the model itself."""

from __future__ import annotations

from collections.abc import Iterable

from rlchecks.heldout.agreement import Agreement, agreement
from rlchecks.heldout.case import Case
from rlchecks.heldout.entry import Entry
from rlchecks.heldout.families import families
from rlchecks.heldout.identity import Identity
from rlchecks.heldout.names import label, labels, same_name
from rlchecks.heldout.relation import is_model, related, same_identity, told_apart


def independence(case: Case) -> dict[str, Entry]:
    """Columns on who judges and who graded the training."""
    judges = [case.who.judges[judge.name] for judge in case.panel.decisive]
    copies = [found for judge in judges for found in _compared(case, judge)]
    copied = next((found for found in copies if found[2].copy and not told_apart(*found[:2])), None)
    guilty = _guilt(case, judges)
    graders_known = case.request.graders_known or bool(case.request.graders)
    return {
        "judge_chosen": Entry(bool(judges), _chosen(case)),
        "judge_is_grader": _is_grader(case, judges, guilty, copied=copied is not None),
        "judge_copies_grader": Entry(bool(copied) if judges else None, _copies_said(copies, copied)),
        "judge_family_is_graders": _relations(
            judges, _near_graders(case, judges), "No deciding judge is known to be related to a training grader."
        ),
        "judge_family_is_models": _relations(
            judges, _near_models(case, judges), "No deciding judge is known to be of the evaluated model's family."
        ),
        "grader_agreement": Entry(
            max((found[2].equal / found[2].answers for found in copies if found[2].answers), default=None),
            _agreement_said(copies),
        ),
        "grader_known": Entry(
            graders_known,
            f"Training graders: {labels(case.who.graders)}."
            if graders_known
            else "Neither the log nor the call names the training grader; declare it with --grader NAME, better with "
            "what it is: --grader NAME:kind=rule, or --grader NAME:model=MODEL.",
        ),
        "judge_identity_declared": _declared(case, judges, copies),
    }


def _chosen(case: Case) -> str:
    panel = case.panel
    if panel.decisive:
        return f"{labels(judge.name for judge in panel.decisive)} decide{'s' if len(panel.decisive) == 1 else ''}."
    if panel.candidates:
        return f"{len(panel.candidates)} judges could decide and none was named: {labels(panel.candidates)}."
    return f"No judge of the held-out rows can decide (they have {labels(case.answers.judges)})."


def _guilt(case: Case, judges: Iterable[Identity]) -> list[str]:
    """Sentences on judges that are a training grader or the evaluated model itself."""
    evaluated = (case.checkpoints.baseline, case.checkpoints.candidate, *case.request.base_models)
    said = []
    for judge in judges:
        same = next((found for one in case.who.graders.values() if (found := same_identity(judge, one))), None)
        model = is_model(judge, evaluated)
        if same is not None:
            said.append(f"{label(judge.name)} {same}, so its scores do not count as held-out evidence.")
        elif model is not None:
            said.append(
                f"{label(judge.name)} is the evaluated model itself ({label(model)}), so its scores do not count."
            )
    return said


def _is_grader(case: Case, judges: list[Identity], guilty: list[str], *, copied: bool) -> Entry:
    graders = case.who.graders
    if not judges:
        only = bool(case.panel.graders) and not case.panel.candidates
        scored = labels(one.name for one in case.panel.graders)
        return Entry(True, f"The only judges are training graders: {scored}.") if only else Entry(None, _chosen(case))
    if guilty:
        return Entry(True, " ".join(guilty))
    names = labels(judge.name for judge in judges)
    if copied:
        # Neither yes nor no: nothing but the name speaks against it, and all scores speak for it.
        return Entry(None, f"Whether {names} is another than the training grader cannot be told.")
    if not graders:
        return Entry(False, f"No training grader is known by name to compare {names} with.")
    return Entry(False, f"{names} has another name than every training grader ({labels(graders)}).")


_Compared = tuple[Identity, Identity, Agreement]


def _compared(case: Case, judge: Identity) -> list[_Compared]:
    """A judge beside every training grader of another name that scored the same answers."""
    return [
        (judge, case.who.grader(grader.name), agreement(case.answers, judge.name, grader.name))
        for grader in case.panel.graders
        if not same_name(judge.name, grader.name)
    ]


def _copies_said(copies: list[_Compared], copied: _Compared | None) -> str:
    if copied is None:
        apart = any(found[2].copy for found in copies)
        words = " They are known to be different." if apart else ""
        return f"{_agreement_said(copies)}{words}"
    judge, grader, found = copied
    one, other = label(judge.name), label(grader.name)
    how = "equal" if found.equal == found.answers else "order the answers like"
    same = f"All {found.answers} scores of {one} {how} those of the training grader {other}"
    if found.near:
        same = (
            f"The scores of {one} are nearly those of the training grader {other}, or lie on one line with them "
            f"({found.equal} of {found.answers} are equal), as graded scores of two different judges do not"
        )
    return (
        f"{same}, and nothing but the name says that it is another. "
        f"If it is: --judge {_argument(judge.name)}:kind=rule:prompt=@FILE --grader "
        f"{_argument(grader.name)}:kind=rule:prompt=@FILE, with the files of their code."
    )


def _agreement_said(copies: list[_Compared]) -> str:
    said = [
        f"{label(judge.name)} and the training grader {label(grader.name)} gave equal scores to {found.equal} of "
        f"{found.answers} answers."
        for judge, grader, found in copies
        if found.answers
    ]
    return " ".join(said[:4]) or "No training grader scored the held-out answers, so agreement cannot be told."


def _near_graders(case: Case, judges: Iterable[Identity]) -> list[str]:
    return [
        f"{label(judge.name)} {found}."
        for judge in judges
        for grader in case.who.graders.values()
        if not same_identity(judge, grader) and (found := related(judge, grader))
    ]


def _near_models(case: Case, judges: Iterable[Identity]) -> list[str]:
    evaluated = (*case.request.base_models, case.checkpoints.baseline, case.checkpoints.candidate)
    said = []
    for judge in judges:
        near = [(one, family) for one in evaluated for family in families(one) if family in judge.family.values]
        if near and is_model(judge, evaluated) is None:
            name, family = near[0]
            said.append(
                f"{label(judge.name)} is of the model family {family}, as the evaluated model {label(name)} is."
            )
    return said


def _relations(judges: list[Identity], said: list[str], none: str) -> Entry:
    return Entry(bool(said) if judges else None, " ".join(said) or none)


def _declared(case: Case, judges: list[Identity], copies: list[_Compared]) -> Entry:
    pairs = [(judge, grader) for judge in judges for grader in case.who.graders.values()]
    if pairs and all(told_apart(judge, grader) for judge, grader in pairs):
        return Entry(True, "Judge and grader differ in kind, model or prompt, as declared or logged.")
    said = "Judge and grader differ by name; nothing else says that they are independent."
    return Entry(False, f"{said} {_agreement_said(copies)}" if any(found[2].answers for found in copies) else said)


def _argument(name: str) -> str:
    return f'"{name}"' if ":" in name else label(name)
