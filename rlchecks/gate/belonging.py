"""Whether a candidate belongs to the run whose training is judged: the held-out results may be another run's."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.compute as pc

from rlchecks.diagnosis.finding import Number
from rlchecks.run import RunLog

_CHECKPOINT = re.compile(r"checkpoint-\d+")


def belonging(
    run: RunLog, source: str, candidate: str, step: int | None, files_known: bool
) -> tuple[dict[str, Number], dict[str, str]]:
    """Tell whether the candidate is one of the run's checkpoints and lies within its log.

    Args:
        run: the run.
        source: where it was read from; a directory may hold checkpoints.
        candidate: name of the candidate.
        step: its training step, if known; else it is taken for the end of the run.
        files_known: whether its files are known, be it in the run's directory or elsewhere.

    Returns:
        the evidence columns ``candidate_not_in_run`` and ``candidate_beyond_log``, None where it cannot be told, and
        for each the sentence that says what was observed.
    """
    beyond, step, last = _beyond_log(run, step)
    named = _CHECKPOINT.fullmatch(candidate) is not None
    others = _checkpoints(Path(source)) if named and not files_known else []
    words = {}
    if others:
        words["candidate_not_in_run"] = f"The run's checkpoints are {', '.join(others)}."
    if beyond:
        words["candidate_beyond_log"] = (
            f"The candidate is from step {step}, the last logged reward from step {last}: the log is incomplete, or "
            "another run's."
        )
    return {"candidate_not_in_run": bool(others) if named else None, "candidate_beyond_log": beyond}, words


def _beyond_log(run: RunLog, step: int | None) -> tuple[bool | None, int | None, int | None]:
    """Whether a candidate lies beyond the last logged reward, by more than the log's interval; its step; that of it."""
    trained = run.training_steps
    steps = pc.unique(trained.filter(pc.is_finite(trained["reward"]))["step"]).sort()
    if not len(steps):
        return None, step, None
    first, last = steps[0].as_py(), steps[-1].as_py()
    if step is None:
        step = max(pc.max(trained["step"]).as_py(), run.planned_steps or 0)
    interval = max(1, (last - first) // max(1, len(steps) - 1))
    return step >= last + max(2, interval + 1), step, last


def _checkpoints(directory: Path) -> list[str]:
    if not directory.is_dir():
        return []
    found = [path.name for path in directory.iterdir() if _CHECKPOINT.fullmatch(path.name) and path.is_dir()]
    return sorted(found, key=lambda name: int(name.rpartition("-")[2]))
