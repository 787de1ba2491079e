"""The signals: one name, unit and formula each. Suites check them by name, findings rest on them.

Words used in the formulas. *Early* and *late*: the first and last fifth of the rows that have the metric, at least
one row. *Blocks*: the run cut into 40 stretches of equal length (fewer rows: one row each), a mean per block (KL: a
median). *Scale*: the reward's range, ``scale_low`` to ``scale_high``. *Fraction* of the scale: a difference of
rewards divided by the scale's width. A signal that cannot be computed is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "integer", "flag", "text"]

WINDOW = 0.2
"""Share of the rows that the early and the late window hold each."""


@dataclass(frozen=True)
class Signal:
    """One column of the ``signals`` table: its name, unit, formula and type."""

    name: str
    unit: str
    formula: str
    kind: Kind = "number"


_SIGNALS = (
    # The run as a whole.
    Signal("n_rows", "rows", "training rows that carry any metric of the answers", "integer"),
    Signal("n_reward_rows", "rows", "training rows with a finite reward, before a lasting breakdown", "integer"),
    Signal("first_step", "step", "first training step", "integer"),
    Signal("last_step", "step", "last training step", "integer"),
    Signal("planned_steps", "steps", "steps the run was configured for", "integer"),
    Signal("completed_fraction", "fraction", "last step of the whole run over planned steps"),
    Signal("repeated_steps", "rows", "logged rows that repeated an earlier step", "integer"),
    Signal("expected_reward_rows", "rows", "rows that should have a reward, at its usual distance", "integer"),
    Signal("missing_reward_fraction", "fraction", "share of those without a finite reward"),
    Signal("missing_reward_stretch", "rows", "most of those in a row without a reward", "integer"),
    Signal("missing_reward_first_step", "step", "the first of that stretch", "integer"),
    Signal("missing_reward_last_step", "step", "the last of it", "integer"),
    Signal("unreadable_metrics", "metrics", "metrics whose logged values are out of their range", "integer"),
    # Reward.
    Signal("scale_low", "reward", "declared; else 0 if all in 0..1; else min(lowest, 0); few penalties: lowest - std"),
    Signal("scale_high", "reward", "declared; else 1 if all lie in 0..1; else max(highest + std of the highest, 0)"),
    Signal("scale_basis", "", "declared, unit (all in 0..1) or inferred; without rewards, of the checks", "text"),
    Signal("reward_start", "reward", "early mean"),
    Signal("reward_end", "reward", "late mean"),
    Signal("reward_gain", "reward", "late mean - early mean"),
    Signal("reward_gain_fraction", "fraction", "gain over the width of the scale"),
    Signal("reward_gain_effect", "std", "gain over the mean logged spread of the answers' rewards"),
    Signal("reward_position_start", "fraction", "early mean on the scale, 0 floor, 1 ceiling"),
    Signal("reward_position_end", "fraction", "late mean on the scale, 0 floor, 1 ceiling"),
    Signal("reward_trend", "reward", "slope of a line through the blocks, change over the run"),
    Signal("reward_trend_p", "p-value", "two-sided p of that slope, effective sample size for autocorrelation"),
    Signal("reward_trend_fraction", "fraction", "that change over the scale"),
    Signal("reward_trend_error", "fraction", "its standard error, effective sample size for autocorrelation"),
    Signal("reward_autocorrelation", "", "lag-1 autocorrelation of the residuals that was used, 0 to 0.9"),
    Signal("reward_slope", "reward/block", "Theil-Sen slope of the blocks"),
    Signal("reward_ordering", "fraction", "share of early-late pairs of blocks in which the late one is higher"),
    Signal("reward_range_fraction", "fraction", "highest - lowest block over the scale"),
    Signal("reward_late_trend", "reward", "change over the second half by a line through its blocks"),
    Signal("reward_late_p", "p-value", "two-sided p of that line"),
    Signal("reward_late_own_p", "p-value", "the same with the autocorrelation of the second half alone"),
    Signal("reward_late_fraction", "fraction", "that change over the scale"),
    Signal("reward_late_error", "fraction", "its standard error, effective sample size for autocorrelation"),
    Signal("reward_knee", "fraction", "position at which the rise ends: best a + b min(time, k)"),
    Signal("reward_knee_p", "p-value", "two-sided p of that fit, effective sample size for autocorrelation"),
    Signal("reward_gain_after_knee", "fraction", "late mean - mean of the blocks at the knee, over the scale"),
    Signal("reward_fall_step", "step", "first step from which the smoothed reward stays below its start", "integer"),
    Signal("first_rise", "fraction", "late mean - mean of the first 3 rows, over the scale; 15 rows or more"),
    Signal("first_rise_score", "std errors", "that difference over its standard error, from neighbouring rows"),
    Signal("fastest_rise", "fraction", "largest difference of adjacent windows (6 % of the run, at least 3 rows)"),
    Signal("fastest_rise_step", "step", "first step of the later of those windows", "integer"),
    Signal("fastest_rise_level", "fraction", "median of the window means from there to the end, on the scale"),
    Signal("fastest_rise_share", "fraction", "that difference over the range of all window means"),
    Signal("fastest_rise_score", "std errors", "that difference over its standard error, from neighbouring rows"),
    Signal("fastest_fall", "fraction", "smallest difference of adjacent windows: below 0 for a fall"),
    Signal("fastest_fall_step", "step", "first step of the later of those windows", "integer"),
    Signal("fastest_fall_level", "fraction", "median of the window means from there to the end, on the scale"),
    Signal("fastest_fall_share", "fraction", "size of that difference over the range of all window means"),
    Signal("fastest_fall_score", "std errors", "size of that difference over its standard error"),
    # Reward functions: which of them the total follows.
    Signal("reward_functions", "functions", "reward functions that are logged", "integer"),
    Signal("top_function", "", "the reward function that brings most of the gain", "text"),
    Signal("top_function_gain", "fraction", "its fitted weight times its own gain, over the scale of the total"),
    Signal("other_functions_gain", "fraction", "the same, summed over all other functions"),
    Signal("other_functions_best", "fraction", "the same, the largest of the other functions"),
    Signal("other_functions_ordering", "fraction", "the largest ordering of another function, early against late"),
    # Spread: is there anything to learn from?
    Signal("reward_std_start", "reward", "early mean of the logged spread"),
    Signal("reward_std_late", "reward", "late mean of the logged spread"),
    Signal(
        "zero_spread_late",
        "fraction",
        "share of late rows with a spread of up to 0.1 % of the scale; or 1: all at one end",
    ),
    Signal("reward_constant", "", "all rewards are one number, and the spread of the answers is not logged", "flag"),
    Signal("zero_std_fraction_start", "fraction", "early mean of the share of prompts without a signal"),
    Signal("zero_std_fraction_late", "fraction", "late mean of the share of prompts without a signal"),
    Signal("zero_std_fraction_peak", "fraction", "largest block mean of that share"),
    Signal("one_group_per_step", "", "the share is only ever 0 or 1, on 5 rows or more", "flag"),
    # Cut answers.
    Signal("clipped_ratio_doubtful", "", "nearly all count as cut, and the longest answers differ in length", "flag"),
    Signal("clipped_ratio_start", "fraction", "early mean; null if doubtful"),
    Signal("clipped_ratio_late", "fraction", "late mean"),
    Signal("clipped_ratio_peak", "fraction", "largest block mean"),
    Signal("clipped_ratio_onset_step", "step", "first step from which its blocks stay above their start", "integer"),
    # Length.
    Signal("length_start", "tokens", "early mean"),
    Signal("length_end", "tokens", "late mean"),
    Signal("length_growth", "ratio", "late mean over early mean"),
    Signal("length_last", "tokens", "median of the last twentieth of the rows, at least 5"),
    Signal("length_trend_p", "p-value", "two-sided p of a line through the blocks"),
    Signal("length_ordering", "fraction", "share of early-late pairs of blocks in which the late one is longer"),
    Signal("length_onset_step", "step", "first step from which the smoothed length stays above its start", "integer"),
    Signal("length_fall_step", "step", "first step from which the smoothed length stays below its start", "integer"),
    Signal("length_reward_coupling", "rank correlation", "Spearman of length and reward, means of three blocks"),
    Signal("reward_gain_after_length_onset", "fraction", "late mean - mean of the blocks at the onset, over the scale"),
    # Divergence from the starting model, in nats per token: sums per sequence are divided by their row's mean length.
    Signal("kl_start", "nats", "mean of the early block medians, per token (sums per sequence: over the mean length)"),
    Signal("kl_end", "nats", "mean of the late block medians"),
    Signal("kl_peak", "nats", "largest block median"),
    Signal("kl_late_trend", "nats", "change over the second half by the Theil-Sen slope of its block medians"),
    Signal("kl_late_p", "p-value", "two-sided p of a line through them"),
    Signal("kl_late_ordering", "fraction", "share of early-late pairs of its blocks in which the late one is higher"),
    Signal("kl_late_rise", "fraction", "change over the second half over kl_end"),
    Signal("kl_share_after_knee", "fraction", "share of the KL gained after the reward's knee"),
    Signal("kl_knee_step", "step", "step of the reward's knee", "integer"),
    Signal("kl_reward_slope", "reward/nat", "least-squares slope of reward on KL over the second half's blocks"),
    # Breakdowns.
    Signal("non_finite_fraction", "fraction", "share of training rows with a literal NaN or infinity outside the loss"),
    Signal("non_finite_rows", "rows", "number of those rows", "integer"),
    Signal("non_finite_first_step", "step", "the first of them", "integer"),
    Signal("non_finite_last_step", "step", "the last of them", "integer"),
    Signal("non_finite_metrics", "", "the metrics concerned, comma-separated", "text"),
    Signal("non_finite_lasts", "", "every row from some step to the end is broken (at least 3 rows)", "flag"),
    Signal("entropy_start", "nats", "early mean"),
    Signal("entropy_end", "nats", "late mean"),
    Signal("entropy_growth", "ratio", "late mean over early mean"),
    Signal("entropy_ordering", "fraction", "share of early-late pairs of blocks in which the late one is higher"),
    Signal("entropy_floor_step", "step", "first step from which it stays under a tenth of its start", "integer"),
    Signal("zero_gradient_late", "fraction", "share of late rows whose gradient norm is exactly 0"),
    # Validation during training.
    Signal("validation_checks", "checks", "validation checks with a finite mean", "integer"),
    Signal("validation_questions", "questions", "distinct validation questions, if they are logged", "integer"),
    Signal("validation_last_step", "step", "step of the last check", "integer"),
    Signal("validation_start", "reward", "mean at the first check"),
    Signal("validation_end", "reward", "mean at the last check"),
    Signal("validation_gain", "reward", "mean of the last third of the checks - mean of the first third"),
    Signal("validation_gain_fraction", "fraction", "that gain over the scale"),
    Signal("validation_gain_error", "fraction", "its standard error: from that noise, or the questions' if larger"),
    Signal("validation_gain_high", "fraction", "its upper limit, two-sided at 95 %"),
    Signal("validation_gain_p", "p-value", "two-sided p of that gain over the questions, paired, from 10 on"),
    Signal("validation_position_start", "fraction", "mean at the first check on the scale"),
    Signal("validation_p", "p-value", "two-sided Mann-Kendall p over the checks"),
    Signal("validation_noise", "reward", "noise of one check: standard deviation about a line through all of them"),
    Signal("validation_best", "reward", "highest mean of a check"),
    Signal("validation_best_step", "step", "step of the highest mean", "integer"),
    Signal("validation_stop_step", "step", "where a rise ends: a + b min(step, k), or falls after k", "integer"),
    Signal("validation_stop_low", "step", "check by which it has not ended yet, at 95 %", "integer"),
    Signal("validation_stop_high", "step", "check by which it has ended, at 95 %; else the last check", "integer"),
    Signal("validation_top_step", "step", "check at which a line with one bend is highest", "integer"),
    Signal("validation_rise", "fraction", "best of that line - its value at the first check"),
    Signal("validation_rise_low", "fraction", "its lower limit, one-sided at 99.5 %"),
    Signal("validation_fall", "fraction", "best of that line - its value at the last check"),
    Signal("validation_fall_low", "fraction", "its lower limit, one-sided at 99.5 %, with and without the last check"),
    Signal("validation_as_good_step", "step", "first check that is at most 0.05 below the best, at 95 %", "integer"),
    Signal("validation_missing", "fraction", "best of that line - its value at that check"),
    Signal("validation_missing_high", "fraction", "its upper limit, one-sided at 95 %"),
    Signal("validation_at_top_at_start", "questions", "questions at the scale's top at the first check", "integer"),
    Signal("validation_peak_kl", "nats", "KL at which d (alpha - beta ln d) of the checks peaks, d = sqrt(KL)"),
    Signal("validation_peak_kl_low", "nats", "its lower limit at 95 %"),
    Signal("validation_peak_kl_high", "nats", "its upper limit at 95 %"),
)

SIGNALS: dict[str, Signal] = {signal.name: signal for signal in _SIGNALS}
"""Name to :class:`Signal`, in the column order of the ``signals`` table."""
