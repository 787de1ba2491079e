"""Logs that are one JSON object: which shapes there are, and their rows.

- Columns: ``{"step": [1, 2, ...], "reward": [...], ...}``; without a list of steps the rows are numbered later.
- Steps: ``{"10": {"reward": ...}, "20": {...}, ...}``; also beside columns, where their name becomes a prefix.
- Rows: ``[{"step": 1, "reward": ...}, ...]`` under a name.
- A wrapper: one of these under any name, beside values that describe it. Where these say ``"kl_key": "actor/ppo_kl"``,
  the log's ``kl`` is that key.
- Runs: ``{"run A": {...}, "run B": {...}}``, each in one of these shapes. ``train`` and ``eval`` are the two parts of
  one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rlchecks.readers.aliases import framework
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.table import no_steps
from rlchecks.readers.text import counted
from rlchecks.readers.values import to_count

_PLAIN = (str, int, float, type(None))
_KEY = "_key"
_DEEPEST = 3
_FEWEST = 2
_TRAIN = frozenset({"train", "training"})
_EVAL = frozenset({"eval", "evaluation", "val", "valid", "validation", "test"})


class Log(NamedTuple):
    """One run of a document: its rows, the plain values beside them, and what to tell about it."""

    rows: list[Row]
    beside: dict[str, object]
    warnings: tuple[str, ...] = ()


def logs_in(document: object) -> dict[str | None, Log]:
    """Find the runs of a document by name, whether or not they have a reward; a single run is under None.

    Something is a run if a column of it is the reward, or if it counts steps and holds some other known metric.
    """
    if not isinstance(document, Mapping):
        return {}
    whole = _log(document, 0)
    if whole is not None:
        return {None: whole}
    found: dict[str | None, Log] = {}
    found.update(_members(document, 1))
    return found


def keys_in(log: Log) -> list[str]:
    """List the keys of a run."""
    return list(dict.fromkeys(key for row in log.rows for key in row))


def _members(document: Mapping[str, object], depth: int) -> dict[str, Log]:
    found = ((name, _log(value, depth)) for name, value in document.items() if isinstance(value, (Mapping, list)))
    return {name: log for name, log in found if log is not None}


def _log(document: object, depth: int) -> Log | None:
    if isinstance(document, list):
        rows = [row for row in document if isinstance(row, Mapping) and all(map(_is_plain, row.values()))]
        return _believed(Log(rows, {}), counts=False) if rows and len(rows) == len(document) else None
    if not isinstance(document, Mapping):
        return None
    if _is_by_step(document):
        return _believed(Log(list(_by_step(document, "")), {}), counts=True)
    columns = {key: value for key, value in document.items() if _is_column(value)}
    plain = {key: value for key, value in document.items() if _is_plain(value)}
    if columns:
        return _of_columns(document, columns, plain)
    if depth >= _DEEPEST:
        return None
    members = _members(document, depth + 1)
    if len(members) == 1:
        return _renamed(next(iter(members.values())), plain)
    return _both(members, plain) if members.keys() <= _TRAIN | _EVAL and members.keys() & _TRAIN else None


def _of_columns(
    document: Mapping[str, object], columns: Mapping[str, Sequence[object]], plain: dict[str, object]
) -> Log | None:
    counter = next((key for key in framework("table").step if key in columns), None)
    lengths = Counter(len(column) for column in columns.values())
    length = len(columns[counter]) if counter is not None else max(lengths, key=lambda one: (lengths[one], one))
    fitting = {key: column for key, column in columns.items() if len(column) == length}
    rows: list[Row] = [dict(zip(fitting, values, strict=True)) for values in zip(*fitting.values(), strict=True)]
    for name, value in document.items():
        if isinstance(value, Mapping) and _is_by_step(value):
            rows += _by_step(value, f"{name}/", counter or "step")
    left_out = len(columns) - len(fitting)
    warnings = [f"{counted(left_out, 'column')} of another length than {length} left out"] if left_out else []
    return _believed(Log(rows, plain, tuple(warnings)), counts=counter is not None)


def _believed(log: Log, *, counts: bool) -> Log | None:
    """Return what holds a run: at least two rows with a reward, or with steps (``counts``) and a known metric."""
    known = framework("table")
    keys = keys_in(log)
    counts = counts or any(key in known.step for key in keys)
    metric = any(known.is_reward(key) or (counts and known.target(key) is not None) for key in keys)
    return log if metric and len(log.rows) >= _FEWEST and no_steps(keys) is None else None


def _renamed(log: Log, plain: dict[str, object]) -> Log:
    names = {
        key.removesuffix(_KEY): name for key, name in plain.items() if key.endswith(_KEY) and isinstance(name, str)
    }
    rows: list[Row] = [{names.get(key, key): value for key, value in row.items()} for row in log.rows]
    return log._replace(rows=rows, beside={**plain, **log.beside})


def _both(parts: Mapping[str, Log], plain: dict[str, object]) -> Log:
    rows: list[Row] = []
    for name, log in parts.items():
        rows += [{**row, "split": "eval"} for row in log.rows] if name in _EVAL else log.rows
    return Log(rows, plain, tuple(warning for log in parts.values() for warning in log.warnings))


def _is_by_step(value: Mapping[str, object]) -> bool:
    """Whether an object has rows under the numbers of their steps, which rise."""
    before = -1
    for key, row in value.items():
        step = to_count(key, MAX_STEP) if key.isascii() and key.isdigit() else None
        if step is None or step <= before or not isinstance(row, Mapping) or not all(map(_is_plain, row.values())):
            return False
        before = step
    return len(value) >= _FEWEST


def _by_step(value: Mapping[str, object], prefix: str, counter: str = "step") -> Iterator[Row]:
    for key, row in value.items():
        if isinstance(row, Mapping):
            yield {counter: int(key), **{f"{prefix}{name}": one for name, one in row.items()}}


def _is_column(value: object) -> bool:
    if not isinstance(value, list) or not all(map(_is_plain, value)):
        return False
    return any(isinstance(one, (int, float)) and not isinstance(one, bool) for one in value)


def _is_plain(value: object) -> bool:
    return isinstance(value, _PLAIN)
