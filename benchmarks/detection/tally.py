"""What was found against what is true: recall, precision, false alarms, onset errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from benchmarks.detection.scenarios import HEALTHY, Run
from rlchecks.diagnosis import Finding
from rlchecks.diagnosis.finding import Severity


class Found(NamedTuple):
    """What a tool said about a run: codes that it found, those among them that alarm, and onsets."""

    codes: frozenset[str]
    alarms: frozenset[str]
    onset: dict[str, int]


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
        true: runs in which it must come out and can be shown.
        hit: those in which it came out.
        hidden: runs in which it holds and cannot be shown.
        said: runs in which it came out.
        wrong: those in which it neither must nor may.
        onset: errors of the onset as shares of the run.
    """

    true: int = 0
    hit: int = 0
    hidden: int = 0
    said: int = 0
    wrong: int = 0
    onset: list[float] = field(default_factory=list)

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


@dataclass
class Tally:
    """Counts over many runs.

    Attributes:
        codes: finding code to its counts.
        healthy: healthy runs.
        alarmed: those with any warning.
        alarms: scenario to the codes of false alarms in it, over all runs.
    """

    codes: dict[str, Code] = field(default_factory=lambda: defaultdict(Code))
    healthy: int = 0
    alarmed: int = 0
    alarms: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def count(runs: Sequence[Run], said: Sequence[Found], known: frozenset[str]) -> Tally:
    """Count what was found in runs against what is true of them.

    Args:
        runs: simulated runs.
        said: what was found in each.
        known: codes that can come out at all; a profile may not look for all of them.
    """
    tally = Tally()
    for run, result in zip(runs, said, strict=True):
        truth = run.truth
        fine = truth.must | truth.may
        for code in truth.must & known:
            if not truth.shown:
                tally.codes[code].hidden += 1
                continue
            tally.codes[code].true += 1
            tally.codes[code].hit += code in result.codes
            begun = (truth.onset or {}).get(code)
            if begun is not None and code in result.onset:
                tally.codes[code].onset.append(abs(result.onset[code] - begun) / run.setting.steps)
        for code in result.codes:
            tally.codes[code].said += 1
            tally.codes[code].wrong += code not in fine
        false = result.alarms - fine
        tally.alarms[run.scenario] += sorted(false)
        if run.scenario in HEALTHY:
            tally.healthy += 1
            tally.alarmed += bool(result.alarms - truth.must)
    return tally
