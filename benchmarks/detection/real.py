"""The labelled real runs, read where they lie: the part of the measurement that no simulator can bend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlchecks.diagnosis import Severity
from rlchecks.diagnosis.parameters import Parameters
from rlchecks.errors import RlchecksError
from rlchecks.readers import read_run
from rlchecks.run import RunLog
from rlchecks.stages import examine

Codes = frozenset[str]

OURS: dict[str, tuple[tuple[str, ...], Codes]] = {
    **dict.fromkeys(("healthy-s1", "healthy-kl-s4", "old-healthy-kl", "mid-healthy-kl"), (("learning",), frozenset())),
    **dict.fromkeys(("resumed", "restarted", "two-rewards-conv-eval", "reward-none"), (("learning",), frozenset())),
    "defaults-grad-accum": (("too_short",), frozenset()),
    "starved-floor": (("starved_floor",), frozenset()),
    "starved-ceiling": (("starved_ceiling",), frozenset()),
    "length-hack-s6": (("length_with_reward", "answers_clipped"), frozenset()),
    "clipped": (("answers_clipped",), frozenset({"length_with_reward"})),
    "kl-drift": (("kl_without_gain",), frozenset()),
    "collapse-flat": (("length_collapse",), frozenset()),
    "hack-lazy-s30": (("learning|kl_without_gain",), frozenset({"kl_without_gain"})),
    "nan-survives": (("non_finite",), frozenset({"starved_floor", "answers_clipped", "diverged"})),
    "nan-crash": (("ended_early",), frozenset()),
    "reward-inf": (("non_finite",), frozenset()),
}
"""Runs of TRL on a toy task: findings that must come out (``a|b``: either), and alarms that may besides."""

PUBLIC: dict[str, tuple[tuple[str, ...], Codes]] = {
    "learning": (("learning",), frozenset()),
    "saturated": (("learning|saturated",), frozenset()),
    "clipped": (("answers_clipped",), frozenset()),
    "starved-floor": (("starved_floor",), frozenset({"answers_clipped"})),
    "starved-ceiling": (("starved_ceiling",), frozenset({"answers_clipped"})),
    "noisy-inconclusive": ((), frozenset()),
}
"""The same by the label of a public file, read off its numbers by hand."""

TOO_SHORT = 20
"""Rows under which a public file is too short for its label: then nothing must come out."""


@dataclass(frozen=True)
class RealRun:
    """A labelled real run.

    Attributes:
        name: directory or file below the data.
        label: what it is known to be.
        must: findings that must come out; ``a|b``: either.
        may: alarms that may come out besides.
        log: the run; None if it could not be read.
        refused: why.
    """

    name: str
    label: str
    must: tuple[str, ...]
    may: Codes
    log: RunLog | None
    refused: str = ""

    @property
    def healthy(self) -> bool:
        """Whether any alarm would be false."""
        return not self.may and not self.fine - {"learning", "saturated", "too_short", "ended_early"}

    @property
    def fine(self) -> Codes:
        """Codes that are true of it."""
        return self.may | {code for either in self.must for code in either.split("|")}


@dataclass(frozen=True)
class Seen:
    """What was found in a real run, and whether that is what its label asks for."""

    run: RealRun
    codes: tuple[str, ...]
    alarms: Codes

    @property
    def missed(self) -> tuple[str, ...]:
        """Findings that must come out and did not."""
        return tuple(either for either in self.run.must if not set(either.split("|")) & set(self.codes))

    @property
    def false(self) -> Codes:
        """Alarms that the label does not allow."""
        return self.alarms - self.run.fine


def runs(data: Path) -> Iterator[RealRun]:
    """Read the labelled runs: the directories of ``trl``, and the files of the table in ``public/README.md``."""
    for name, (must, may) in OURS.items():
        yield _read(data / "trl" / name, f"trl/{name}", "-", must, may)
    for line in (data / "public" / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        label = cells[3].split(" ")[0] if len(cells) > 3 else ""
        if label in PUBLIC:
            short = not cells[2].isdigit() or int(cells[2]) < TOO_SHORT
            must, may = ((), PUBLIC[label][1] | set(PUBLIC[label][0])) if short else PUBLIC[label]
            yield _read(data / "public" / cells[0], f"public/{cells[0]}", label, must, may)


def _read(path: Path, name: str, label: str, must: tuple[str, ...], may: Codes) -> RealRun:
    try:
        return RealRun(name, label, must, may, read_run(path))
    except RlchecksError as error:
        return RealRun(name, label, must, may, None, str(error))


def look(run: RealRun, parameters: Parameters) -> Seen:
    """Diagnose a real run."""
    if run.log is None:
        return Seen(run, (), frozenset())
    findings = examine(run.log, parameters).findings
    alarms = frozenset(one.code for one in findings if one.severity > Severity.INFORMATION)
    return Seen(run, tuple(one.code for one in findings), alarms)
