"""Draw the pictures of docs/findings.md, as the report draws them: python -m docs.pictures [RUNS].

Where this project's own training runs show a finding (RUNS, by default ../shared/data/trl beside the repository), the
picture is of one of them; the others are of simulated runs of the detection benchmark, and their captions say so. The
pictures are committed; a test draws those of real runs again where the runs are at hand.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from rlchecks import signals
from rlchecks.diagnosis import diagnose
from rlchecks.heldout import ComparisonRequest, Scorer, compare, read_rows
from rlchecks.heldout.checkpoint_curve import checkpoint_curve
from rlchecks.readers import read_run
from rlchecks.report import checkpoints, heldout, panels, plot, series
from rlchecks.report.onsets import Onset
from rlchecks.report.svg import WIDTH
from rlchecks.run import RunLog
from rlchecks.suites import load

HERE = Path(__file__).parent
IMAGES = HERE / "images"
RUNS = HERE.parent.parent / "shared" / "data" / "trl"

_PAD, _HEAD, _GAP = 20, 34, 16

REAL = {
    "non_finite": ("reward-inf", ("Reward",)),
    "starved_floor": ("starved-floor", ("Reward", "Spread and prompts with a signal")),
    "starved_ceiling": ("starved-ceiling", ("Reward", "Spread and prompts with a signal")),
    "length_collapse": ("collapse-flat", ("Reward", "Mean answer length")),
    "length_with_reward": ("length-hack-s6", ("Reward", "Mean answer length")),
    "answers_clipped": ("clipped", ("Clipped ratio",)),
    "kl_without_gain": ("kl-drift", ("Reward", "KL from the starting model")),
    "learning": ("healthy-s1", ("Reward",)),
    "no_trend": ("kl-drift", ("Reward",)),
    "too_short": ("defaults-grad-accum", ("Reward",)),
    "ended_early": ("nan-crash", ("Reward",)),
}
"""Finding to the run that shows it, and the charts to show."""

SIMULATED = {
    "rewards_missing": ("loses_its_rewards", ("Reward", "Mean answer length")),
    "diverged": ("diverges", ("Reward", "Entropy")),
    "starved": ("starves_in_between", ("Reward", "Spread and prompts with a signal")),
    "sudden_reward": ("jumps", ("Reward",)),
    "format_only": ("learns_the_format_only", ("Reward",)),
    "validation_flat": ("does_not_transfer", ("Reward",)),
    "reward_falling": ("gets_worse", ("Reward",)),
    "length_growth": ("grows_without_reward", ("Reward", "Mean answer length")),
    "entropy_collapse": ("loses_its_entropy", ("Reward", "Entropy")),
    "saturated": ("learns_to_the_ceiling", ("Reward", "Spread and prompts with a signal")),
    "validation_rising": ("transfers", ("Reward",)),
    "inconclusive": ("wanders", ("Reward",)),
}
"""Finding to the scenario of the benchmark that shows it, and the charts to show."""


class Card(NamedTuple):
    """A chart with its words."""

    title: str
    figures: str
    svg: str
    legend: Sequence[tuple[str, str]] = ()


def of_run(run: RunLog, titles: Sequence[str], code: str) -> list[Card]:
    """The charts of a run, with the onset of a finding in them.

    Raises:
        ValueError: the run does not show the finding.
    """
    row = signals.rows(signals.compute(run.steps, [signals.facts_of(run)], run.validation))[0]
    found = {one.code: one for one in diagnose(row, load("chat").parameters)}
    if code not in found:
        raise ValueError(f"{run.name} shows {', '.join(found)}, not {code}")
    begun = found[code].onset_step
    onsets = [] if begun is None else [Onset(begun, "A")]
    drawn = panels.build(run, row, onsets)
    cards = {one.title: Card(one.title, one.figures, str(one.svg), one.legend) for one in drawn if one.svg}
    cards["Entropy"] = _entropy(run, onsets)
    return [cards[title] for title in titles]


def _entropy(run: RunLog, onsets: Sequence[Onset]) -> Card:
    """The report has no chart of the entropy."""
    shown = series.metric(run, "entropy")
    if shown.empty:
        return Card("Entropy", "", "")
    span = float(shown.steps[0]), float(shown.steps[-1])
    facet = plot.Facet([plot.Line(shown, 6)], include=(0.0,))
    return Card("Entropy", "", str(plot.draw("entropy", "Entropy", "In nats a token.", [facet], span, onsets).svg))


def simulated(code: str) -> list[Card]:
    """The charts of the first simulated run that shows a finding well: logged every step, rewards in 0 to 1.

    Raises:
        ValueError: none does.
    """
    import benchmarks.detection.scenarios  # noqa: F401
    from benchmarks.detection.detect import checks_of, table_of
    from benchmarks.detection.runs import draw

    name, titles = SIMULATED[code]
    for index in range(2000):
        made = draw(name, 1, index)
        setting = made.setting
        plain = setting.every == 1 and 60 <= setting.steps <= 200 and (setting.low, setting.high) == (0, 1)
        if not plain or setting.missing or setting.prompts < 8:
            continue
        run = RunLog("run", name, name, "trl_grpo", table_of(made, "run"), validation=checks_of(made, "run"))
        with suppress(ValueError):
            return of_run(run, titles, code)
    raise ValueError(f"no run of {name} shows {code}")


def of_hacking(runs: Path) -> list[Card]:
    """Grader against judge on the held-out answers."""
    rows = read_rows([runs / "hack-lazy-s30" / "eval"])
    asked = ComparisonRequest(graders=(Scorer("lazy_grader_reward"),), graders_known=True)
    document = {"comparison": dict(compare(rows, asked).document)}
    return [Card("The same held-out answers, scored twice", "", str(heldout.contrast(document)))]


def of_checkpoints(runs: Path) -> list[Card]:
    """All checkpoints of a run against the best of them."""
    rows = read_rows([runs / "healthy-s1" / "eval"])
    asked = ComparisonRequest(graders=(Scorer("accuracy_reward"),), graders_known=True, decoding="greedy")
    document = {"comparison": {"checkpoints": checkpoint_curve(rows, asked)}}
    return [Card("Checkpoints against the best of them", "", str(checkpoints.picture(document)))]


def picture(cards: Sequence[Card], caption: str) -> str:
    """Cards side by side as one SVG file that needs nothing else."""
    heights = [float(re.search(r'viewBox="0 0 \d+ ([\d.]+)"', card.svg)[1]) for card in cards]  # type: ignore[index]
    head = _HEAD + (18 if any(card.legend for card in cards) else 0)
    width, height = len(cards) * (WIDTH + 2 * _PAD + _GAP) - _GAP, max(heights) + head + 2 * _PAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
        'font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif">',
        f"<title>{escape(caption)}</title>",
        f"<style>{_style()}</style>",
    ]
    for place, card in enumerate(cards):
        left = place * (WIDTH + 2 * _PAD + _GAP)
        x, end, top = left + _PAD, left + _PAD + WIDTH, _PAD + 14
        parts += [
            f'<rect class="card" x="{left + 0.5}" y="0.5" width="{WIDTH + 2 * _PAD - 1}" height="{height - 1:g}" '
            'rx="10"/>',
            f'<text class="title" x="{x}" y="{top}">{escape(card.title)}</text>',
            f'<text class="figures" x="{end}" y="{top}" text-anchor="end">{escape(card.figures)}</text>',
        ]
        for kind, name in card.legend:
            parts.append(f'<circle class="{kind} alone" cx="{x + 5}" cy="{top + 18}" r="4"/>')
            parts.append(f'<text class="name" x="{x + 14}" y="{top + 22}">{escape(name)}</text>')
            x += 34 + 7 * len(name)
        size = f'x="{left + _PAD}" y="{_PAD + head}" width="{WIDTH}" height="{heights[place]:g}"'
        parts.append(card.svg.replace("<svg ", f"<svg {size} ", 1))
    return "\n".join([*parts, "</svg>", ""])


def _style() -> str:
    """The page's styles of charts, in its light colours."""
    text = files("rlchecks.report").joinpath("templates/page.css").read_text(encoding="utf-8")
    colours = re.match(r":root \{.*?\n\}", text, re.DOTALL)
    charts = re.search(r"svg\.chart \{.*?(?=\n\n@media)", text, re.DOTALL)
    assert colours is not None
    assert charts is not None
    own = (
        ".card { fill: var(--card); stroke: var(--line); } svg .title, svg .figures { font-weight: 600; "
        "fill: var(--ink); } "
        "svg .title { font-size: 15px; } svg .figures { font-size: 13px; } svg .name { font-size: 12.5px; }"
    )
    return re.sub(r"\s+", " ", f"{colours[0]} {charts[0]} {own}")


def real(runs: Path) -> dict[str, list[Card]]:
    """The charts of real runs, by finding."""
    found = {code: of_run(read_run(runs / name), titles, code) for code, (name, titles) in REAL.items()}
    return found | {"reward_hacking": of_hacking(runs), "earlier_checkpoint_as_good": of_checkpoints(runs)}


def write(runs: Path) -> None:
    """Draw and write all pictures."""
    words = tomllib.loads((HERE / "findings_words.toml").read_text(encoding="utf-8"))
    IMAGES.mkdir(exist_ok=True)
    for code, cards in (real(runs) | {code: simulated(code) for code in SIMULATED}).items():
        (IMAGES / f"{code}.svg").write_text(picture(cards, words[code]["caption"]), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
