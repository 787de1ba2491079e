"""The held-out comparison on the page: two pictures and the facts beside them."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from rlchecks.report import format as fmt
from rlchecks.report import whisker
from rlchecks.report.comparison import Part, parts
from rlchecks.report.inert import line
from rlchecks.report.summary import Document, mapping

_COMPARISON = {
    "n_questions": "questions",
    "n_clusters": "clusters",
    "decoding": "decoding",
    "method": "interval",
    "confidence": "confidence",
    "margin": "margin",
    "guard_margin": "margin of the guards",
    "baseline_mean": "mean score of the baseline",
    "candidate_mean": "mean score of the candidate",
    "minimum_detectable": "smallest gain it could confirm",
    "questions_needed": "questions needed",
    "questions_missing": "questions missing",
    "looks": "candidates tried on these questions",
    "reason": "reason",
}
_FORMATS: dict[str, Callable[[object], str]] = {"confidence": fmt.percent, "method": fmt.label}
_MOST_ROWS = 24


def differences(document: Document) -> Markup | None:
    """Every difference with its interval; None without any."""
    rows = [_row(part) for part in parts(document)][:_MOST_ROWS]
    if not rows:
        return None
    margin = fmt.finite(mapping(document.get("comparison")).get("margin"))
    described = "; ".join(f"{row.label}: {fmt.interval(row.difference, row.lower, row.upper)}" for row in rows)
    return whisker.draw("held-out", "Held-out difference, candidate minus baseline", described, rows, margin)


def contrast(document: Document) -> Markup | None:
    """The deciding judge beside the training grader on the same answers: the whole question in one picture."""
    listed = parts(document)
    judge = next((part for part in listed if part.role == "decisive"), None)
    grader = next(
        (part for part in listed if judge and part.role == "grader" and part.decoding == judge.decoding), None
    )
    if judge is None or grader is None:
        return None
    rows = [_row(grader)._replace(label="training grader"), _row(judge)._replace(label="held-out judge")]
    described = "; ".join(f"{row.label}: {fmt.interval(row.difference, row.lower, row.upper)}" for row in rows)
    return whisker.draw("contrast", "Grader against judge on the held-out answers", described, rows, None)


def facts(document: Document) -> list[tuple[str, str]]:
    """The comparison's other facts, as label and value."""
    comparison = mapping(document.get("comparison"))
    listed = [
        (label, _FORMATS.get(key, fmt.anything)(comparison[key]))
        for key, label in _COMPARISON.items()
        if comparison.get(key) is not None
    ]
    flips = mapping(comparison.get("flips"))
    if flips:
        listed.append(
            ("questions by outcome", ", ".join(f"{fmt.number(n)} {fmt.label(how)}" for how, n in flips.items()))
        )
    gap = mapping(comparison.get("gain_gap"))
    if gap:
        numbers = (gap.get(key) for key in ("estimate", "ci_lower", "ci_upper"))
        why = line(gap.get("reason") or "", 200)
        listed.append(("grader's gain beyond the judge's", fmt.interval(*numbers) + (f": {why}" if why else "")))
    return listed


def _row(part: Part) -> whisker.Row:
    label = " · ".join(filter(None, (part.judge, part.decoding)))
    return whisker.Row(label, part.role, *(fmt.finite(value) for value in (part.difference, part.lower, part.upper)))
