"""Evidence on the decision: the deciding judges against the margin, and the guards."""

from __future__ import annotations

import numpy as np

from rlchecks.heldout.case import Case
from rlchecks.heldout.entry import Entry, described, signed
from rlchecks.heldout.names import label, labels
from rlchecks.heldout.outcome import judge_outcome, weakest
from rlchecks.heldout.parts import Part, adjusted_uppers
from rlchecks.heldout.sentinel import sentinel

_USED = 0.5
"""A margin above this part of what separates all scores is no limit for them."""


def decision(case: Case) -> dict[str, Entry]:
    """Columns on the deciding judges; difference and limits are in the unit of the scores, the others on 0 to 1."""
    margin, level = case.request.margin, case.level
    outcome = judge_outcome(case.decisive, margin, level)
    part = weakest(case.decisive, level)
    disagree = outcome.word == "disagree" if case.decisive else None
    lower = None if outcome.lower is None else outcome.lower + margin
    upper = None if outcome.upper is None or disagree else outcome.upper + margin
    all_parts = "; ".join(described(one, level) for one in case.decisive) or "No judge decides"
    found = None if part is None else part.interval(level)
    width = 1.0 if part is None else part.scale.width
    values = [None if found is None or value is None else value * width for value in (found[:3] if found else ())]
    difference, ci_lower, ci_upper = values or (None, None, None)
    return {
        "difference": Entry(difference, f"{all_parts}."),
        "ci_lower": Entry(ci_lower, f"{all_parts}."),
        "ci_upper": Entry(ci_upper, f"{all_parts}."),
        "margin": Entry(margin, f"A loss of up to {margin:g} of the judge's range is accepted."),
        "margin_range_known": _range_known(case),
        "margin_lower": Entry(lower, f"{all_parts}{_beside_margin('lower', lower, margin)}.", _more(margin)),
        "margin_upper": Entry(upper, f"{all_parts}{_beside_margin('upper', upper, margin)}."),
        "judges_disagree": Entry(disagree, f"{all_parts}."),
    }


def _beside_margin(limit: str, value: float | None, margin: float) -> str:
    """What is compared with 0, where a margin or a range of the scores makes it another number than the limit."""
    if value is None:
        return ""
    if not margin:
        return f"; the {limit} limit is compared with 0"
    return f"; the {limit} limit plus the margin of {margin:g} is {signed(value)}, as a fraction of the judge's range"


def _more(margin: float) -> str:
    if not margin:
        return ""
    return "Evaluate more questions (`rlchecks plan` tells how many), or train further; a margin is set already."


def _range_known(case: Case) -> Entry:
    for part in case.decisive:
        failed = sentinel(case.answers, part)
        if failed is not None:
            return Entry(
                False,
                f"The only negative score of {label(part.scorer.name)} is {failed:g}, which may stand for answers that "
                "could not be scored; leave their score empty, or declare the range with --judge NAME:LOW..HIGH.",
            )
    if case.request.margin == 0.0:
        return Entry(True, "Without a margin no range is needed.")
    if not case.decisive:
        return Entry(None, "No judge decides.")
    guessed = [part.scorer.name for part in case.decisive if not part.scale.known]
    if guessed:
        return Entry(
            False,
            f"The range of {labels(guessed)} is only guessed from the scores, and the margin is a fraction of it; "
            "declare it with --judge NAME:LOW..HIGH.",
        )
    wide = next((part for part in case.decisive if case.request.margin > _USED * _spread(part)), None)
    if wide is not None:
        scale, width = wide.scale, wide.scale.width
        return Entry(
            False,
            f"All scores of {label(wide.scorer.name)} lie within {_spread(wide) * width:g} of each other, of the range "
            f"{scale.low:g}..{scale.high:g}, so that a margin of {case.request.margin:g}, which is "
            f"{case.request.margin * width:g}, accepts nearly any loss; set a smaller one, or declare the range used.",
        )
    return Entry(True, "The range that the margin is a fraction of is declared, or all scores are 0 or 1.")


def _spread(part: Part) -> float:
    """Largest minus smallest mean score of a question, on 0 to 1; 1 where there is none."""
    values = np.concatenate([part.pairs.baseline, part.pairs.candidate])
    return float(np.ptp(values)) if len(values) else 1.0


def guarding(case: Case) -> dict[str, Entry]:
    """Columns on other decodings and advisory judges, on 0 to 1."""
    level = case.level
    defined = [part for part in case.guards if part.interval(level).lower is not None]
    undefined = [part for part in case.guards if part.interval(level).lower is None]
    uppers = [value for value in adjusted_uppers(defined, level) if value is not None]
    lowers = [lower for part in defined if (lower := part.interval(level).lower) is not None]
    texts = (
        "; ".join(described(part, level) for part in case.guards) or "There is no other decoding and no advisory judge"
    )
    depends = [part for part in case.decisive if _depends(part, case.guards, level)]
    decodings = [
        described(one, level)
        for part in depends
        for one in (part, *(guard for guard in case.guards if guard.scorer == part.scorer))
    ]
    return {
        "guard_upper": Entry(min(uppers, default=None), f"{texts}; adjusted together by Holm's method."),
        "guard_lower": Entry(min(lowers, default=None), f"{texts}."),
        "n_guards": Entry(len(case.guards), f"{texts}."),
        "n_guards_undefined": Entry(
            len(undefined),
            "; ".join(described(part, level) for part in undefined) + "."
            if undefined
            else "Every guard has an interval.",
        ),
        "gain_depends_on_decoding": Entry(
            bool(depends) if case.decisive else None,
            f"{'; '.join(decodings)}." if depends else "No decoding gains where another does not.",
        ),
    }


def _depends(part: Part, guards: list[Part], level: float) -> bool:
    same = [guard for guard in guards if guard.scorer == part.scorer and len(guard.pairs.questions)]
    lowers = [one.interval(level).lower for one in (part, *same)]
    gained = [lower is not None and lower > 0.0 for lower in lowers]
    return any(gained) and not all(gained)
