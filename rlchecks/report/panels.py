"""The chart panels of the page: which series go into which chart, and how each is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from markupsafe import Markup

from rlchecks.report import absent, plot, scatter, series, tables
from rlchecks.report import format as fmt
from rlchecks.report.inert import line
from rlchecks.report.onsets import Onset
from rlchecks.report.plot import Facet, Line
from rlchecks.report.series import Series
from rlchecks.run import RunLog

Signals = Mapping[str, float | int | str | None]

_FUNCTIONS = 6
_TALL, _LOW = 168.0, 72.0
_SCOPES = {
    "within_group": "within each prompt's answers",
    "within_group_median": "within each prompt's answers, the median over prompts",
    "batch": "over the whole batch",
}


@dataclass(frozen=True)
class Panel:
    """One chart with its words. ``svg`` is None when nothing was logged; then ``absent`` says so."""

    title: str
    reading: str
    svg: Markup | None = None
    absent: str = "not logged"
    figures: str = ""
    legend: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    tables: Sequence[tables.Table] = ()


class _Context(NamedTuple):
    run: RunLog
    signals: Signals
    onsets: Sequence[Onset]
    span: tuple[float, float]
    reward: Series
    kl: Series


def build(run: RunLog, signals: Signals, onsets: Sequence[Onset]) -> list[Panel]:
    """All panels over the run, in reading order, those without data included.

    Args:
        run: the run; its ``summary`` rows are not drawn.
        signals: its row of the signals table; early and late means are taken from there.
        onsets: the steps at which findings began.
    """
    steps = run.steps.filter(pc.not_equal(run.steps["split"], "summary"))["step"]
    ends = pc.min_max(steps).as_py()
    span = (float(ends["min"]), float(ends["max"])) if len(steps) else (0.0, 1.0)
    context = _Context(run, signals, onsets, span, series.metric(run, "reward"), series.metric(run, "kl"))
    return [draw(context) for draw in (_reward, _spread, _clipped, _length, _kl, _reward_against_kl)]


def _reward(context: _Context) -> Panel:
    functions, more = series.reward_functions(context.run, _FUNCTIONS)
    named = {"training reward": context.reward}
    if len(functions) > 1:
        named |= {line(name, 60): one for name, one in functions.items()}
    shown = {name: one for name, one in named.items() if not one.empty}
    checks = series.validation(context.run)
    lines = [Line(one, colour, "smooth" if colour else "trend") for colour, one in enumerate(shown.values())]
    legend = [(f"c{colour}", name) for colour, name in enumerate(shown)]
    numbers = [tables.of(shown)] if shown else []
    if not checks.empty:
        lines.append(Line(checks, 7, "dots"))
        legend.append(("c7", "validation checks"))
        numbers.append(tables.of({"validation": checks}))
    values = np.concatenate([one.series.values for one in lines]) if lines else np.empty(0)
    unit = not bool(np.any((values < 0) | (values > 1)))
    facets = [Facet(lines, include=(0.0, 1.0) if unit else (), windows=not context.reward.empty)] if lines else []
    return _drawn(
        context,
        "reward",
        "Reward",
        "Mean grader score of each step's answers. It should rise, noisily; a jump towards the top is suspect until "
        "the answers have been read.",
        facets,
        figures=_change(context, "reward_start", "reward_end"),
        legend=legend if len(legend) > 1 else (),
        notes=[f"{fmt.count(more, 'more reward function')} not drawn."] if more else (),
        numbers=numbers,
    )


def _spread(context: _Context) -> Panel:
    spread, starved = (series.metric(context.run, name) for name in ("reward_std", "zero_std_fraction"))
    # TRL logs 0.0 as a placeholder at steps at which the grader returned nothing.
    known = np.isfinite(context.reward.values) | context.reward.empty
    signal = Series(starved.steps, np.where(known, 1 - starved.values, np.nan), starved.flawed)
    named = {"spread": spread, "prompts with a signal": signal}
    logged = [name for name, one in named.items() if not one.empty]
    height = _LOW if len(logged) == 2 else _TALL
    both = {
        "spread": Facet([Line(spread)], height, "spread of the rewards", include=(0.0,)),
        "prompts with a signal": Facet([Line(signal, 1)], height, "prompts with a signal", True, (0.0, 1.0)),
    }
    scope = _SCOPES.get(str(context.run.facts.get("reward_std_semantics")).removesuffix(" (inferred)"))
    return _drawn(
        context,
        "spread",
        "Spread and prompts with a signal",
        "How much the scores differ. A prompt whose answers all score alike teaches nothing; near zero the run is "
        "starved.",
        [both[name] for name in logged],
        figures=_change(context, "reward_std_start", "reward_std_late"),
        absent=absent.reason(context.run, "reward_std"),
        notes=[_lacking(context.run, name) for name in named if name not in logged and logged]
        + ([f"Spread {scope}."] if scope and "spread" in logged else []),
        numbers=[tables.of({name: named[name] for name in logged}, {"prompts with a signal"})] if logged else (),
    )


def _lacking(run: RunLog, name: str) -> str:
    why = absent.reason(run, {"spread": "reward_std"}.get(name, "zero_std_fraction"))
    return f"{name[:1].upper()}{name[1:]}: {why}."


def _clipped(context: _Context) -> Panel:
    cut = series.metric(context.run, "clipped_ratio")
    return _drawn(
        context,
        "clipped",
        "Clipped ratio",
        "Share of answers cut off at the length limit. Cut answers score badly for the wrong reason. Not the clipping "
        "of the policy update.",
        [] if cut.empty else [Facet([Line(cut, 2)], as_percent=True, include=(0.0, 1.0))],
        absent=absent.reason(context.run, "clipped_ratio"),
        figures=_change(context, "clipped_ratio_start", "clipped_ratio_late"),
        numbers=[tables.of({"clipped ratio": cut}, {"clipped ratio"})],
    )


def _length(context: _Context) -> Panel:
    length = series.metric(context.run, "mean_length")
    limit = _length_limit(context.run)
    facet = Facet([Line(length, 3)], include=(0.0,))
    notes = []
    if limit is not None and not length.empty:
        # A limit far above the answers would squeeze them into the foot of the chart.
        if limit <= 2.5 * float(np.nanmax(length.values)):
            facet = Facet(facet.lines, include=(0.0, limit), limit=(limit, f"limit {fmt.number(limit)}"))
        else:
            notes.append(f"The limit of {fmt.number(limit)} tokens lies above the chart.")
    return _drawn(
        context,
        "length",
        "Mean answer length",
        "In tokens. Growing together with the reward usually means that the grader likes length; shrinking to almost "
        "nothing, that the model avoids penalties.",
        [] if length.empty else [facet],
        absent=absent.reason(context.run, "mean_length"),
        figures=_change(context, "length_start", "length_end"),
        notes=notes,
        numbers=[tables.of({"mean length": length})],
    )


def _kl(context: _Context) -> Panel:
    return _drawn(
        context,
        "kl",
        "KL from the starting model",
        "How far the model has moved, in nats. Still climbing after the reward has stopped improving: drift without "
        "gain.",
        [] if context.kl.empty else [Facet([Line(context.kl, 4)], include=(0.0,), spiky=True)],
        absent=absent.reason(
            context.run, "kl", "not logged; most frameworks log it only when the KL coefficient is above 0"
        ),
        figures=_change(context, "kl_start", "kl_end"),
        numbers=[tables.of({"KL": context.kl})],
    )


def _reward_against_kl(context: _Context) -> Panel:
    title = "Reward against KL"
    reading = "What each step away from the starting model has bought. Sound runs rise and stay left; drift runs right."
    drawing = scatter.draw("kl-reward", title, reading, context.kl, context.reward, ("KL", "reward"))
    if drawing is None:
        return Panel(title, reading, absent="needs reward and KL on the same steps")
    legend = [("s0", "first step"), (f"s{scatter.SHADES - 1}", "last step")]
    return Panel(title, reading, drawing.svg, legend=legend, notes=drawing.notes)


def _drawn(
    context: _Context,
    key: str,
    title: str,
    reading: str,
    facets: Sequence[Facet],
    *,
    absent: str = "not logged",
    figures: str = "",
    legend: Sequence[tuple[str, str]] = (),
    notes: Sequence[str] = (),
    numbers: Sequence[tables.Table] = (),
) -> Panel:
    if not facets:
        return Panel(title, reading, absent=absent)
    drawing = plot.draw(key, title, f"{reading} {figures}".strip(), facets, context.span, context.onsets)
    return Panel(title, reading, drawing.svg, absent, figures, legend, [*notes, *drawing.notes], numbers)


def _change(context: _Context, start: str, end: str) -> str:
    before, after = context.signals.get(start), context.signals.get(end)
    if before is None or after is None:
        return ""
    return f"{fmt.signal(start, before)} → {fmt.signal(end, after)}"


def _length_limit(run: RunLog) -> float | None:
    for key in ("max_completion_length", "max_completion_length (inferred)"):
        found = re.match(r"\d{1,9}", str(run.facts.get(key, "")))
        if found:
            return float(found.group())
    return None
