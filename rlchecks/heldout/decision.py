"""Evidence on the decision: the deciding judges against the margin, and the guards."""

from __future__ import annotations

from rlchecks.heldout.case import Case
from rlchecks.heldout.entry import Entry, described
from rlchecks.heldout.names import labels
from rlchecks.heldout.outcome import judge_outcome, weakest
from rlchecks.heldout.parts import Part, adjusted_uppers


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
        "margin_lower": Entry(lower, f"{all_parts}; the lower limit must be above {-margin or 0:g}."),
        "margin_upper": Entry(upper, f"{all_parts}; an upper limit below {-margin or 0:g} is a loss."),
        "judges_disagree": Entry(disagree, f"{all_parts}."),
    }


def _range_known(case: Case) -> Entry:
    if case.request.margin == 0.0:
        return Entry(True, "Without a margin no range is needed.")
    if not case.decisive:
        return Entry(None, "No judge decides.")
    guessed = [part.scorer.name for part in case.decisive if not part.scale.known]
    if not guessed:
        return Entry(True, "The range that the margin is a fraction of is declared, or all scores are 0 or 1.")
    return Entry(
        False,
        f"The range of {labels(guessed)} is only guessed from the scores, and the margin is a fraction of it; "
        "declare it with --judge NAME:LOW..HIGH.",
    )


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
