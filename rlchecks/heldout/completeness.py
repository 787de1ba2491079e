"""Evidence on completeness: enough questions, nothing missing, doubled, mistaken or seen before."""

from __future__ import annotations

import numpy as np

from rlchecks.heldout.answers import Codes
from rlchecks.heldout.asked_alike import asked_differently
from rlchecks.heldout.case import Case
from rlchecks.heldout.entry import Entry
from rlchecks.heldout.holm import looks_divisor
from rlchecks.heldout.names import label, labels
from rlchecks.heldout.outcome import judge_outcome
from rlchecks.heldout.parts import Part
from rlchecks.heldout.repeats import find_repeats
from rlchecks.heldout.sameness import same_model

_NO_ROWS = "No judge that decides has rows of both sides."


def completeness(case: Case, needed: int | None) -> dict[str, Entry]:
    """Columns on the number of questions, missing answers, repeats, looks and overlap.

    Args:
        case: the comparison.
        needed: questions needed to decide, None if no number suffices.
    """
    questions = _questions(case)
    n = min((len(part.pairs.questions) for part in case.decisive), default=len(questions))
    more = max(max(needed or 0, case.request.min_questions) - n, 0)
    asked = [part for part in case.decisive if len(part.pairs.worst_questions)]
    # A guard is no safer for leaving out the answers that lost; one without any pair counts as undefined instead.
    guards = [part for part in case.guards if len(part.pairs.worst_questions)] if asked else []
    lacking = max(asked + guards, key=lambda part: part.pairs.missing, default=None)
    unmatched = max((part.pairs.unmatched for part in case.decisive + guards), default=0)
    same, how = same_model(case.answers, case.checkpoints, case.request)
    enough = f"{n} questions were answered on both sides"
    looks = case.request.looks
    divisor = looks_divisor(looks, case.request.together)
    return {
        "n_questions": Entry(n, f"{enough}; {more} more are needed." if more else f"{enough}."),
        "missing_fraction": _missing(lacking),
        "missing_changes_result": _missing_changes(case, asked),
        "duplicate_ids": Entry(
            case.answers.duplicates,
            f"{case.answers.duplicates} rows repeat question, checkpoint, judge, decoding and epoch of an earlier one.",
        ),
        "unmatched_questions": _unmatched(case, unmatched),
        "repeated_prompt_fraction": _repeats(case, questions),
        "baseline_is_candidate": Entry(same, how),
        "n_looks": Entry(
            looks,
            f"{looks} candidate{'s' if looks > 1 else ''} of this family compared on these questions, drawn answers "
            "counted anew.",
        ),
        "alpha": Entry(
            case.request.alpha,
            f"Intervals are at {case.level:.4g} confidence"
            + (f", alpha being divided by {divisor:g} for the {looks} looks." if looks > 1 else "."),
        ),
        **_overlap(case),
    }


def _questions(case: Case) -> Codes:
    """Codes of the questions that are compared: those of the deciding judges, else all that have scores."""
    if case.decisive:
        return np.unique(np.concatenate([part.pairs.questions for part in case.decisive]))
    sides = (case.answers.baseline, case.answers.candidate)
    scored = [np.unique(side.question[~np.isnan(side.score)]) for side in sides]
    return np.intersect1d(scored[0], scored[1], assume_unique=True)


def _unmatched(case: Case, one_sided: int) -> Entry:
    differing = asked_differently(case.answers)
    text = f"{one_sided} questions were asked on one side only."
    if len(differing):
        names = labels(case.answers.questions[code] for code in differing[:3].tolist())
        text += f" {len(differing)} have another prompt or target on the other side, such as {names}."
    return Entry(one_sided + len(differing), text)


def _repeats(case: Case, questions: Codes) -> Entry:
    repeats = find_repeats(case.answers, questions)
    if repeats.fraction is None:
        return Entry(None, "The held-out rows give no prompts, so questions under several ids were not looked for.")
    text = f"{repeats.repeated} of {repeats.prompted} questions have the same prompt as another"
    return Entry(repeats.fraction, f"{text} that is not of the same cluster." if repeats.repeated else f"{text}.")


def _missing(part: Part | None) -> Entry:
    """The part that lacks most."""
    if part is None:
        return Entry(None, _NO_ROWS)
    share = part.pairs.missing
    if not share:
        return Entry(share, "No answer lacks a score.")
    name = label(part.scorer.name) + (f" ({label(part.decoding_name)})" if part.decoding_name is not None else "")
    role = ", which only guards," if part.role == "guard" else ""
    return Entry(share, f"{share:.1%} of the answers have no score of {name}{role} on the side that lacks more.")


def _missing_changes(case: Case, asked: list[Part]) -> Entry:
    if not asked:
        return Entry(None, _NO_ROWS)
    if not any(part.pairs.missing for part in asked):
        return Entry(False, "No answer lacks a score.")
    words = [judge_outcome(case.decisive, case.request.margin, case.level, worst=worst).word for worst in (False, True)]
    return Entry(
        words[0] != words[1],
        f"The answered questions give {words[0]!r}; "
        f"with the missing answers counted against the candidate, {words[1]!r}.",
    )


def _overlap(case: Case) -> dict[str, Entry]:
    share = case.request.training_prompts_share
    seen = "an unknown share" if share is None else f"{share:.0%}"
    found, overlap, advice = None, case.overlap, ""
    if overlap is None:
        text = "The training prompts are not known, so overlap was not checked."
        advice = "Log the training prompts with the completions, or give them with --training-prompts."
    elif overlap.without_prompt == len(overlap.excluded):
        text = "The held-out rows give no prompts, so overlap with the training prompts was not checked."
        advice = "Give the held-out rows their prompts."
    else:
        found = int(overlap.excluded.sum())
        text = f"{found} of {len(overlap.excluded)} questions occur among the training prompts"
        text += " and were left out" if found else ""
        text += f"; {overlap.without_prompt} give no prompt" if overlap.without_prompt else ""
        text += f"; {seen} of the training prompts was seen."
    return {
        "overlap_questions": Entry(found, text, advice),
        "overlap_share_seen": Entry(share, f"Of the training prompts {seen} was seen."),
    }
