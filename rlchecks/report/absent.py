"""Why a metric has no numbers: the framework cannot log it, it measured nothing, or it was not logged."""

from __future__ import annotations

from rlchecks.readers.aliases import frameworks
from rlchecks.report.inert import line
from rlchecks.run import RunLog

_INFERRED = " (inferred)"


def reason(run: RunLog, metric: str, otherwise: str = "not logged") -> str:
    """Say why a metric is missing.

    Args:
        run: the run.
        metric: canonical name.
        otherwise: what to say if nothing is known.
    """
    if metric in _names(run, "metrics_not_loggable"):
        return f"cannot be logged by {framework(run)}"
    if metric in _names(run, "metrics_switched_off"):
        return "logged as exactly 0 throughout, which is no measurement"
    return otherwise


def framework(run: RunLog) -> str:
    """The framework by its title, with its version, or that which its keys tell."""
    known = frameworks().get(run.framework)
    title = known.title.partition(",")[0] if known else run.framework
    era = run.facts.get("trl_keys", "unknown").removesuffix(_INFERRED)
    version = f" {run.framework_version}" if run.framework_version else f" with the keys of {era}"
    return line(title + version if run.framework_version or era != "unknown" else title, 80)


def _names(run: RunLog, fact: str) -> list[str]:
    return run.facts.get(fact, "").removesuffix(_INFERRED).split(",")
