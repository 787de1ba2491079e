"""The counts as tables."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.detection.runs import SCENARIOS
from benchmarks.detection.tally import Code, Tally
from rlchecks.diagnosis.registry import CODES

HEADER = (
    "finding",
    "true cases",
    "recall",
    "can be shown",
    "too small",
    "said",
    "precision",
    "onset error",
)


def text(tallies: Mapping[str, Tally], seed: int, runs: int, detail: bool = False) -> str:
    """Write the tables of one seed, a profile each."""
    parts = [f"Seed {seed}, {runs} runs of each of {len(SCENARIOS)} scenarios."]
    for profile, tally in tallies.items():
        parts.append(table(profile, tally))
        if detail:
            parts.append("\n".join(f"{n} {code} in {where}" for (where, code), n in tally.where.most_common()))
    return "\n\n".join(parts) + "\n"


def table(profile: str, tally: Tally) -> str:
    """Write the table of one profile, in Markdown."""
    lines = [f"**Profile {profile}.** Healthy runs with any warning: {tally.alarmed} of {tally.healthy}"]
    lines[0] += f" ({tally.alarm_rate:.1%}).{_false(tally)}"
    lines += ["", "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    order = [code for code in CODES if code in tally.codes]
    lines += ["| " + " | ".join(_row(code, tally.codes[code])) + " |" for code in order]
    return "\n".join(lines)


def _row(code: str, counts: Code) -> tuple[str, ...]:
    holds = counts.true + counts.hidden
    hidden = f"{counts.hidden / holds:.0%}" if holds else "-"
    if counts.hidden:
        hidden += f" ({counts.hidden_hit / counts.hidden:.0%} found)"
    return (
        f"`{code}`",
        str(counts.true),
        share(counts.recall),
        "-" if counts.size is None else f"{counts.size:.2f}",
        hidden,
        str(counts.said),
        share(counts.precision),
        share(counts.onset_error),
    )


def _false(tally: Tally) -> str:
    if not tally.false:
        return " False alarms over all runs: none."
    listed = ", ".join(f"`{code}` {number}" for code, number in tally.false.most_common())
    return f" False alarms over all runs, sick ones too: {listed}."


def share(value: float | None) -> str:
    """Three decimals, or a dash."""
    return "-" if value is None else f"{value:.3f}"
