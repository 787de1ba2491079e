"""The verdict for the orchestrator's artifacts. Text from logs is escaped: it can be neither markup nor a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rlchecks.report import comparison, summary
from rlchecks.report import format as fmt
from rlchecks.report.inert import markdown as safe
from rlchecks.report.summary import Document

_MOST_REASONS = 40


def verdict_markdown(document: Mapping[str, Any]) -> str:
    """The verdict as markdown: decision, reason, what to do, held-out differences, reasons."""
    names = (safe(summary.name_of(document.get(key))) for key in ("run", "candidate", "baseline"))
    run, candidate, baseline = names
    parts = [f"# {summary.decision(document)}: {run}", f"{candidate} against {baseline}"]
    override = summary.mapping(document.get("override"))
    if override:
        who, why = safe(override.get("who") or "somebody"), safe(override.get("reason") or "no reason given")
        parts.append(f"> **Overridden by {who}:** {why}")
    parts.append(f"**{safe(summary.headline(document))}**")
    parts.append("\n".join(f"- {safe(advice)}" for advice in summary.todo(document)))
    held_out = comparison.parts(document)
    if held_out:
        parts += ["## Held-out difference", _held_out(held_out)]
    reasons = summary.items(document, "reasons")
    against = summary.failing(reasons)
    if against:
        rows = [
            [summary.effect(one), summary.title(one), summary.status(one), summary.observed(one)] for one in against
        ]
        parts += ["## Reasons", _table(["effect", "reason", "outcome", "numbers"], rows[:_MOST_REASONS])]
        if len(rows) > _MOST_REASONS:
            parts.append(f"and {len(rows) - _MOST_REASONS} more")
    rest = len(reasons) - len(against)
    if rest:
        parts.append(f"{fmt.count(rest, 'reason')} in favour, or not applicable.")
    return "\n\n".join(filter(None, parts)) + "\n"


def findings_table(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The findings as rows of a table artifact, worst first.

    Its cells are rendered as markdown too, so they are escaped as well.
    """
    return [
        {
            "severity": summary.severity(finding),
            "finding": safe(summary.title(finding)),
            "meaning": safe(finding.get("meaning") or ""),
            "advice": safe(finding.get("advice") or ""),
            "evidence": safe(_evidence(finding)),
            "from step": safe(fmt.number(finding.get("onset_step"), "")),
        }
        for finding in summary.findings(document)
    ]


def _held_out(parts: Sequence[comparison.Part]) -> str:
    rows = [
        [
            part.judge,
            part.decoding,
            comparison.ROLES.get(part.role, part.role),
            fmt.interval(part.difference, part.lower, part.upper),
            fmt.number(part.n_questions),
        ]
        for part in parts
    ]
    return _table(["judge", "decoding", "role", "difference", "questions"], rows)


def _evidence(finding: Document) -> str:
    evidence = summary.mapping(finding.get("evidence"))
    return "; ".join(f"{fmt.label(name)} {fmt.signal(str(name), value)}" for name, value in evidence.items())


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *([safe(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
