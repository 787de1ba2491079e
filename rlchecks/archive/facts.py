"""A run log's facts as the row of the ``runs`` table, and back; and whether two logs are of one run."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.archive.tables import Encoded
from rlchecks.errors import ArchiveError, OlderCopyError
from rlchecks.metrics import METRICS
from rlchecks.run import InputFile, RunLog, rows_of

Row = dict[str, Any]

OPENING_ROWS = 5
"""Training rows from the first on in which two logs of one run agree. Sweeps with one seed often share the first row;
a resumed run may differ from its earlier log in what comes later."""

_TOLD_APART_BY = ("reward", "loss", "grad_norm")
# Of the steps that both logs have, the least share before the point of a resume: with less, another run is likelier.
_BEFORE_RESUME = 0.5

_BY_IMPORTANCE = ("train", "eval", "summary")


def facts_row(run: RunLog) -> Row:
    """Return a run's row without ``tables``, ``content_sha256`` and ``ingested_at``.

    ``first_step``, ``last_step`` and ``n_steps`` (different steps) count the training rows.
    """
    train = pc.unique(run.training_steps["step"])
    bounds = pc.min_max(train).as_py()
    return {
        "run_id": run.run_id,
        "name": _clean(run.name),
        "source": _clean(run.source),
        "framework": _clean(run.framework),
        "framework_version": None if run.framework_version is None else _clean(run.framework_version),
        "first_step": bounds["min"],
        "last_step": bounds["max"],
        "n_steps": len(train),
        "planned_steps": run.planned_steps,
        "repeated_steps": run.repeated_steps,
        "graders": [_clean(name) for name in run.graders],
        "facts": [(_clean(name), _clean(value)) for name, value in sorted(run.facts.items())],
        "inputs": [{"path": _clean(f.path), "sha256": f.sha256, "bytes": f.bytes} for f in run.inputs],
        "unmapped": [_clean(key) for key in run.unmapped],
        "warnings": [_clean(sentence) for sentence in run.warnings],
    }


def content_sha256(row: Mapping[str, Any], tables: Mapping[str, Encoded]) -> str:
    """Return the hash of a run's facts and own tables: what makes a second ingest of the same log change nothing."""
    content = [dict(row), sorted((name, table.rows, table.sha256) for name, table in tables.items())]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def run_log(row: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> RunLog:
    """Return the run log that a row of ``runs`` and the run's own tables came from."""
    return RunLog(
        run_id=row["run_id"],
        name=row["name"],
        source=row["source"],
        framework=row["framework"],
        steps=tables["steps"],
        completions=tables["completions"],
        validation=tables["validation"],
        framework_version=row["framework_version"],
        planned_steps=row["planned_steps"],
        repeated_steps=row["repeated_steps"],
        graders=tuple(row["graders"]),
        facts=dict(row["facts"]),
        inputs=tuple(InputFile(**file) for file in row["inputs"]),
        unmapped=tuple(row["unmapped"]),
        warnings=tuple(row["warnings"]),
    )


def check_same_run(old: Mapping[str, Any], old_steps: pa.Table, new: RunLog) -> None:
    """Refuse a log that is not the archived run's, or is an older copy of it.

    One run: the same framework, the same first logged row, and no difference in the first :data:`OPENING_ROWS`
    training rows. Rows are compared in the numbers both have, since another release may name a metric differently;
    the first ones must share one. Later training rows are compared in reward, loss and gradient norm. They may differ
    only in a log that goes beyond the archived one, as a resumed run's does, and only after at least half of the steps
    that both have. The very bytes that the archived run was read from, at the same place, are that run whatever their
    columns are taken for.

    Args:
        old: the archived row of ``runs``.
        old_steps: the archived steps.
        new: the log that is to replace them.

    Raises:
        OlderCopyError: if it ends before the archived log.
        ArchiveError: if it must not replace them for another reason.
    """
    if _same_bytes(old, new):
        return
    run_id, advice = new.run_id, "give this one its own id with --run-id"
    if old["framework"] != new.framework:
        problem = f"belongs to a run of framework {old['framework']!r}, and this log is of {new.framework!r}"
        raise ArchiveError(f"The run id {run_id!r} {problem}; {advice}.")
    if old_steps.num_rows and not _same_first_row(old_steps, new.steps):
        raise ArchiveError(f"The run id {run_id!r} belongs to a run whose first logged row is another; {advice}.")
    openings = zip(*(_first_rows(steps, "train", OPENING_ROWS) for steps in (old_steps, new.steps)), strict=False)
    for row, other in openings:
        different = [name for name in row if name in other and not _equal(row[name], other[name])]
        if different:
            raise _another_run(run_id, int(row["step"]), different[0])
    _check_later_rows(old_steps, new)
    for split in _BY_IMPORTANCE:
        archived, given = (_last_step(steps, split) for steps in (old_steps, new.steps))
        if archived is not None and (given is None or given < archived):
            raise OlderCopyError(
                f"The run {run_id!r} is archived up to {split} step {archived} and this log ends at {given}; it is an "
                f"older copy, so ingest the newer log, or {advice}."
            )


def _same_bytes(old: Mapping[str, Any], new: RunLog) -> bool:
    read = {file["sha256"] for file in old["inputs"]}
    return bool(read) and old["source"] == _clean(new.source) and read == {file.sha256 for file in new.inputs}


def _another_run(run_id: str, step: int, name: str) -> ArchiveError:
    return ArchiveError(
        f"The run id {run_id!r} belongs to another run with the same name and first row (from step {step} on they "
        f"differ in {name}); give one of them its own id with --run-id."
    )


def _check_later_rows(old_steps: pa.Table, new: RunLog) -> None:
    """Refuse a log whose training rows depart from the archived ones otherwise than a resumed run's do."""
    old, given = (rows_of(steps, "train") for steps in (old_steps, new.steps))
    steps, at, at_given = np.intersect1d(old["step"].to_numpy(), given["step"].to_numpy(), return_indices=True)
    firsts = []
    for name in _TOLD_APART_BY:
        one, other = old[name].take(pa.array(at)), given[name].take(pa.array(at_given))
        both = np.asarray(pc.and_(one.is_valid(), other.is_valid()))
        different = both & ~np.isclose(np.asarray(one), np.asarray(other), rtol=0, atol=0, equal_nan=True)
        if different.any():
            firsts.append((int(different.argmax()), name))
    if firsts:
        place, name = min(firsts)
        beyond = pc.max(given["step"]).as_py() > pc.max(old["step"]).as_py()
        if not beyond or place < _BEFORE_RESUME * len(steps):
            raise _another_run(new.run_id, int(steps[place]), name)


def _same_first_row(old: pa.Table, new: pa.Table) -> bool:
    for split in _BY_IMPORTANCE:
        first, other = (next(iter(_first_rows(steps, split, 1)), {}) for steps in (old, new))
        if first and other:
            shared = first.keys() & other.keys() - {"step"}
            return bool(shared) and all(_equal(first[name], other[name]) for name in {*shared, "step"})
    return False


def _first_rows(steps: pa.Table, split: str, count: int) -> list[dict[str, float]]:
    """The numbers of the first rows of a split, in the order of their steps."""
    rows = rows_of(steps, split)
    first = rows.take(pc.sort_indices(rows, [("step", "ascending")]).slice(0, count)).to_pylist()
    logged = [{name: row[name] for name in ("step", "epoch", *METRICS)} | dict(row["extra"] or ()) for row in first]
    return [{name: value for name, value in row.items() if value is not None} for row in logged]


def _last_step(steps: pa.Table, split: str) -> int | None:
    last: int | None = pc.max(rows_of(steps, split)["step"]).as_py()
    return last


def _equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _clean(text: str) -> str:
    # File names that are no UTF-8 arrive with lone surrogates, which Arrow cannot store.
    return text.encode("utf-8", "backslashreplace").decode()
