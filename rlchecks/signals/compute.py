"""From the steps table of many runs to the signals table: one row per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rlchecks.metrics import METRICS
from rlchecks.schema import VALIDATION
from rlchecks.signals import answers, components, finite, missing, reward, validation
from rlchecks.signals.arrays import Flags, Floats, Integers, divide
from rlchecks.signals.catalogue import SIGNALS, Kind
from rlchecks.signals.panel import Panel

if TYPE_CHECKING:
    from rlchecks.run import RunLog

Value = float | int | bool | str | None

METRICS_READ = tuple(METRICS)
"""The metrics that the signals need: every canonical one, for literal NaN and infinity."""

COLUMNS_READ = ("run_id", "split", "step", *METRICS_READ, "extra")
"""The columns of the ``steps`` table that the signals need; ``extra`` holds the reward functions."""

_ANSWERS = ("reward", "reward_std", "zero_std_fraction", "clipped_ratio", "mean_length", "kl", "entropy")
_TYPES: dict[Kind, pa.DataType] = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "flag": pa.bool_(),
    "text": pa.string(),
}

SCHEMA = pa.schema(
    [
        pa.field("run_id", pa.string(), nullable=False),
        *(pa.field(signal.name, _TYPES[signal.kind]) for signal in SIGNALS.values()),
    ]
)
"""Schema of the signals table."""


@dataclass(frozen=True)
class RunFacts:
    """What the signals need to know of a run beside its steps.

    Attributes:
        run_id: the run.
        last_step: last step of the whole run; the steps table given may end earlier, at a candidate.
        planned_steps: steps it was configured for, if known.
        repeated_steps: logged rows that repeated an earlier step.
        reward_range: the reward's declared range, if there is one.
        unreadable: canonical metrics that were logged and could not be read.
        kl_semantics: what ``kl`` is where it is not the mean per token: ``sum_per_sequence``.
    """

    run_id: str
    last_step: int | None = None
    planned_steps: int | None = None
    repeated_steps: int = 0
    reward_range: tuple[float, float] | None = None
    unreadable: str | None = None
    kl_semantics: str | None = None


def facts_of(run: RunLog, reward_range: tuple[float, float] | None = None) -> RunFacts:
    """Take the facts that the signals need from a run log."""
    from pyarrow.compute import max as largest

    return RunFacts(
        run.run_id,
        largest(run.steps["step"]).as_py() if run.steps.num_rows else None,
        run.planned_steps,
        run.repeated_steps,
        reward_range,
        run.facts.get("metrics_unreadable"),
        run.facts.get("kl_semantics"),
    )


def compute(steps: pa.Table, facts: Sequence[RunFacts], checks: pa.Table | None = None) -> pa.Table:
    """Compute every signal of every run.

    Args:
        steps: rows of :data:`rlchecks.schema.STEPS` of the runs, in any order.
        facts: the runs wanted, in the order of the result.
        checks: rows of :data:`rlchecks.schema.VALIDATION` of the runs.

    Returns:
        a table with :data:`SCHEMA`, one row per entry of ``facts``; a signal that cannot be computed is null.
    """
    if not facts:
        return SCHEMA.empty_table()
    run_ids = tuple(fact.run_id for fact in facts)
    panel = Panel.from_steps(steps, run_ids, METRICS_READ)
    panel = panel.keep(_with_answers(panel))
    broken = finite.broken_rows(panel)
    columns = _counts(panel, facts) | _breakdowns(panel, broken)
    # What a broken policy logs says nothing about level and trend, so those are taken from the rows before.
    sound = panel.keep(panel.position < finite.lasting_from(panel, broken)[panel.run])
    columns |= missing.signals(panel, sound)
    # Where no reward was scored, TRL logs a zero-std fraction of 0.0 in its place.
    scored = np.isfinite(sound.values["reward"])
    sound.values["zero_std_fraction"] = np.where(scored, sound.values["zero_std_fraction"], np.nan)
    doubtful = answers.doubtful(sound)
    sound.values["clipped_ratio"] = np.where(doubtful[sound.run], np.nan, sound.values["clipped_ratio"])
    columns["clipped_ratio_doubtful"] = doubtful.astype(np.float64)
    sound.values["kl"] = _per_token(sound, facts)
    limits = reward.scale(sound, [fact.reward_range for fact in facts])
    columns["n_reward_rows"] = sound.count(scored)
    found = validation.gather(VALIDATION.empty_table() if checks is None else checks, run_ids)
    # A run without a training reward is placed on the scale of its validation checks.
    limits_of_checks = validation.scale(found, limits)
    columns |= {"scale_low": limits_of_checks.low, "scale_high": limits_of_checks.high}
    columns["scale_basis"] = list(limits_of_checks.basis)
    rewards = reward.signals(sound, limits)
    columns |= rewards
    columns |= components.signals(steps, run_ids, limits)
    columns |= answers.spread(sound, limits)
    columns |= answers.cut(sound)
    columns |= answers.length(sound, limits, rewards["reward_end"])
    columns |= answers.divergence(sound, rewards["reward_knee"])
    columns |= answers.stability(sound)
    columns |= validation.signals(found, limits_of_checks, sound)
    arrays = [pa.array(run_ids, pa.string())]
    arrays += [_array(columns[signal.name], signal.kind) for signal in SIGNALS.values()]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def rows(table: pa.Table) -> list[dict[str, Value]]:
    """The signals table as one mapping per run."""
    result: list[dict[str, Value]] = table.to_pylist()
    return result


Column = Floats | Integers | list[str | None] | list[float | int | str | None]


def _with_answers(panel: Panel) -> Flags:
    """Rows that carry any metric of the answers: other rows are timings or evaluations of a sparse log."""
    present = np.zeros(len(panel.run), dtype=bool)
    for metric in _ANSWERS:
        present |= np.isfinite(panel.values[metric]) | panel.broken[metric]
    # A row whose reward was lost still is a step of the run; a gradient shows that one was made.
    return present | np.isfinite(panel.values["grad_norm"]) | panel.broken["grad_norm"]


def _per_token(panel: Panel, facts: Sequence[RunFacts]) -> Floats:
    """KL in nats per token; sums over the sequence are divided by its mean length, and unknown without one."""
    summed = np.array([(fact.kl_semantics or "").startswith("sum_per_sequence") for fact in facts])
    kl, tokens, here = panel.values["kl"], panel.values["mean_length"], summed[panel.run]
    return np.where(here, divide(kl, tokens, where=here & (tokens >= 1)), kl)


def _counts(panel: Panel, facts: Sequence[RunFacts]) -> dict[str, Column]:
    step = np.full(len(facts), np.nan)
    first, last = step.copy(), step.copy()
    filled = panel.size > 0
    first[filled] = panel.step[panel.start[filled]]
    last[filled] = panel.step[(panel.start + panel.size - 1)[filled]]
    planned = np.array([np.nan if fact.planned_steps is None else fact.planned_steps for fact in facts])
    whole = np.array([np.nan if fact.last_step is None else fact.last_step for fact in facts])
    whole = np.where(np.isfinite(whole), whole, last)
    return {
        "n_rows": panel.size,
        "first_step": first,
        "last_step": last,
        "planned_steps": planned,
        "completed_fraction": divide(whole, planned),
        "repeated_steps": np.array([fact.repeated_steps for fact in facts], dtype=np.float64),
        "unreadable_metrics": np.array([len(fact.unreadable.split(",")) if fact.unreadable else 0 for fact in facts]),
    }


def _breakdowns(panel: Panel, broken: Flags) -> dict[str, Column]:
    count = panel.count(broken)
    size = panel.size.astype(np.float64)
    nothing = np.full(len(size), np.nan)
    last = finite.last_row(panel, broken)
    first = nothing.copy()
    first[panel.run[broken][::-1]] = panel.step[broken][::-1]
    last_step = nothing.copy()
    last_step[panel.run[broken]] = panel.step[broken]
    names: list[list[str]] = [[] for _ in size]
    for metric, flags in panel.broken.items():
        if metric != "loss":
            for run in np.unique(panel.run[flags]):
                names[run].append(metric)
    lasting = (finite.lasting_from(panel, broken) < panel.size) & (last >= 0)
    return {
        "non_finite_fraction": divide(count, size),
        "non_finite_rows": count,
        "non_finite_first_step": first,
        "non_finite_last_step": last_step,
        "non_finite_metrics": [", ".join(found) if found else None for found in names],
        "non_finite_lasts": lasting.astype(np.float64),
    }


def _array(values: Column, kind: Kind) -> pa.Array:
    if isinstance(values, list):
        return pa.array(values, _TYPES[kind])
    numbers = values.astype(np.float64)
    missing = ~np.isfinite(numbers)
    if kind == "number":
        return pa.array(numbers, pa.float64(), mask=missing)
    whole = np.where(missing, 0, numbers).astype(np.int64)
    return pa.array(whole, pa.int64(), mask=missing).cast(_TYPES[kind])
