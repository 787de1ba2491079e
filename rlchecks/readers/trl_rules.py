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

from rlchecks.readers.aliases import framework
from rlchecks.readers.framework_facts import not_logged
from rlchecks.readers.text import counted
from rlchecks.readers.trl_spread import BATCH, UNKNOWN, Evidence, semantics
from rlchecks.run import RunLog, rows_of

# Those that log with TRL's own code, in one of its versions.
_TRL = frozenset({"trl_grpo", "trl_distillation", "unsloth", "axolotl"})
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
    "AsyncGRPO": (),
    "AsyncGRPO before its rework": ("clipped_ratio", "min_length", "max_length"),
    "unknown": (),
}
# Of answers judged to be cut; the tokenizer's end token is all that TRL knows as an end.
_NEARLY_ALL_CUT = 0.9
_SAME_LENGTH = 1.02


def apply(run: RunLog, keys: AbstractSet[str], *, logs_completions: bool = False) -> RunLog:
    """Add to a run log with TRL's keys what only TRL's rules tell.

    Args:
        run: the run as assembled; ``framework_version`` is that of TRL if known. One whose framework does not log
            the keys of GRPO is returned as it is.
        keys: all logged keys, with or without the prefix of a tracker.
        logs_completions: whether TRL wrote its own completions files, which it does since 0.28.

    Returns:
        The run with placeholders made missing, and with the facts ``trl_keys``, ``metrics_not_loggable``,
        ``reward_std_semantics``, and, where they can be inferred, ``beta`` and ``max_completion_length``.
    """
    known = framework(run.framework)
    if "trl_grpo" not in known.lineage:
        return run
    keys = keys | frozenset(map(known.bare, keys))
    steps, placeholders = _without_placeholders(run.steps)
    train = rows_of(steps, "train")
    era = _era(run.framework, keys)
    facts = dict(run.facts)
    if era is not None:
        facts["trl_keys"] = f"{era} (inferred)"
        facts["metrics_not_loggable"] = not_logged((*known.not_loggable, *_NOT_LOGGABLE[era]), steps)
    if run.framework in _TRL and facts.get("reward_std_semantics", UNKNOWN) == UNKNOWN:
        evidence = Evidence(keys, era or "unknown", run.framework_version, facts.get("scale_rewards"), logs_completions)
        facts["reward_std_semantics"] = semantics(train, run.graders, evidence)
    if run.framework == "ms_swift" and facts.get("scale_rewards") == "batch":
        facts["reward_std_semantics"] = BATCH
    if run.framework in {*_TRL, "ms_swift"} and "kl" not in keys:
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


def _era(name: str, keys: AbstractSet[str]) -> str | None:
    if name == "trl_async_grpo":
        return "AsyncGRPO" if "perf/weight_sync_s" in keys else "AsyncGRPO before its rework"
    return generation(keys) if name in _TRL else None


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
