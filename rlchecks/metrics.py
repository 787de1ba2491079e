"""The canonical metric vocabulary: what the columns of the ``steps`` table mean.

One name per quantity, whatever the framework called it. The names that frameworks use are in
``readers/aliases.toml``; this module knows none of them. Two pairs must never be confused:
``clipped_ratio`` (answers cut at the length limit) with ``policy_clip_fraction`` (the clipped policy update),
and ``kl`` (divergence from the starting model) with ``kl_sampler`` (trainer against sampler or old policy).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Metric:
    """One canonical metric.

    Attributes:
        name: column name in the ``steps`` table.
        unit: unit of the values.
        low: smallest value that makes sense.
        high: largest value that makes sense.
        meaning: one sentence for people.
    """

    name: str
    unit: str
    low: float
    high: float
    meaning: str


_METRICS = (
    Metric("reward", "reward", -inf, inf, "mean grader score of the step's answers"),
    Metric("reward_std", "reward", 0.0, inf, "spread of the scores, within groups or over the batch"),
    Metric("zero_std_fraction", "fraction", 0.0, 1.0, "share of prompts whose answers all got the same score"),
    Metric("clipped_ratio", "fraction", 0.0, 1.0, "share of answers cut off at the length limit"),
    Metric("mean_length", "tokens", 0.0, inf, "mean answer length"),
    Metric("min_length", "tokens", 0.0, inf, "shortest answer"),
    Metric("max_length", "tokens", 0.0, inf, "longest answer"),
    Metric("terminated_length", "tokens", 0.0, inf, "mean length of the answers that ended by themselves"),
    Metric("kl", "nats", -inf, inf, "mean divergence of the policy from the starting model"),
    Metric("kl_sampler", "nats", -inf, inf, "divergence of the trainer from the sampler or the old policy"),
    Metric("entropy", "nats", 0.0, inf, "mean entropy of the policy per token"),
    Metric("policy_clip_fraction", "fraction", 0.0, 1.0, "share of tokens whose policy update was clipped"),
    Metric("grad_norm", "norm", 0.0, inf, "norm of the gradient before clipping"),
    Metric("learning_rate", "rate", 0.0, inf, "learning rate of the step"),
    Metric("loss", "loss", -inf, inf, "training loss; archived, never judged"),
    Metric("num_tokens", "tokens", 0.0, inf, "tokens seen so far"),
    Metric("step_time", "seconds", 0.0, inf, "wall time of the step"),
    Metric("aborted_ratio", "fraction", 0.0, 1.0, "share of answers that were aborted or raised an error"),
    Metric("reasoning_tokens", "tokens", 0.0, inf, "mean reasoning tokens per answer"),
    Metric("sampler_ratio", "ratio", 0.0, inf, "mean importance ratio of trainer to sampler"),
    Metric("sampler_logp_difference", "nats", 0.0, inf, "mean difference of log probabilities, trainer to sampler"),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _METRICS}
"""Canonical name to :class:`Metric`, in the column order of the ``steps`` table."""

REWARD_FUNCTION = "reward/"
"""Prefix of the ``extra`` keys with the mean of one reward function, ``reward/<function>``."""

REWARD_FUNCTION_STD = "reward_std/"
"""Prefix of the ``extra`` keys with the spread of one reward function, ``reward_std/<function>``."""
