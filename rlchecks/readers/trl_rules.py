"""What TRL's numbers mean: placeholders, and what its key generations can and cannot log.

The version of TRL is not in its logs, so most of it is inferred from the keys that came and went. Source: the
trainers at the tags v0.14.0 to v1.9.0 of huggingface/trl.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.metrics import METRICS
from rlchecks.readers.text import counted
from rlchecks.readers.trl_spread import Evidence, semantics
from rlchecks.run import RunLog

# None of TRL's trainers with GRPO keys logs these.
_NEVER = ("kl_sampler", "aborted_ratio", "reasoning_tokens")
_SAMPLER = ("sampler_ratio", "sampler_logp_difference")
_NOT_LOGGABLE: dict[str, tuple[str, ...]] = {
    "0.14 to 0.16": (
        *("clipped_ratio", "zero_std_fraction", "min_length", "max_length", "terminated_length", "entropy"),
        *("policy_clip_fraction", "num_tokens", "step_time", *_SAMPLER),
    ),
    "0.17": ("zero_std_fraction", "entropy", "step_time", *_SAMPLER),
    "0.18 to 0.19": ("entropy", "step_time", *_SAMPLER),
    "0.20 to 0.25": ("step_time",),
    "0.26 or later": (),
    "AsyncGRPO": ("clipped_ratio", "zero_std_fraction", "kl"),
    "unknown": (),
}
# Of answers judged to be cut; the tokenizer's end token is all that TRL knows as an end.
_NEARLY_ALL_CUT = 0.9
_SAME_LENGTH = 1.02


def apply(run: RunLog, keys: AbstractSet[str], *, logs_completions: bool = False) -> RunLog:
    """Add to a run log with TRL's keys what only TRL's rules tell.

    Args:
        run: the run as assembled; ``framework_version`` is that of TRL if known.
        keys: all logged keys.
        logs_completions: whether TRL wrote its own completions files, which it does since 0.28.

    Returns:
        The run with placeholders made missing, and with the facts ``trl_keys``, ``metrics_not_loggable``,
        ``reward_std_semantics``, and, where they can be inferred, ``beta`` and ``max_completion_length``.
    """
    steps, placeholders = _without_placeholders(run.steps)
    train = steps.filter(pc.equal(steps["split"], "train"))
    era = "AsyncGRPO" if run.framework == "trl_async_grpo" else generation(keys)
    facts = dict(run.facts)
    facts["trl_keys"] = f"{era} (inferred)"
    facts["metrics_not_loggable"] = ",".join(_not_loggable(era, steps))
    if era != "AsyncGRPO":
        evidence = Evidence(keys, era, run.framework_version, facts.get("scale_rewards"), logs_completions)
        facts["reward_std_semantics"] = semantics(train, run.graders, evidence)
        if "kl" not in keys:
            # kl is logged if and only if beta is not 0.
            facts.setdefault("beta", "0 (inferred)")
    limit, doubtful = _length_limit(train)
    if limit is not None:
        facts.setdefault("max_completion_length", f"{limit:g} (inferred)")
    warnings = list(run.warnings)
    if placeholders:
        rows = counted(placeholders, "row")
        warnings.append(f"frac_reward_zero_std of {rows} without a reward is TRL's placeholder 0: taken as missing")
    if doubtful:
        warnings.append(
            "completions/clipped_ratio is near 1 although the longest answers differ in length: TRL counts every"
            " answer that ends with another token than the tokenizer's end token as cut"
        )
    if facts.get("trainer") == "RLOO" and "kl" in keys:
        warnings.append(
            "RLOO with a KL penalty: frac_reward_zero_std stays near 0 even where all answers of a prompt score alike"
        )
    return replace(run, steps=steps, facts=facts, warnings=tuple(warnings))


def generation(keys: AbstractSet[str]) -> str:
    """Tell from the logged keys which versions of TRL log them."""
    if "completions/mean_length" not in keys:
        return "0.14 to 0.16" if "completion_length" in keys else "unknown"
    if "frac_reward_zero_std" not in keys:
        return "0.17"
    if "entropy" not in keys:
        return "0.18 to 0.19"
    return "0.26 or later" if "step_time" in keys else "0.20 to 0.25"


def _not_loggable(era: str, steps: pa.Table) -> list[str]:
    names = {*_NEVER, *_NOT_LOGGABLE[era]}
    if era == "AsyncGRPO":
        names.discard("kl_sampler")
    return [name for name in METRICS if name in names and steps[name].null_count == len(steps)]


def _without_placeholders(steps: pa.Table) -> tuple[pa.Table, int]:
    fraction = steps["zero_std_fraction"]
    # A reward that is null or NaN came from a batch that no function scored.
    unscored = pc.fill_null(pc.is_nan(steps["reward"]), True)
    placeholder = pc.and_(unscored, pc.fill_null(pc.equal(fraction, 0.0), False))
    count = pc.sum(placeholder).as_py() or 0
    if not count:
        return steps, 0
    column = steps.schema.get_field_index("zero_std_fraction")
    masked = pc.if_else(placeholder, pa.scalar(None, pa.float64()), fraction)
    return steps.set_column(column, steps.schema.field(column), masked), count


def _length_limit(train: pa.Table) -> tuple[float | None, bool]:
    """Infer the length limit from the longest answers of rows with cut answers.

    Returns:
        The limit if they all have one length, else None; and whether nearly all answers count as cut although their
        lengths say otherwise.
    """
    clipped, longest = (train[name].to_numpy() for name in ("clipped_ratio", "max_length"))
    cut: NDArray[np.float64] = longest[(clipped > 0) & np.isfinite(longest)]
    if not len(cut):
        return None, False
    if cut.min() == cut.max() and cut.max() >= np.nanmax(longest):
        return float(cut.max()), False
    nearly_all = longest[(clipped >= _NEARLY_ALL_CUT) & np.isfinite(longest)]
    most_rows = len(nearly_all) >= max(5, len(train) / 2)
    return None, bool(most_rows and nearly_all.max() > _SAME_LENGTH * nearly_all.min())
