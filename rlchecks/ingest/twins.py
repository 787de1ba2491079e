"""One run that was logged twice, in two formats: its rewards agree, though not to the last digit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rlchecks.run import rows_of

FEWEST = 5
"""Steps that must agree, and different rewards among them: chance does not bring that about."""

_SHOWN = 16
# Trainers print four significant digits, or four decimals; trackers store single precision.
_RELATIVE, _ABSOLUTE = 5.1e-4, 5.1e-5


class Sketch(NamedTuple):
    """What is compared first: how many rewards a run logged, the first 16 and the last 16."""

    steps: int
    first: tuple[float, ...]
    last: tuple[float, ...]


class Twin(NamedTuple):
    """Another run with the same rewards: its id, how many the shorter log has, and how many the longer."""

    original: str
    shorter: int
    longer: int

    @property
    def remark(self) -> str:
        """What a person should know."""
        if self.shorter == self.longer:
            return f"the same rewards as {self.original}: probably one run logged twice"
        both = f"the same rewards as {self.original} in the {self.shorter} steps that both have (of {self.longer})"
        return f"{both}: probably one run logged twice, or begun again"


def rewards_of(steps: pa.Table) -> NDArray[np.float64]:
    """Return the logged rewards of a run's training rows, in their order."""
    rows = rows_of(steps, "train")
    return np.asarray(rows["reward"].drop_null().to_numpy(), dtype=np.float64)


def sketch(steps: pa.Table) -> Sketch:
    """Return the sketch of a run's rewards."""
    rewards = rewards_of(steps)
    return Sketch(len(rewards), tuple(rewards[:_SHOWN].tolist()), tuple(rewards[-_SHOWN:].tolist()))


def agree(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether two series are one: the shorter is the beginning of the other, and it says enough to tell."""
    length = min(len(one), len(other))
    one, other = one[:length], other[:length]
    return _telling(one) and _telling(other) and bool(_close(one, other, _scale(one)).all())


def find_twins(
    sketches: Mapping[str, Sketch],
    places: Mapping[str, object],
    rewards: Callable[[Sequence[str]], Mapping[str, NDArray[np.float64]]],
) -> dict[str, Twin]:
    """Find the runs that log the rewards of another one.

    Args:
        sketches: run id to its sketch.
        places: run id to the file or directory it was read from. Runs of one place are known to be different ones,
            such as a run that was begun again with the same seed.
        rewards: returns all rewards of some runs; it is asked only for those whose sketches agree.

    Returns:
        Run id to the longest run with the same rewards; of equal ones to the first, in the order of ``sketches``.
    """
    ids = sorted(sketches, key=lambda run_id: -sketches[run_id].steps)
    pairs = [(ids[late], ids[early]) for late, early in _candidates([sketches[run_id] for run_id in ids])]
    pairs = [(late, early) for late, early in pairs if places[late] != places[early]]
    series = rewards(sorted({run_id for pair in pairs for run_id in pair})) if pairs else {}
    twins: dict[str, Twin] = {}
    for late, early in pairs:
        if not {late, early} & twins.keys() and {late, early} <= series.keys() and agree(series[late], series[early]):
            lengths = sorted((len(series[late]), len(series[early])))
            twins[late] = Twin(early, *lengths)
    return twins


def _candidates(sketches: Sequence[Sketch]) -> list[tuple[int, int]]:
    """Pairs of places, the later first, whose sketches agree."""
    width = max((len(one.first) for one in sketches), default=0)
    table = np.full((len(sketches), width), np.nan)
    for place, one in enumerate(sketches):
        table[place, : len(one.first)] = one.first
    counts = np.array([len(one.first) for one in sketches])
    pairs = []
    for late in range(1, len(sketches)):
        scale = _scale(table[late])
        # One value first: nearly all runs differ in it.
        near = np.flatnonzero(_close(table[:late, 0], table[late, 0], scale)) if width else np.empty(0, dtype=np.int64)
        shared = np.minimum(counts[near], counts[late])
        same = _close(table[near], table[late], scale) | (np.arange(width) >= shared[:, None])
        agreed = near[same.all(axis=1) & (shared >= FEWEST)]
        pairs += [(late, int(early)) for early in agreed if _may_be(sketches[late], sketches[early])]
    return pairs


def _may_be(one: Sketch, other: Sketch) -> bool:
    """Whether the ends agree, too, if the runs are of one length; and whether all that says enough."""
    shown = np.array(one.first)
    if one.steps == other.steps:
        ends = np.array(one.last)
        if not _close(ends, np.array(other.last), _scale(ends)).all():
            return False
        shown = np.concatenate([shown, ends])
    return _telling(shown)


def _telling(series: NDArray[np.float64]) -> bool:
    """Whether there are enough different rewards, told apart as well as printed ones can be."""
    scale = _scale(series)
    if not scale:
        return False
    grain = 2 * (_RELATIVE * scale + _ABSOLUTE * min(scale, 1))
    return len(np.unique(np.round(series[np.isfinite(series)] / grain))) >= FEWEST


def _scale(series: NDArray[np.float64]) -> float:
    """The largest finite size in a series, 0 if there is none."""
    return float(np.abs(series[np.isfinite(series)]).max(initial=0))


def _close(one: NDArray[np.float64], other: NDArray[np.float64], scale: float) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(one), np.abs(other))
        near = (np.abs(one - other) <= _RELATIVE * size + _ABSOLUTE * min(scale, 1)) & np.isfinite(size)
    close: NDArray[np.bool_] = near | (one == other) | (np.isnan(one) & np.isnan(other))
    return close
