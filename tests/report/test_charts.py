from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.report import panels, svg, whisker
from rlchecks.report.onsets import Onset
from rlchecks.report.whisker import Row
from rlchecks.run import RunLog

MakeRun = Callable[..., RunLog]
NUMBERS = st.one_of(st.none(), st.floats(), st.floats(0, 1), st.sampled_from([math.nan, math.inf, -math.inf, 0.0]))
GEOMETRY = ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height")


def check(drawing: str) -> ElementTree.Element:
    """The picture is well-formed, and every coordinate is a finite number."""
    root = ElementTree.fromstring(drawing)
    for element in root.iter():
        for name in GEOMETRY:
            assert math.isfinite(float(element.get(name, "0")))
        for pair in element.get("points", "").split():
            assert all(math.isfinite(float(number)) for number in pair.split(","))
        assert "nan" not in element.get("d", "")
    return root


def drawn(run: RunLog, onsets: list[Onset] | None = None) -> dict[str, ElementTree.Element]:
    return {p.title: check(p.svg) for p in panels.build(run, {}, onsets or []) if p.svg is not None}


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**9), *[NUMBERS] * 6), max_size=40))
def test_any_log_can_be_drawn(make_run: MakeRun, rows: list[tuple[Any, ...]]) -> None:
    names = ("reward", "reward_std", "zero_std_fraction", "clipped_ratio", "mean_length", "kl")
    ordered = sorted(rows, key=lambda row: row[0])
    run = make_run([{"step": step, **dict(zip(names, values, strict=True))} for step, *values in ordered])
    shown = drawn(run, [Onset(5, "A")])
    logged = any(row[1] is not None and math.isfinite(row[1]) for row in rows)
    assert ("Reward" in shown) == logged


def test_what_was_not_logged_has_no_chart_and_says_so(make_run: MakeRun) -> None:
    built = {panel.title: panel for panel in panels.build(make_run([]), {}, [])}
    assert len(built) == 6
    assert all(panel.svg is None and panel.absent for panel in built.values())
    assert "above 0" in built["KL from the starting model"].absent


def test_a_single_point_is_a_dot(make_run: MakeRun) -> None:
    reward = drawn(make_run([{"step": 7, "reward": -3.0}]))["Reward"]
    assert len(of_class(reward, "alone")) == 1
    assert [e.text for e in reward.iter("text") if e.get("text-anchor") == "middle"] == ["6", "7", "8"]


def test_a_constant_series_is_a_level_line_inside_the_chart(make_run: MakeRun) -> None:
    reward = drawn(make_run([{"step": s, "reward": 5.0} for s in range(10)]))["Reward"]
    (line,) = of_class(reward, "line")
    heights = {pair.split(",")[1] for pair in line.get("points", "").split()}
    assert len(heights) == 1
    assert 24 < float(heights.pop()) < 192


def test_a_hundred_thousand_steps_are_thinned_with_their_range(make_run: MakeRun) -> None:
    rows = [{"step": s, "reward": (s % 7) / 7} for s in range(100_000)]
    built = panels.build(make_run(rows), {}, [])[0]
    assert built.svg is not None
    assert len(built.svg) < 40_000
    root = check(built.svg)
    (line,) = of_class(root, "line")
    assert 300 < len(line.get("points", "").split()) <= 600
    assert len(of_class(root, "band")) == 1
    assert any("lowest and highest" in note for note in built.notes)


def test_gaps_break_the_line_and_logged_infinities_are_marked(make_run: MakeRun) -> None:
    values = [0.5] * 10 + [math.inf, math.nan, None] + [0.6] * 10
    built = panels.build(make_run([{"step": s, "reward": v} for s, v in enumerate(values)]), {}, [])[0]
    assert built.svg is not None
    root = check(built.svg)
    assert len(of_class(root, "line")) == 2
    assert len(of_class(root, "flaw")) == 2
    assert "NaN or infinity logged at 2 steps: 10, 11." in built.notes


def test_onsets_are_lettered_lines_and_those_outside_the_run_are_left_out(run: RunLog) -> None:
    reward = drawn(run, [Onset(12, "A"), Onset(12, "B"), Onset(35, "C"), Onset(900, "D")])["Reward"]
    assert len(of_class(reward, "onset")) == 3
    assert [e.text for e in of_class(reward, "tag-text")] == ["A B", "C"]


def test_the_reward_chart_shades_the_first_and_last_fifth(run: RunLog) -> None:
    reward = drawn(run)["Reward"]
    early, late = of_class(reward, "window")
    axis = (468 - float(early.get("x", "0"))) / 39
    assert float(early.get("width", "0")) == pytest.approx(7 * axis, abs=0.2)
    assert float(late.get("x", "0")) + float(late.get("width", "0")) == pytest.approx(468, abs=0.2)


def test_the_names_of_windows_without_width_stand_inside_of_the_area(make_run: MakeRun) -> None:
    built = panels.build(make_run([{"step": 10 * s, "reward": 0.1 * s} for s in range(1, 7)]), {}, [])[0]
    assert built.svg is not None
    root = check(built.svg)
    early, late = (e for e in root.iter("text") if e.text in ("early", "late"))
    axis = {e.text: e for e in root.iter("text") if e.get("class") == "tick"}
    assert early.get("text-anchor") is None
    assert float(early.get("x", "0")) > float(axis["10"].get("x", "0"))
    assert late.get("text-anchor") == "end"
    assert float(late.get("x", "0")) < float(axis["60"].get("x", "0"))


def test_reward_functions_and_validation_checks_have_lines_and_dots_of_their_own(run: RunLog) -> None:
    built = panels.build(run, {}, [])[0]
    assert built.svg is not None
    root = check(built.svg)
    assert [name for _, name in built.legend] == ["training reward", "format", "lazy", "validation checks"]
    assert len(of_class(root, "check")) == 3
    assert {kind for e in of_class(root, "line") for kind in e.get("class", "").split()} >= {"c0", "c1", "c2"}


def test_a_length_limit_is_drawn_where_it_fits_and_named_where_not(make_run: MakeRun) -> None:
    rows = [{"step": s, "mean_length": 10.0 + 10 * s} for s in range(5)]
    near, far, none = (
        panels.build(make_run(rows, facts={"max_completion_length": limit}), {}, [])[3]
        for limit in ("64 (inferred)", "4096", "unknown")
    )
    assert [len(of_class(check(str(one.svg)), "limit")) for one in (near, far, none)] == [1, 0, 0]
    assert list(far.notes) == ["The limit of 4,096 tokens lies above the chart."]
    assert list(none.notes) == []


def test_a_placeholder_share_at_steps_without_a_reward_is_not_drawn(make_run: MakeRun) -> None:
    # TRL logs a zero-std share of 0.0 when the grader returned nothing.
    rows = [
        {"step": s, "reward": None if s == 5 else 0.5, "zero_std_fraction": 0.0 if s == 5 else 1.0} for s in range(10)
    ]
    table = panels.build(make_run(rows), {}, [])[1].tables[0]
    assert [row[1] for row in table.rows] == ["0%"] * 5 + ["–"] + ["0%"] * 4


def test_a_spike_of_the_kl_does_not_flatten_the_rest(make_run: MakeRun) -> None:
    rows = [{"step": s, "reward": 0.5, "kl": 900.0 if s == 50 else s / 1000} for s in range(100)]
    built = panels.build(make_run(rows), {}, [])
    kl, against = built[4], built[5]
    assert len(of_class(check(str(kl.svg)), "mark")) == 1
    assert list(kl.notes) == ["Triangles: values beyond the chart, up to 900."]
    assert list(against.notes) == ["1 point beyond the chart, drawn at its edge."]


def test_early_and_late_figures_come_from_the_signals(run: RunLog, signals: dict[str, Any]) -> None:
    built = panels.build(run, signals, [])
    assert [panel.figures for panel in built] == ["0.320 → 0.680", "", "2% → 2%", "", "", ""]


@pytest.mark.parametrize("name", ["reward-inf", "nan-survives", "reward-none", "starved-floor", "kl-drift"])
def test_real_runs_can_be_drawn(trl_run: Callable[[str], RunLog], name: str) -> None:
    shown = drawn(trl_run(name))
    assert {"Reward", "Clipped ratio", "Mean answer length"} <= shown.keys()


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_ticks_are_few_round_and_within_the_axis(a: float, b: float) -> None:
    axis = svg.axis(np.array([a, b]), 0, 100)
    ticks = axis.ticks(5)
    slack = 1e-6 * (axis.high - axis.low)
    assert 1 <= len(ticks) <= 7
    assert all(axis.low - slack <= tick <= axis.high + slack for tick in ticks)


@pytest.mark.parametrize(
    ("value", "label"), [(0.25, "0.25"), (1500.0, "1,500"), (20_000.0, "20k"), (2.5e6, "2.5M"), (1e300, "1.0e+300")]
)
def test_tick_labels_are_short(value: float, label: str) -> None:
    assert svg.tick_label(value) == label


def test_text_and_attributes_are_escaped_and_cleaned() -> None:
    made = svg.element("text", '<b>&"\x1b[2J', class_='"><script>')
    assert made == '<text class="&#34;&gt;&lt;script&gt;">&lt;b&gt;&amp;&#34;</text>'


def test_the_difference_chart_shows_zero_and_the_margin_and_colours_by_what_is_confirmed() -> None:
    rows = [
        Row("gain", "decisive", 0.1, 0.05, 0.15),
        Row("loss", "guard", -0.2, -0.3, -0.1),
        Row("open", "guard", 0.0, -0.1, 0.1),
        Row("no interval", "guard", 0.05, None, None),
        Row("nothing", "guard", None, None, None),
        Row("own grader", "grader", 0.4, 0.3, 0.5),
    ]
    root = check(whisker.draw("w", "title", "described", rows, 0.02))
    kinds = [re.sub("estimate ", "", e.get("class", "")) for e in of_class(root, "estimate")]
    assert kinds == ["good", "bad", "open", "open", "grader"]
    (zero,), (margin,) = of_class(root, "null"), of_class(root, "limit")
    pieces = re.findall(r"M([\d.]+) ([\d.]+)v([\d.]+)", margin.get("d", ""))
    assert len(pieces) == len(rows)
    at_zero = re.findall(r"M([\d.]+) ([\d.]+)v([\d.]+)", zero.get("d", ""))
    assert all(float(x) < float(origin) for (x, _, _), (origin, _, _) in zip(pieces, at_zero, strict=True))
    # No label is crossed: each piece begins below the label of its row and ends above the next.
    labels = sorted({float(e.get("y", "0")) for e in of_class(root, "part")})
    for line in (pieces, at_zero):
        ends = [float(y) + float(down) for _, y, down in line]
        assert all(label < float(y) for label, (_, y, _) in zip(labels, line, strict=True))
        assert all(end < label - 9 for end, label in zip(ends, labels[1:], strict=False))
    assert "undefined" in [e.text for e in root.iter("text")]
    assert not of_class(check(whisker.draw("w", "t", "d", rows, 0.0)), "limit")


def test_every_picture_has_a_title_and_a_description(run: RunLog) -> None:
    for root in drawn(run).values():
        ids = {element.get("id") for element in root.iter()}
        assert root.get("role") == "img"
        assert set(root.get("aria-labelledby", "").split()) <= ids
        assert root.find("title") is not None
