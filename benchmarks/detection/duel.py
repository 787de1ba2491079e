"""rlchecks and other programs on the same runs: cases named, false alarms, what one names and the other does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.detection import real
from benchmarks.detection.competitors import Said
from benchmarks.detection.tally import Found, Seen
from rlchecks.diagnosis import CODES

CASES = frozenset(CODES) - {
    *("learning", "no_trend", "inconclusive", "saturated", "too_short", "ended_early", "length_growth"),
    *("validation_rising", "earlier_checkpoint_as_good"),
}
"""Findings that say that something is wrong: the cases that are counted."""

OURS = "rlchecks"


class Match(NamedTuple):
    """A run in the comparison.

    Attributes:
        group: scenario or source.
        healthy: whether any alarm is false.
        cases: what is wrong with it, and whether that can be shown.
        fine: codes that would not be wrong.
        ours: what rlchecks found.
    """

    group: str
    healthy: bool
    cases: dict[str, bool]
    fine: frozenset[str]
    ours: Found


@dataclass
class Score:
    """What one program did.

    Attributes:
        healthy: healthy runs.
        alarmed: those that it raised an alarm on.
        false: sick runs on which it raised an alarm for something that is not there.
        cases: cases that can be shown.
        named: those it named.
        hidden: cases that cannot be shown.
        hidden_named: those it named.
        beyond: what it named and rlchecks did not: group, code and whether it can be shown.
    """

    healthy: int = 0
    alarmed: int = 0
    false: int = 0
    cases: int = 0
    named: int = 0
    hidden: int = 0
    hidden_named: int = 0
    beyond: Counter[tuple[str, str, bool]] = field(default_factory=Counter)


def simulated(seen: Seen, found: Found) -> Match:
    """A simulated run in the comparison."""
    truth = seen.truth
    cases = {code: effect.shown for code, effect in truth.must.items() if code in CASES}
    return Match(seen.scenario, seen.healthy, cases, frozenset(truth.must) | truth.may, found)


def labelled(seen: real.Seen) -> Match:
    """A real run in the comparison."""
    cases = {code: True for code in seen.run.must if code in CASES}
    found = Found(frozenset(seen.codes), seen.alarms, {})
    return Match(seen.run.name, seen.run.healthy, cases, seen.run.fine, found)


def score(matches: Sequence[Match], said: Sequence[Iterable[Said]] | None = None) -> Score:
    """Count what a program said of runs; without ``said``, what rlchecks did."""
    total = Score()
    for index, match in enumerate(matches):
        mine = [Said(frozenset({code}), code in match.ours.alarms) for code in match.ours.codes]
        findings = mine if said is None else list(said[index])
        names = frozenset[str]().union(*(one.codes for one in findings))
        total.healthy += match.healthy
        total.alarmed += match.healthy and any(one.alarms for one in findings)
        total.false += not match.healthy and any(
            one.alarms and one.codes and not one.codes & match.fine for one in findings
        )
        for code, shown in match.cases.items():
            total.cases += shown
            total.hidden += not shown
            total.named += shown and code in names
            total.hidden_named += not shown and code in names
            if code in names and code not in match.ours.codes:
                total.beyond[match.group, code, shown] += 1
    return total
