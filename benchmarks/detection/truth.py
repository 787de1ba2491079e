"""What is true of a simulated run: which findings hold in its course, and whether its log can show them.

The course is what the policy did, without noise. A finding *must* come out where its effect exceeds the size that
the number of rows and their noise can show; it is *wrong* where the course does not have the effect, and in between
it may come out. The sizes that matter are those of the definitions of the findings; how a finding is made from the
noisy log is not used here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from benchmarks.detection.runs import Run
from benchmarks.detection.world import Floats
from rlchecks.diagnosis import CODES

RISE = 0.05
"""Smallest change of the reward, as a share of its scale, that counts as one."""

SLIGHT = 0.02
"""True change of the reward, as a share of its scale, under which it stood still."""

SCORE = 4.0
"""Standard errors by which the late fifth of the rows must differ from the early fifth before a change must be
found: at a two-sided 5 % and a power of 95 % a plain comparison of two means needs 3.6."""

ONE_SIDED = 1.645
EXCLUDED = 0.15
"""A standstill must be found where the rows can exclude a change of this share of the scale."""

PRICE = 0.3
"""Gain as a share of the scale that a nat of KL brings in sound runs at least: they have 1 to 25."""

EDGE = 2.0
"""Standard errors by which a level must lie beyond a limit: 98 % of its estimates do."""

FORM = frozenset({"format", "xml", "structure"})


class Effect(NamedTuple):
    """Size of an effect, and the size that the rows and their noise can show, in the same unit."""

    size: float
    least: float

    @property
    def shown(self) -> bool:
        """Whether the effect can be shown."""
        return self.size >= self.least


SURE = Effect(1.0, 0.0)
"""Something that is either in the log or not, whatever the noise."""


@dataclass
class Truth:
    """What is true of a run.

    Attributes:
        must: findings that hold, with the size of their effect.
        may: findings that may come out besides.
        onset: finding to the step at which it began.
    """

    must: dict[str, Effect] = field(default_factory=dict)
    may: set[str] = field(default_factory=set)
    onset: dict[str, int] = field(default_factory=dict)

    def wrong(self, code: str) -> bool:
        """Whether it would be wrong to say this."""
        return code not in self.must and code not in self.may


def truth_of(run: Run) -> Truth:
    """Tell what is true of a run."""
    seen = Seen(run)
    truth = Truth(onset={code: max(1, round(share * run.setting.steps)) for code, share in run.begins.items()})
    for judge in JUDGES:
        judge(seen, truth)
    truth.may.add("inconclusive")
    # What speaks against a rise withholds `learning`, and so may what could be found to do so.
    against = {"length_collapse", "length_with_reward", "kl_without_gain", "starved_floor", "diverged"}
    if "learning" in truth.must and (against & (truth.must.keys() | truth.may) or seen.lasting):
        truth.may.add("learning")
        del truth.must["learning"]
    assert truth.must.keys() | truth.may <= set(CODES)
    return truth


class Seen:
    """The course of a run in numbers; rewards as shares of the scale that the log lets one infer."""

    def __init__(self, run: Run) -> None:
        setting, log = run.setting, run.log
        self.run, self.setting, self.policy = run, setting, run.policy
        self.lasting = any(where.stop is None for where, _ in run.policy.override.values())
        sound = len(log.step)
        if self.lasting:
            sound = min(where.start for where, _ in run.policy.override.values() if where.stop is None) // setting.every
        self.course = {name: values[:sound] for name, values in log.course.items()}
        self.rows = sound
        self.fifth = max(1, round(0.2 * sound))
        self.scored = sound - int(log.null["reward"][:sound].sum()) if "reward" in log.null else sound
        self.low, self.width, self.inferred = _scale(run)
        self.noise = log.noise.get("reward", 0.0) / self.width
        self.inflation = (1 + setting.row_rho) / (1 - setting.row_rho)
        rewards = self.course["reward"]
        self.gain = self.change("reward") / self.width
        self.change_all = _line(rewards) / self.width
        self.change_late = _line(rewards[sound // 2 :]) / self.width
        self.change_first = _line(rewards[: sound // 2]) / self.width
        self.first_rise = (self.late("reward") - float(rewards[:3].mean())) / self.width if sound >= 15 else 0.0
        self.end = (self.late("reward") - setting.low) / (setting.high - setting.low)
        self.error = self.noise * np.sqrt(self.inflation * 2 / self.fifth)
        spread = log.columns.get("reward_std")
        self.effect = float(np.nanmean(spread)) / self.width if spread is not None else 0.0
        self.least_gain = max(1.3 * RISE, 0.2 * self.effect, SCORE * self.error)

    def early(self, name: str) -> float:
        return float(self.course[name][: self.fifth].mean())

    def late(self, name: str) -> float:
        return float(self.course[name][-self.fifth :].mean())

    def change(self, name: str) -> float:
        return self.late(name) - self.early(name)

    def error_of(self, name: str) -> float:
        """Standard error of a metric's late mean."""
        return self.run.log.noise.get(name, 0.0) * float(np.sqrt(self.inflation / self.fifth))

    def logged(self, name: str) -> bool:
        return name in self.run.log.columns

    def line_error(self, rows: int) -> float:
        """Standard error of the change over some rows by a line through them, as a share of the scale."""
        return float(self.noise * np.sqrt(12 / max(rows, 2) * self.inflation))


def _scale(run: Run) -> tuple[float, float, bool]:
    """Lower end and width of the reward's range, declared or as the logged rewards suggest it, and whether inferred."""
    reward = run.log.columns["reward"]
    finite = reward[np.isfinite(reward)]
    if run.setting.declared or not len(finite):
        return run.setting.low, run.setting.high - run.setting.low, False
    if finite.min() >= 0 and finite.max() <= 1:
        return 0.0, 1.0, False
    spread = run.log.columns.get("reward_std")
    high = reward >= np.quantile(finite, 0.8)
    top = finite.max() + (float(np.nanmean(spread[high])) if spread is not None else 0.0)
    low = float(min(finite.min(), 0))
    return low, float(max(top, 0)) - low, True


def _line(values: Floats) -> float:
    """Change over the values by the least-squares line through them."""
    if len(values) < 2:
        return 0.0
    return float(np.polyfit(np.linspace(0, 1, len(values)), values, 1)[0])


# ---------------------------------------------------------------- one judge for each group of findings


def _rows(seen: Seen, truth: Truth) -> None:
    if seen.scored < 10:
        truth.must["too_short"] = SURE
    planned = seen.run.planned
    if planned is not None and seen.setting.steps < 0.95 * planned:
        truth.must["ended_early"] = SURE


def _broken(seen: Seen, truth: Truth) -> None:
    if any(name in seen.run.log.columns for name in seen.policy.override):
        truth.must["non_finite"] = SURE


def _lost(seen: Seen, truth: Truth) -> None:
    """Rewards that were lost, not those of rows between that have none."""
    lost = seen.policy.lost
    if lost is None or not seen.scored:
        return
    ends = np.flatnonzero(np.diff(lost[: seen.rows].astype(int), prepend=0, append=0))
    stretch = int(np.max(ends[1::2] - ends[::2], initial=0))
    if stretch >= 0.07 * seen.rows or lost.mean() >= 0.25:
        truth.may.add("rewards_missing")
    if stretch >= max(5, 0.1 * seen.rows):
        truth.must["rewards_missing"] = SURE


def _reward(seen: Seen, truth: Truth) -> None:
    if seen.scored < 10:
        return
    if seen.gain >= SLIGHT:
        truth.may.add("learning")
    if seen.gain >= RISE:
        truth.must["learning"] = Effect(seen.gain, seen.least_gain)
    _fall(seen, truth)
    alike = seen.late("zero_std_fraction")
    still = np.ptp(seen.course["reward"]) / seen.width < SLIGHT
    if abs(seen.gain) < EXCLUDED:
        truth.may.add("no_trend")
    if still and alike < 0.65 and seen.rows >= 20:
        truth.must["no_trend"] = Effect(EXCLUDED, 2 * ONE_SIDED * seen.line_error(seen.scored))


def _fall(seen: Seen, truth: Truth) -> None:
    """A fall over the whole run, over its second half, or at once to the floor."""
    width = _window(seen)
    falls = -_moves(seen.course["reward"], width) / seen.width if seen.rows >= 20 else np.zeros(1)
    if seen.gain <= -SLIGHT or seen.change_late <= -SLIGHT or falls.max() >= 0.2:
        truth.may.add("reward_falling")
    effects = [Effect(-seen.gain, seen.least_gain)] if seen.gain <= -RISE else []
    if seen.change_late <= -EXCLUDED and seen.rows >= 40:
        # Twice the usual score: the few rows of one half must also tell how noisy they are.
        error = 2 * SCORE * seen.line_error(seen.rows // 2)
        effects.append(Effect(-seen.change_late, max(1.3 * EXCLUDED, error)))
    at_floor = (seen.course["reward"][-3:].mean() - seen.setting.low) / (seen.setting.high - seen.setting.low) <= 0.1
    whole = falls.max() * seen.width >= 0.8 * np.ptp(seen.course["reward"])
    if falls.max() >= 0.3 and at_floor and whole:
        error = seen.noise * np.sqrt(2 / width)
        effects.append(Effect(float(falls.max()), float(max(0.3 + EDGE * error, 8 * error))))
    if effects:
        truth.must["reward_falling"] = max(effects, key=lambda effect: effect.shown)


def _window(seen: Seen) -> int:
    """Rows of each of two neighbouring windows between which the reward may jump."""
    return max(3 if seen.setting.prompts > 1 else 5, round(0.06 * seen.rows))


def _moves(rewards: Floats, width: int) -> Floats:
    """Differences of the means of neighbouring windows."""
    sums = np.concatenate([[0.0], np.cumsum(rewards)])
    return np.asarray((sums[2 * width :] - 2 * sums[width:-width] + sums[: -2 * width]) / width)


def _jump(seen: Seen, truth: Truth) -> None:
    if seen.rows < 20:
        return
    width, rewards = _window(seen), seen.course["reward"]
    size = float(_moves(rewards, width).max()) / seen.width
    if size >= 0.2:
        truth.may.add("sudden_reward")
    whole = size * seen.width >= 0.8 * np.ptp(rewards)
    if size >= 0.3 and seen.end >= 0.85 and whole:
        error = seen.noise * np.sqrt(2 / width)
        truth.must["sudden_reward"] = Effect(size, max(0.3 + EDGE * error, 8 * error))


def _starved(seen: Seen, truth: Truth) -> None:
    measured = "zero_std_fraction" if seen.logged("zero_std_fraction") else None
    alike = seen.late("zero_std_fraction")
    if alike < 0.65:
        return
    rose = seen.gain >= RISE or seen.first_rise >= 0.1
    floor, ceiling = seen.end <= 0.2, seen.end >= 0.7
    unsure = not seen.setting.declared and (seen.setting.low, seen.setting.high) != (0.0, 1.0)
    truth.may |= {"starved_floor"} if floor else set()
    truth.may |= {"saturated" if rose else "starved_ceiling"} if ceiling else set()
    truth.may |= {"starved"} if 0.1 < seen.end < 0.9 or unsure else set()
    truth.may |= {"starved_ceiling"} if unsure and not floor else set()
    truth.may |= {"starved_floor"} if unsure and not np.ptp(seen.run.log.columns["reward"]) else set()
    if measured is None:
        return
    effect = Effect(alike, 0.8 + EDGE * seen.error_of(measured))
    sure = not unsure or seen.setting.low == 0
    if seen.end <= 0.1:
        truth.must["starved_floor"] = effect
    elif seen.end >= 0.95 and sure and rose:
        error = seen.noise * np.sqrt(1 / 3)
        risen = Effect(seen.gain, seen.least_gain)
        if not risen.shown:
            risen = Effect(seen.first_rise, max(0.1 + EDGE * error, 6 * error))
        truth.must["saturated"] = risen if effect.shown else effect
    elif seen.end >= 0.95 and sure and seen.gain < SLIGHT:
        truth.must["starved_ceiling"] = effect
    elif 0.25 <= seen.end <= 0.65 and not unsure and seen.gain < SLIGHT:
        truth.must["starved"] = effect


def _length(seen: Seen, truth: Truth) -> None:
    if seen.scored < 10:
        return
    early, late = seen.early("mean_length"), seen.late("mean_length")
    growth = late / early
    relative = growth * float(np.hypot(seen.error_of("mean_length") / early, seen.error_of("mean_length") / late))
    grown = Effect(growth, 1.35 + EDGE * relative)
    rose = seen.gain >= seen.least_gain
    if growth >= 1.2:
        truth.may |= {"length_with_reward"} if seen.gain >= SLIGHT else set()
        truth.may |= {"length_growth"} if not rose else set()
        if seen.gain >= RISE:
            both = Effect(seen.gain, seen.least_gain) if grown.shown else grown
            truth.must |= {"length_with_reward": both} if growth >= 1.35 else {}
        elif seen.gain < SLIGHT and growth >= 1.35:
            truth.must["length_growth"] = grown
    if growth <= 0.5:
        truth.may |= {"length_collapse"} if not rose or growth <= 0.2 or late < 4 else set()
        if growth <= 0.35 and (seen.gain < SLIGHT or growth <= 0.12):
            truth.must["length_collapse"] = Effect(1 - growth, 0.65 + EDGE * relative)
    last = float(seen.course["mean_length"][-max(5, round(0.05 * seen.rows)) :].mean()) / early
    if last <= 0.25:
        truth.may.add("length_collapse")
    if last <= 0.12:
        # A median of a quarter as many rows as are late has some 2.5 times the error of their mean.
        truth.must.setdefault("length_collapse", Effect(1 - last, 0.85 + EDGE * 2.5 * last * relative / growth))


def _cut(seen: Seen, truth: Truth) -> None:
    share = seen.late("clipped_ratio")
    if seen.policy.second_stop or not seen.logged("clipped_ratio") or seen.scored < 5:
        return
    if share >= 0.18:
        truth.may.add("answers_clipped")
    if share >= 0.25:
        truth.must["answers_clipped"] = Effect(share, 0.25 + EDGE * seen.error_of("clipped_ratio"))


def _drift(seen: Seen, truth: Truth) -> None:
    if not seen.logged("kl") or seen.scored < 20:
        return
    half = seen.course["kl"][seen.rows // 2 :]
    part = max(1, len(half) // 5)
    # Medians: a spike is no climb.
    climb, end = float(np.median(half[-part:]) - np.median(half[:part])), seen.late("kl")
    steady = seen.change_late >= SLIGHT and seen.change_late >= 0.5 * seen.change_first
    if climb < 0.05 or climb < 0.1 * end or seen.change_late >= RISE or steady:
        return
    truth.may.add("kl_without_gain")
    if climb >= 0.13 and climb >= 0.25 * end and abs(seen.change_late) < SLIGHT:
        # The bound must lie under what is to be excluded, and the estimate under the smallest rise.
        error, size = ONE_SIDED * seen.line_error(len(half)), min(EXCLUDED, PRICE * climb)
        truth.must["kl_without_gain"] = Effect(size, max(2 * error, error * size / RISE))


def _entropy(seen: Seen, truth: Truth) -> None:
    ratio, end = seen.late("entropy") / seen.early("entropy"), seen.late("entropy")
    if not seen.logged("entropy") or ratio > 0.2 or end > 0.2 or seen.gain < SLIGHT or seen.scored < 10:
        return
    truth.may.add("entropy_collapse")
    if ratio <= 0.08 and end <= 0.08 and seen.gain >= RISE and seen.end <= 0.65:
        truth.must["entropy_collapse"] = Effect(seen.gain, seen.least_gain)


def _diverged(seen: Seen, truth: Truth) -> None:
    growth = seen.late("entropy") / seen.early("entropy") if seen.logged("entropy") else 1.0
    still = seen.late("grad_norm") == 0
    if seen.gain > -SLIGHT or seen.end > 0.2 or not (growth >= 1.5 or still):
        return
    truth.may.add("diverged")
    if seen.end <= 0.1 and (growth >= 2.5 or still):
        truth.must["diverged"] = Effect(-seen.gain, seen.least_gain)


def _functions(seen: Seen, truth: Truth) -> None:
    if seen.policy.other is None or seen.policy.other_name not in FORM or seen.gain < SLIGHT or seen.scored < 10:
        return
    share = (seen.setting.high - seen.setting.low) / seen.width
    others = (1 - seen.policy.other_weight) * seen.change("reward/correct") * share
    if others >= max(RISE, 0.2 * seen.gain):
        return
    truth.may.add("format_only")
    if others < SLIGHT / 2 and seen.gain >= RISE:
        truth.must["format_only"] = Effect(seen.gain, seen.least_gain)


def _validation(seen: Seen, truth: Truth) -> None:
    checks = seen.run.checks
    if checks is None or len(checks.score) < 3:
        return
    third = max(1, len(checks.score) // 3)
    gain = float(checks.course[-third:].mean() - checks.course[:third].mean()) / seen.width
    error = checks.error * float(np.sqrt(2 / third)) / seen.width
    if gain >= 0.04:
        truth.may |= {"validation_rising", "earlier_checkpoint_as_good"}
    start = (checks.course[0] - seen.setting.low) / (seen.setting.high - seen.setting.low)
    # Seven checks are the fewest of which a rank test can say something although one of them is out of order.
    if gain >= 0.1 and start <= 0.5 and len(checks.score) >= 7:
        truth.must["validation_rising"] = Effect(gain, max(0.1 + EDGE * error, SCORE * error))
    place = checks.step / seen.setting.steps
    stopped = float(place[np.argmax(checks.course >= checks.course[-1])])
    if gain >= RISE and stopped <= 0.6 and len(checks.score) >= 6:
        least = SCORE * _last_quarter(place, stopped, checks.error / seen.width)
        truth.must["earlier_checkpoint_as_good"] = Effect(RISE, least)
    if seen.gain >= SLIGHT and gain < 0.4 * seen.gain and start < 0.95:
        truth.may.add("validation_flat")
        # Where the scale is inferred, checks above the training rewards may have no room to rise.
        room = (checks.course[0] - seen.low) / seen.width <= 0.55 if seen.inferred else start <= 0.9
        if gain < SLIGHT / 2 and seen.gain >= RISE and len(checks.score) >= 6 and room:
            # Half of the training gain must be excluded by a limit from few checks, whose noise is estimated.
            shown = Effect(0.5 * seen.gain, (stdtrit(len(checks.score) - 2, 0.975) + ONE_SIDED) * error)
            truth.must["validation_flat"] = Effect(seen.gain, seen.least_gain) if shown.shown else shown


def _last_quarter(place: Floats, bend: float, error: float) -> float:
    """Standard error of what a line that bends at a place leaves to be gained in the last quarter of the run."""
    design = np.column_stack([np.ones_like(place), np.minimum(place, bend), np.maximum(place - bend, 0)])
    slope = np.linalg.inv(design.T @ design)[2, 2]
    return float((1 - place[place <= 0.75].max()) * error * np.sqrt(slope))


JUDGES: tuple[Callable[[Seen, Truth], None], ...] = (
    _rows,
    _broken,
    _lost,
    _reward,
    _jump,
    _starved,
    _length,
    _cut,
    _drift,
    _entropy,
    _diverged,
    _functions,
    _validation,
)
