"""Two other programs on the same runs: rldoctor 0.2.0 as installed, rlprobe 0.1.0 replayed.

Each run is written as the ``trainer_state.json`` that TRL would have left. rldoctor reads that file. rlprobe has no
reader for logs: it must be attached while the model trains, so the rows are replayed into its records, as its TRL
integration maps them, and its detectors are run on these. Both come with ``pip install 'rlchecks[competitors]'``;
without them the comparison is left out, and said to be.

Their findings are given our names where they speak of the same thing. To be fair to them, a finding counts as naming a
case at any level of theirs, and as an alarm only from their warning level on; where one does not tell starved at the
floor from starved at the ceiling, it counts for whichever is true.
"""

from __future__ import annotations

import importlib.metadata
import json
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.detection.runs import Run
from rlchecks.run import RunLog

VERSIONS = {"rldoctor": "0.2.0", "rlprobe": "0.1.0"}

KEYS = {
    "reward": "reward",
    "reward_std": "reward_std",
    "zero_std_fraction": "frac_reward_zero_std",
    "clipped_ratio": "completions/clipped_ratio",
    "mean_length": "completions/mean_length",
    "min_length": "completions/min_length",
    "max_length": "completions/max_length",
    "terminated_length": "completions/mean_terminated_length",
    "kl": "kl",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
}
"""Canonical metric to TRL's key (trl/trainer/grpo_trainer.py)."""

STARVED = frozenset({"starved_floor", "starved_ceiling", "starved"})


class Said(NamedTuple):
    """One finding of another program: the codes of ours that it may stand for, and whether it alarms."""

    codes: frozenset[str]
    alarms: bool


Tool = Callable[[Path], list[Said]]


def installed() -> dict[str, Tool]:
    """The programs that are there in the version that is compared."""
    found: dict[str, Tool] = {}
    for name, tool in (("rldoctor", rldoctor), ("rlprobe", rlprobe)):
        try:
            if importlib.metadata.version(name) == VERSIONS[name]:
                found[name] = tool
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def ask(tools: Iterable[str], histories: Iterable[list[dict[str, Any]]]) -> dict[str, list[list[Said]]]:
    """Let programs look at runs, given as TRL's rows; program to what it says of each."""
    known = installed()
    said: dict[str, list[list[Said]]] = {name: [] for name in tools}
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for index, history in enumerate(histories):
            path = Path(scratch) / str(index) / "trainer_state.json"
            path.parent.mkdir()
            path.write_text(json.dumps({"log_history": history}), encoding="utf-8")
            for name in tools:
                said[name].append(known[name](path))
    return said


def history_of(run: Run) -> list[dict[str, Any]]:
    """The rows of a simulated run as TRL logs them, validation checks as ``eval_reward``."""
    columns = {KEYS.get(name, f"rewards/{name.removeprefix('reward/')}/mean"): name for name in run.log.columns}
    rows = []
    for at, step in enumerate(run.log.step.tolist()):
        row = {"step": step}
        for key, name in columns.items():
            null = run.log.null.get(name)
            row[key] = None if null is not None and null[at] else float(run.log.columns[name][at])
        rows.append(row)
    if run.checks is not None:
        pairs = zip(run.checks.step.tolist(), run.checks.score.tolist(), strict=True)
        rows += [{"step": step, "eval_reward": score} for step, score in pairs]
    return rows


def history_of_log(log: RunLog) -> list[dict[str, Any]]:
    """The rows of a real run by the same keys, whatever its framework calls them."""
    rows = []
    for row in log.training_steps.to_pylist():
        named = {key: row[name] for name, key in KEYS.items() if row[name] is not None}
        for key, value in row["extra"] or ():
            if key.startswith("reward/"):
                named[f"rewards/{key.removeprefix('reward/')}/mean"] = value
        rows.append({"step": row["step"], **named})
    means = [row for row in log.validation.to_pylist() if row["question_id"] is None and row["grader"] is None]
    return rows + [{"step": row["step"], "eval_reward": row["score"]} for row in means]


# ---------------------------------------------------------------- rldoctor


def rldoctor(path: Path) -> list[Said]:
    """What ``rl-doctor diagnose`` finds in a file."""
    import rl_doctor
    import rl_doctor.stats

    # It draws pairs of points with a generator of the whole process: begin again, so that the table is reproducible.
    rl_doctor.stats._RNG = np.random.default_rng(0)
    diagnosis = rl_doctor.diagnose(rl_doctor.load_run(str(path)))
    said = []
    for finding in diagnosis.findings:
        if finding.severity >= rl_doctor.Severity.INFO:
            alarms = finding.severity >= rl_doctor.Severity.WARNING
            said += [Said(codes, alarms) for codes in _doctors_codes(finding)]
    return said


_DOCTOR = {
    "reward_hacking": frozenset({"validation_flat"}),
    "kl_drift": frozenset({"kl_without_gain"}),
    "entropy_collapse": frozenset({"entropy_collapse"}),
    "plateau": frozenset({"no_trend"}),
}
_REGIME = {"saturated": frozenset({"starved_ceiling", "saturated"}), "too_hard": frozenset({"starved_floor"})}
_NOTHING: frozenset[str] = frozenset()


def _doctors_codes(finding: Any) -> list[frozenset[str]]:
    """Codes that a finding of rldoctor speaks of; one may say two things."""
    metrics = finding.metrics
    if finding.detector == "advantage_collapse":
        return [_REGIME.get(metrics.get("regime"), frozenset({"starved"}))]
    if finding.detector == "length_pathology":
        cut = metrics.get("truncation_rate", 0.0) >= 0.05
        grown = metrics.get("length_growth", 0.0) >= 0.5
        together = metrics.get("length_reward_corr", 0.0) >= 0.6
        codes = [frozenset({"answers_clipped"})] if cut else []
        codes += [frozenset({"length_with_reward"} if together else {"length_growth"})] if grown else []
        return codes or [_NOTHING]
    if finding.detector == "reward_composition":
        alone = metrics.get("variance_shares", {}).get(metrics.get("dominant"), 0.0) >= 0.7
        return [frozenset({"format_only"}) if alone else _NOTHING]
    if finding.detector == "gradient_pathology":
        still = metrics.get("zero_grad_step_frac", 0.0) >= 0.2
        codes = [frozenset({"non_finite"})] if metrics.get("n_nonfinite") else []
        return codes + ([STARVED | {"diverged"}] if still else []) or [_NOTHING]
    return [_DOCTOR.get(finding.detector, _NOTHING)]


# ---------------------------------------------------------------- rlprobe

_PROBE_FIELDS = {
    "reward": "reward_mean",
    "reward_std": "reward_std",
    "frac_reward_zero_std": "zero_variance_group_frac",
    "kl": "kl_mean",
    "entropy": "entropy_mean",
    "learning_rate": "lr",
    "grad_norm": "grad_norm",
    "completions/mean_length": "completion_len_mean",
    "completions/max_length": "completion_len_max",
    "completions/clipped_ratio": "truncation_rate",
}
"""What rlprobe's TRL integration makes of TRL's keys (rlprobe/integrations/trl.py); it leaves NaN out."""

_PROBE = {
    "KL_BLOWUP": frozenset({"kl_without_gain"}),
    "ENTROPY_COLLAPSE": frozenset({"entropy_collapse"}),
    "REWARD_HACK_LENGTH": frozenset({"length_with_reward"}),
    "FORMAT_GAMING": frozenset({"format_only"}),
    "DEGENERATE_GROUPS": STARVED | {"saturated"},
    "REWARD_STD_DEATH": STARVED | {"saturated"},
    "TRUNCATION_STARVE": frozenset({"answers_clipped"}),
}


def rlprobe(path: Path) -> list[Said]:
    """What rlprobe's detectors find in a replayed recording."""
    from rlprobe.doctor.engine import diagnose_view
    from rlprobe.doctor.runview import RunView
    from rlprobe.schemas import RunManifest, StepRecord

    records = []
    for row in json.loads(path.read_text(encoding="utf-8"))["log_history"]:
        logged = {key: value for key, value in row.items() if value is not None and not np.isnan(value)}
        fields = {field: logged[key] for key, field in _PROBE_FIELDS.items() if key in logged}
        parts = {
            key.split("/")[1]: value
            for key, value in logged.items()
            if key.startswith("rewards/") and key.endswith("/mean")
        }
        if fields:
            records.append(StepRecord(step=row["step"], reward_components=parts, **fields))
    manifest = RunManifest(run_id="run", created_at="2026-01-01T00:00:00", algorithm="grpo")
    found = diagnose_view(RunView(manifest, records))
    return [Said(_PROBE.get(one.signature_id, _NOTHING), one.severity != "info") for one in found]
