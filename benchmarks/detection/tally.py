"""What was found against what is true: recall, precision, false alarms, onset errors."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from benchmarks.detection.runs import Run
from benchmarks.detection.truth import Truth
from rlchecks.diagnosis import Finding
from rlchecks.diagnosis.finding import Severity


class Found(NamedTuple):
    """What a tool said about a run: codes that it found, those among them that alarm, and onsets."""

    codes: frozenset[str]
    alarms: frozenset[str]
    onset: dict[str, int]


class Seen(NamedTuple):
    """What must be known of a run to count what was found in it: the run itself is large."""

    scenario: str
    healthy: bool
    steps: int
    truth: Truth


def seen(run: Run, truth: Truth) -> Seen:
    """Keep what counts of a run."""
    return Seen(run.scenario, run.healthy, run.setting.steps, truth)


def found(findings: Iterable[Finding]) -> Found:
    """Take the codes out of findings."""
    some = tuple(findings)
    alarms = frozenset(one.code for one in some if one.severity > Severity.INFORMATION)
    onset = {one.code: one.onset_step for one in some if one.onset_step is not None}
    return Found(frozenset(one.code for one in some), alarms, onset)


@dataclass
class Code:
    """Counts of one finding code.

    Attributes:
        true: runs in which it holds and can be shown.
        hit: those in which it came out.
        hidden: runs in which it holds and cannot be shown.
        hidden_hit: those in which it came out all the same.
        said: runs in which it came out.
        wrong: those in which it does not hold.
        least: sizes that could be shown, of the runs in which it holds.
        onset: errors of the onset as shares of the run.
        dated: true cases whose onset is known, whether or not one was reported.
    """

    true: int = 0
    hit: int = 0
    hidden: int = 0
    hidden_hit: int = 0
    said: int = 0
    wrong: int = 0
    least: list[float] = field(default_factory=list)
    onset: list[float] = field(default_factory=list)
    dated: int = 0

    @property
    def recall(self) -> float | None:
        """Share of the true cases that were found."""
        return self.hit / self.true if self.true else None

    @property
    def precision(self) -> float | None:
        """Share of what was said that is true."""
        return 1 - self.wrong / self.said if self.said else None

    @property
    def onset_error(self) -> float | None:
        """Median error of the onset, as a share of the run."""
        return median(self.onset) if self.onset else None

    @property
    def size(self) -> float | None:
        """Median of the sizes that could be shown; None where the noise does not matter."""
        sizes = [least for least in self.least if least > 0]
        return median(sizes) if sizes else None


@dataclass
class Tally:
    """Counts over many runs.

    Attributes:
        codes: finding code to its counts.
        healthy: healthy runs.
        alarmed: those with any warning.
        false: false alarms over all runs, by code.
        where: false alarms by scenario and code.
    """

    codes: dict[str, Code] = field(default_factory=lambda: defaultdict(Code))
    healthy: int = 0
    alarmed: int = 0
    false: Counter[str] = field(default_factory=Counter)
    where: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def alarm_rate(self) -> float:
        """Share of the healthy runs with any warning."""
        return self.alarmed / self.healthy if self.healthy else 0.0


def count(runs: Sequence[Seen], said: Sequence[Found], known: frozenset[str]) -> Tally:
    """Count what was found in runs against what is true of them.

    Args:
        runs: what is true of the runs.
        said: what was found in each.
        known: codes that can come out at all; a profile may not look for all of them.
    """
    tally = Tally()
    for run, result in zip(runs, said, strict=True):
        truth = run.truth
        for code, effect in truth.must.items():
            if code not in known:
                continue
            counts = tally.codes[code]
            counts.least.append(effect.least)
            if not effect.shown:
                counts.hidden += 1
                counts.hidden_hit += code in result.codes
                continue
            counts.true += 1
            counts.hit += code in result.codes
            begun = truth.onset.get(code)
            if begun is not None and code in result.codes:
                counts.dated += 1
                if code in result.onset:
                    counts.onset.append(abs(result.onset[code] - begun) / run.steps)
        for code in result.codes:
            tally.codes[code].said += 1
            tally.codes[code].wrong += truth.wrong(code)
        false = {code for code in result.alarms if run.healthy or truth.wrong(code)}
        tally.false.update(false)
        tally.where.update((run.scenario, code) for code in false)
        tally.healthy += run.healthy
        tally.alarmed += run.healthy and bool(result.alarms)
    return tally
