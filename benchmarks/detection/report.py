"""The counts as tables, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarks.detection import duel
from benchmarks.detection.competitors import VERSIONS
from benchmarks.detection.measure import FIRST, Measured, Real
from benchmarks.detection.runs import HEALTHY, SCENARIOS
from benchmarks.detection.tally import Code, Tally
from rlchecks.diagnosis.registry import CODES

NO_DATA = "The labelled real runs are not there; `RLCHECKS_SHARED_DATA` names their directory."
NO_OTHERS = "The other programs are not installed: `pip install 'rlchecks[competitors]'`."


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def seed(measured: Measured) -> str:
    """Write the tables of one seed, a profile each."""
    parts = [
        f"Seed {measured.seed}, {measured.runs} runs of each of {len(SCENARIOS)} scenarios, {len(HEALTHY)} of them "
        f"healthy. What was found in the first {FIRST} of each has the fingerprint `{measured.fingerprint}`."
    ]
    return "\n\n".join(parts + [_profile(profile, tally) for profile, tally in measured.tallies.items()])


def _profile(profile: str, tally: Tally) -> str:
    header = ("finding", "true cases", "recall", "can be shown", "too small", "said", "precision", "onset error")
    order = [code for code in CODES if code in tally.codes]
    return (
        f"**Profile {profile}.** Healthy runs with any warning: {tally.alarmed} of {tally.healthy} "
        f"({tally.alarm_rate:.1%}). {_false(tally)}\n\n"
    ) + markdown(header, [_row(code, tally.codes[code]) for code in order])


def _row(code: str, counts: Code) -> tuple[str, ...]:
    holds = counts.true + counts.hidden
    hidden = f"{counts.hidden / holds:.0%}" if holds else "-"
    if counts.hidden:
        hidden += f" ({counts.hidden_hit / counts.hidden:.0%} found)"
    size = "-" if counts.size is None else f"{counts.size:.2f}"
    return (
        f"`{code}`",
        str(counts.true),
        share(counts.recall),
        size,
        hidden,
        str(counts.said),
        share(counts.precision),
        share(counts.onset_error),
    )


def _false(tally: Tally) -> str:
    if not tally.false:
        return "False alarms over all runs: none."
    listed = ", ".join(f"`{code}` {number}" for code, number in tally.false.most_common())
    return f"False alarms over all runs, sick ones too: {listed}."


def where(measured: Measured) -> str:
    """List the scenarios of the false alarms of the first profile."""
    tally = next(iter(measured.tallies.values()))
    return "\n".join(f"{number} {code} in {scenario}" for (scenario, code), number in tally.where.most_common())


def summary(several: Sequence[Measured]) -> str:
    """Write the worst figures of several seeds, a line each and profile."""
    header = ("seed", "profile", "healthy runs with a warning", "lowest recall", "lowest precision", "onset error")
    rows = []
    for one in several:
        for profile, tally in one.tallies.items():
            rows.append(
                (
                    str(one.seed),
                    profile,
                    f"{tally.alarmed} of {tally.healthy} ({tally.alarm_rate:.1%})",
                    _worst(tally, lambda counts: counts.recall, min),
                    _worst(tally, lambda counts: counts.precision, min),
                    _worst(tally, lambda counts: counts.onset_error, max),
                )
            )
    return markdown(header, rows)


def _worst(
    tally: Tally, figure: Callable[[Code], float | None], choose: Callable[[list[tuple[float, str]]], tuple[float, str]]
) -> str:
    values = [(value, code) for code, counts in tally.codes.items() if (value := figure(counts)) is not None]
    if not values:
        return "-"
    value, code = choose(values)
    return f"{value:.3f} `{code}`"


def real_runs(real: Real | None) -> str:
    """Write what was found in the labelled real runs."""
    if real is None:
        return NO_DATA
    rows = []
    for one in real.seen:
        said = ", ".join(f"**`{code}`**" if code in one.alarms else f"`{code}`" for code in one.codes)
        asked = ", ".join(f"`{code}`" for code in one.run.must).replace("|", "` or `") or "no warning"
        wrong = [f"misses {code}" for code in one.missed] + [f"false `{code}`" for code in sorted(one.false)]
        rows.append((one.run.name, one.run.label, asked, said or one.run.refused, "; ".join(wrong) or "as labelled"))
    right = sum(row[-1] == "as labelled" for row in rows)
    table = markdown(("run", "label", "asked for", "found (warnings in bold)", "verdict"), rows)
    return f"{right} of {len(rows)} as labelled.\n\n{table}"


def against_others(scores: Mapping[str, duel.Score], runs: str) -> str:
    """Write the comparison with other programs."""
    if len(scores) < 2:
        return NO_OTHERS
    header = ("program", "alarms on healthy runs", "cases named", "too small ones", "false on sick runs", "beyond ours")
    rows = []
    for name, score in scores.items():
        beyond = sum(number for (_, _, shown), number in score.beyond.items() if shown)
        hidden = sum(score.beyond.values()) - beyond
        extra = f"{beyond}, and {hidden} too small to be shown" if hidden else str(beyond)
        rows.append(
            (
                f"{name} {VERSIONS.get(name, '')}".strip(),
                f"{score.alarmed} of {score.healthy} ({score.alarmed / max(score.healthy, 1):.1%})",
                f"{score.named} of {score.cases}",
                f"{score.hidden_named} of {score.hidden}",
                str(score.false),
                "-" if name == duel.OURS else extra,
            )
        )
    return f"{runs}\n\n{markdown(header, rows)}\n\n{_beyond(scores)}"


def _beyond(scores: Mapping[str, duel.Score]) -> str:
    lines = []
    for name, score in scores.items():
        listed = [
            f"`{code}` in {group}{'' if shown else ' (too small)'} {number}"
            for (group, code, shown), number in sorted(score.beyond.items())
        ]
        if listed:
            lines.append(f"Named by {name} and not by rlchecks: {', '.join(listed)}.")
    return "\n\n".join(lines) or "No program names a case that rlchecks does not."


def share(value: float | None) -> str:
    """Three decimals, or a dash."""
    return "-" if value is None else f"{value:.3f}"
