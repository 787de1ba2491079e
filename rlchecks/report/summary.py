"""What a verdict says in one sentence, and which of its parts come first: shared by page, terminal and markdown.

The document is read with care: it may be old, edited or cut short, so no key is relied upon, and what is not known to
be a pass is shown as none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlchecks.report.format import anything, count
from rlchecks.report.inert import line

Document = Mapping[str, Any]

DECISIONS = ("PROMOTE", "HOLD", "REJECT")
NO_DECISION = "NO DECISION"
_EFFECTS = {"reject": 0, "hold": 1, "warn": 2, "pass": 3, "ignore": 4}
_HARMLESS = ("pass", "ignore")
_SEVERITIES = {"critical": 0, "warning": 1, "information": 2}
_DECISIVE = {"REJECT": "reject", "HOLD": "hold"}

# The reason codes, said to somebody who reads nothing else.
_SENTENCES = {
    "gain_confirmed": "The gain is confirmed on held-out questions",
    "gain_not_confirmed": "The held-out evaluation does not confirm a gain",
    "held_out_loss": "The candidate is worse than the baseline on held-out questions",
    "reward_hacking": "Reward hacking: the training grader's score rose while a different judge's fell",
    "judges_disagree": "The judges disagree: one confirms a gain, another a loss",
    "too_few_questions": "There are too few held-out questions to decide",
    "answers_missing": "Too many held-out answers are missing",
    "duplicate_ids": "Held-out question ids occur more than once",
    "prompts_repeated": "The same held-out question occurs under several ids",
    "range_unknown": "The margin is a fraction of a range that is only guessed",
    "question_sets_differ": "Baseline and candidate did not answer the same questions",
    "candidate_not_in_run": "The candidate is none of this run's checkpoints",
    "candidate_beyond_log": "The training log does not reach the candidate",
    "baseline_is_candidate": "Baseline and candidate are the same model",
    "judge_is_grader": "The judge is the training grader or the model itself, so its scores are no evidence",
    "judge_equals_grader_scores": "The judge's scores are those of the training grader, under another name",
    "judge_not_chosen": "Several judges could decide, and none was chosen",
    "grader_unknown": "The training grader is not known, so the judge's independence cannot be shown",
    "comparison_defined": "The held-out difference or its interval could not be computed",
    "loss_not_excluded": "A loss in another decoding or with another judge is not excluded",
    "health_too_short": "The training log is too short to judge",
    "category_loss": "A category of held-out questions became worse",
    "few_questions_carry": "The gain hangs on one to three held-out questions",
    "gain_gap": "The training grader gained clearly more than the judge",
    "overlap": "Held-out questions occur among the training prompts",
}
_AFTER_PROMOTE = "Read a few of the top-scoring answers, then promote the checkpoint."
_MOST_NAMED = 3
_STATUSES = {"missing": "not measured", "errored": "could not be checked", "not_applicable": "not applicable"}


def mapping(value: object) -> Document:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(document: Document, key: str) -> list[Document]:
    """The mappings in a list of the document; empty if the key is absent."""
    value = document.get(key)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, Sequence) else []


def part_of_comparison(document: Document, key: str) -> Document:
    """A part of the held-out comparison; empty if there is none."""
    return mapping(mapping(document.get("comparison")).get(key))


def values(value: object) -> list[Any]:
    """The values of a list; empty for anything else, and for text."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else []


def decision(document: Document) -> str:
    """The decision, or ``NO DECISION`` for anything that is none of the three."""
    value = document.get("decision")
    return value if isinstance(value, str) and value in DECISIONS else NO_DECISION


def name_of(value: object) -> str:
    """The name of a run, judge or grader, given as text or as a mapping."""
    details = mapping(value)
    for key in ("name", "run_id", "id"):
        if details.get(key):
            return line(details[key], 120)
    return anything(value, 120) if value and not details else "unnamed"


def effect(reason: Document) -> str:
    """``pass``, ``ignore``, ``warn``, ``hold`` or ``reject``; anything else holds."""
    value = reason.get("effect")
    return value if isinstance(value, str) and value in _EFFECTS else "hold"


def status(reason: Document) -> str:
    """The outcome in words."""
    value = line(reason.get("status") or reason.get("outcome") or "unknown", 40)
    return _STATUSES.get(value, value)


def failing(reasons: Sequence[Document]) -> list[Document]:
    """Reasons or checks that count against promotion, the gravest first."""
    return sorted((item for item in reasons if effect(item) not in _HARMLESS), key=lambda item: _EFFECTS[effect(item)])


def harmless(reasons: Sequence[Document]) -> list[Document]:
    """The other reasons or checks: passed, or not applicable."""
    return sorted((item for item in reasons if effect(item) in _HARMLESS), key=lambda item: _EFFECTS[effect(item)])


def title(item: Document) -> str:
    """The title of a reason, check or finding without its full stop, else its code."""
    return (
        line(item.get("title") or "", 300).rstrip(".")
        or line(item.get("code") or "", 60).replace("_", " ")
        or "unnamed"
    )


def severity(finding: Document) -> str:
    """``critical``, ``warning`` or ``information``; anything else warns."""
    value = finding.get("severity")
    return value if isinstance(value, str) and value in _SEVERITIES else "warning"


def findings(document: Document) -> list[Document]:
    """The findings, worst first."""
    return sorted(items(document, "findings"), key=lambda item: _SEVERITIES[severity(item)])


def headline(document: Document) -> str:
    """The decision's reason in one sentence."""
    decided = decision(document)
    reasons = items(document, "reasons")
    if decided == NO_DECISION:
        return "This document holds no decision, so it is no pass."
    if decided == "PROMOTE":
        sentence = "Nothing stands against promotion"
        if any(reason.get("code") == "gain_confirmed" and reason.get("status") == "passed" for reason in reasons):
            sentence = _confirmed(document)
        return _with_more(sentence, len(failing(reasons)), "warning", "to read")
    decisive = [reason for reason in failing(reasons) if effect(reason) == _DECISIVE[decided]]
    if not decisive:
        return "No reason is recorded."
    return _with_more(_sentence(decisive[0], document), len(decisive) - 1, "further reason", f"to {_DECISIVE[decided]}")


def margin(document: Document) -> float | int | None:
    """The accepted loss as a fraction of the judge's range; None if none was set."""
    value = mapping(document.get("comparison")).get("margin")
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _confirmed(document: Document) -> str:
    """What a promotion confirms: a gain, or with a margin perhaps no more than that little was lost."""
    accepted, lower = margin(document), mapping(document.get("comparison")).get("ci_lower")
    gained = isinstance(lower, int | float) and lower > 0
    sentence = _SENTENCES["gain_confirmed"]
    if accepted is not None and not gained:
        sentence = f"No loss beyond the margin of {accepted:g} on held-out questions; a gain is not confirmed"
    lost = [one for one in items(part_of_comparison(document, "categories"), "rows") if one.get("confirmed_loss")]
    if not lost:
        return sentence
    named = anything([line(one.get("category") or "", 60) for one in lost[:_MOST_NAMED]])
    more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
    return f"{sentence}, but a loss in {'the category' if len(lost) == 1 else 'categories'} {named}{more}"


def _loser(document: Document) -> str:
    """Who found the loss: nobody else is named where a deciding judge did, else the guards that did."""
    parts = items(mapping(document.get("comparison")), "parts")

    def lost(part: Document) -> bool:
        upper = part.get("ci_upper_adjusted")
        return isinstance(upper, int | float) and upper < 0

    found = [part for part in parts if part.get("role") == "guard" and lost(part)]
    if not found or any(part.get("role") == "decisive" and lost(part) for part in parts):
        return ""
    deciding = {part.get("judge") for part in parts if part.get("role") == "decisive"}
    words = [
        f"with the decoding {anything(part.get('decoding'), 60)}"
        if part.get("judge") in deciding
        else f"by the advisory judge {anything(part.get('judge'), 60)}"
        for part in found
    ]
    return ", ".join(dict.fromkeys(words[:_MOST_NAMED]))


def todo(document: Document, most: int = 3) -> list[str]:
    """What to do, gravest first: the advice of the reasons that decided, or of the warnings of a promotion."""
    wanted = _DECISIVE.get(decision(document), "warn")
    reasons = [reason for reason in failing(items(document, "reasons")) if effect(reason) == wanted]
    advice = dict.fromkeys(line(reason.get("advice") or "", 600) for reason in reasons)
    chosen = [text for text in advice if text][:most]
    return chosen or [_AFTER_PROMOTE] * (decision(document) == "PROMOTE")


def remarks(document: Document) -> list[str]:
    """What a person should know about how the run's log and the held-out results were read."""
    run = mapping(document.get("run"))
    warnings = run.get("warnings")
    texts = [line(text, 600) for text in warnings] if isinstance(warnings, list) else []
    if unknown := not_understood(run):
        texts.append(f"Not understood: {anything(unknown)}; name a metric with --column OWN=NAME.")
    return texts


def not_understood(run: Document) -> list[str]:
    """Columns of a run's table that have no meaning, but those of which a warning tells why."""
    # Trainers log many keys that mean nothing here; in somebody's own table every unknown column may be a metric.
    if run.get("framework") not in ("table", "timeline"):
        return []
    unknown, warnings = run.get("unmapped"), run.get("warnings")
    told = [str(warning) for warning in warnings] if isinstance(warnings, list) else []
    names = [str(name) for name in unknown] if isinstance(unknown, list) else []
    return [name for name in names if not any(f"'{name}'" in warning for warning in told)]


def observed(reason: Document) -> str:
    """What was seen and what was expected, in one line; empty if the document tells neither."""
    seen, wanted = reason.get("observed"), reason.get("expected")
    words = [] if seen is None else [anything(seen) if _is_sentence(seen) else f"Observed {anything(seen)}."]
    # That a flag was expected to be false is no news beside what was seen.
    if wanted not in (None, "", "true", "false"):
        words.append(f"Expected {anything(wanted)}.")
    return " ".join(words)


def account(reason: Document) -> str:
    """The outcome, unless it is the plain failure that the effect tells, then what was seen and expected."""
    state = status(reason)
    shown = "" if state in ("passed", "failed") else f"{state.capitalize()}."
    return " ".join(filter(None, (shown, observed(reason))))


def expected(reason: Document) -> str:
    """What was expected, for a page: flags as the observed ones are written, and the usual signs."""
    words = {"true": "yes", "false": "no"}
    text = anything(reason.get("expected")) if reason.get("expected") is not None else ""
    return words.get(text, text).replace(">=", "≥").replace("<=", "≤")


def _is_sentence(value: object) -> bool:
    return isinstance(value, str) and value.rstrip().endswith((".", "!", "?"))


def _sentence(reason: Document, document: Document) -> str:
    code, seen = line(reason.get("code") or "", 60), reason.get("observed")
    if reason.get("status") in _STATUSES:
        return f"{title(reason)}: {status(reason)}"
    if code == "held_out_loss" and (who := _loser(document)):
        return f"{_SENTENCES[code]} {who}, which guards against a loss"
    if code in _SENTENCES:
        return _SENTENCES[code]
    named = {finding.get("code") for finding in items(document, "findings")}
    if code.removeprefix("health_") in named or seen is None:
        return title(reason)
    # Suites name what is checked, not what went wrong; the number says that.
    return f"{title(reason)}: {anything(seen).rstrip('.')}"


def _with_more(sentence: str, more: int, noun: str, purpose: str) -> str:
    return f"{sentence}. {count(more, noun)} {purpose}." if more > 0 else f"{sentence}."
