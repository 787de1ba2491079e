"""What one call of Trackio's ``log`` leaves, and which calls belong to one training step.

Trackio counts calls. Trainers log several times a step: TRL the timings of a step and the answers in calls of their
own, and only its metrics with the step, as ``train/global_step``. Source: trackio/run.py of gradio-app/trackio,
``TrackioCallback`` of huggingface/transformers, trl/extras/profiling.py of huggingface/trl.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rlchecks.readers.rows import Rows
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.values import to_count
from rlchecks.run import InputFile

CALLS = "_step"
"""Key of the number of the call, from 0; the last resort for the step."""

# Keys that Trackio needs itself are stored with this before them, and so are keys that begin with it.
_RENAMED = "__"
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
# Tables, images, traces and the like: objects with this in front of their kind.
_KIND, _MEDIA = "_type", "trackio."


class TrackioRun(NamedTuple):
    """A run of a project: the name to ask for it, and its name for people."""

    part: str
    name: str


class TrackioLog(NamedTuple):
    """What is stored of a run.

    Attributes:
        rows: the calls in the order in which they were made.
        config: the run's settings.
        inputs: what was read.
        warnings: what was noticed.
    """

    rows: Rows
    config: Mapping[str, object]
    inputs: tuple[InputFile, ...]
    warnings: tuple[str, ...]


def call_of(metrics: Mapping[str, object], number: object) -> dict[str, object]:
    """Make a row of what was logged in one call: keys as the user gave them, numbers where Trackio stores words.

    Args:
        metrics: the stored object.
        number: of the call, if it is stored.
    """
    row: dict[str, object] = {} if number is None else {CALLS: number}
    for key, value in metrics.items():
        if value is None or _is_media(value):
            continue
        row[key.removeprefix(_RENAMED)] = _SPECIAL.get(value, value) if isinstance(value, str) else value
    return row


def unite(calls: Rows, counters: Sequence[str]) -> Rows:
    """Add calls that do not tell the step to the next one that does, or at the end to the last.

    Of a key that such calls log several times a step, as the time of a part of it, the last value is kept.

    Args:
        calls: the calls.
        counters: keys of step counters, best first; if none but Trackio's own moves, each call is a row.
    """
    counter = _counter(calls, counters)
    if counter is None:
        return calls
    rows = Rows()
    waiting: dict[str, object] = {}
    last: dict[str, object] | None = None
    for numbered in calls:
        call = {key: value for key, value in numbered.items() if key != CALLS}
        if call.get(counter) is None:
            waiting.update(call)
            continue
        if last is not None:
            rows.append(last)
        last, waiting = {**waiting, **call}, {}
    if last is not None:
        rows.append({**waiting, **last})
    return rows


def _counter(calls: Rows, counters: Collection[str]) -> str | None:
    """Return the best counter that moves, as the one that will be used for the steps."""
    present = set(calls.keys)
    for key in counters:
        if key != CALLS and key in present and _moves(calls, key):
            return key
    return None


def _moves(calls: Sequence[Row], key: str) -> bool:
    steps: set[int | None] = {None}
    for call in calls:
        steps.add(to_count(call.get(key), MAX_STEP))
        # One besides None.
        if len(steps) > 2:
            return True
    return False


def _is_media(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_media(value[0])
    return isinstance(value, dict) and str(value.get(_KIND, "")).startswith(_MEDIA)
