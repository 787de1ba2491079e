"""What a framework's keys tell about a run beside their values."""

from __future__ import annotations

import pyarrow as pa

from rlchecks.metrics import METRICS
from rlchecks.readers.columns import Notes
from rlchecks.readers.frameworks import Framework
from rlchecks.readers.text import clean


def framework_facts(framework: Framework, notes: Notes, steps: pa.Table) -> dict[str, str]:
    """Collect the facts about the metrics of a run.

    Args:
        framework: whose keys were read.
        notes: what was noticed while the columns were built.
        steps: the run's steps.

    Returns:
        ``reward_std_semantics`` (``within_group``, ``within_group_median``, ``batch``, ``unknown``) and
        ``kl_semantics`` (``sum_per_sequence``, only where it is not per token); ``metrics_unreadable``,
        ``metrics_switched_off`` and ``metrics_not_loggable``, canonical names with commas between them;
        ``metrics_derived``, such as ``mean_length = a / b``, with semicolons.
    """
    facts = {}
    if notes.unreadable:
        facts["metrics_unreadable"] = ",".join(sorted(notes.unreadable))
    if notes.switched_off:
        facts["metrics_switched_off"] = ",".join(notes.switched_off)
    if notes.derived:
        facts["metrics_derived"] = clean("; ".join(f"{name} = {text}" for name, text in notes.derived.items()))
    if missing := not_logged(framework.not_loggable, steps):
        facts["metrics_not_loggable"] = missing
    if "reward_std" in notes.mapped:
        facts["reward_std_semantics"] = _meaning(framework, notes, "reward_std") or "unknown"
    if meaning := _meaning(framework, notes, "kl"):
        facts["kl_semantics"] = meaning
    return facts


def not_logged(names: tuple[str, ...], steps: pa.Table) -> str:
    """Write those of some canonical names that a run lacks, in their order, with commas between them."""
    return ",".join(name for name in METRICS if name in names and steps[name].null_count == len(steps))


def _meaning(framework: Framework, notes: Notes, metric: str) -> str | None:
    """Tell what the best key of a metric means."""
    key = next(iter(notes.mapped.get(metric, ())), None)
    return None if key is None else framework.meaning(key)
