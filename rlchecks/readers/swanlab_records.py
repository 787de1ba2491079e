"""SwanLab's logs of records: ``backup.swanlab`` of 0.6 and 0.7, ``run-<id>.swanlab`` of 0.8 and later.

Both are in the framing of :mod:`rlchecks.readers.leveldb`. A record of version 1 is a JSON object
``{"model_type", "data"}`` and a line feed (SwanHubX/SwanLab swanlab/proto/v0.py at v0.7.0); NaN is the text ``NaN``,
and both infinities are the text ``INF``. A record of version 2 is a message (protos/swanlab/record/v1/record.proto,
run/v1/run.proto, metric/data/v1/data.proto).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rlchecks.readers.leveldb import Format, RecordLog
from rlchecks.readers.protobuf import WireError, double, fields, message, signed
from rlchecks.readers.swanlab_scalars import Scalars
from rlchecks.readers.text import counted
from rlchecks.readers.values import to_number
from rlchecks.run import InputFile

FORMAT = Format("SwanLab", b":SWL", 0xE1D6, (1, 2))
"""The header of its logs."""

INFINITE = "INF"
"""How the versions with JSON write both infinities."""

_STATES = {1: "finished", 2: "crashed", 3: "aborted"}
_MAX_STEP = 1 << 62


@dataclass
class SwanLog:
    """What one log holds.

    Attributes:
        scalars: the values.
        name: the name of the run for people; empty if there is none.
        facts: ``state`` if the run came to an end, and what else is known.
        inputs: the files that were read.
        warnings: what could not be read.
    """

    scalars: Scalars
    name: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    inputs: tuple[InputFile, ...] = ()
    warnings: tuple[str, ...] = ()


def read_log(path: Path) -> SwanLog:
    """Read a log of records.

    Raises:
        InputError: the file cannot be read or is no such log.
    """
    log = SwanLog(Scalars(path))
    records = RecordLog(path, FORMAT)
    strange = unsigned = 0
    for record in records.records():
        try:
            if records.version == 1:
                unsigned += _take_object(json.loads(record), log)
            else:
                _take_message(record, log)
        except (WireError, ValueError, RecursionError):
            strange += 1
    log.inputs = (records.source,)
    odd = (f"{counted(strange, 'record')} left out: not what SwanLab writes",) if strange else ()
    log.warnings = (*records.warnings(), *odd, *sign_lost(unsigned))
    return log


def sign_lost(unsigned: int) -> tuple[str, ...]:
    """Say that infinities have lost their sign, if there are any."""
    if not unsigned:
        return ()
    return (f"{counted(unsigned, 'value')} of {INFINITE} read as infinity: this version does not keep the sign",)


def _take_object(record: object, log: SwanLog) -> bool:
    """Take a record of version 1, and say whether it is an infinity."""
    data = record.get("data") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(data, dict):
        raise ValueError("no record")
    kind = record.get("model_type")
    if kind == "Experiment":
        log.name = str(data.get("name") or "")
    elif kind == "Footer":
        log.facts["state"] = "finished" if data.get("success") else "crashed"
    elif kind == "Scalar":
        return _take_scalar(data, log)
    return False


def _take_scalar(data: Mapping[str, object], log: SwanLog) -> bool:
    metric, key, step = data.get("metric"), data.get("key"), data.get("step")
    value = metric.get("data") if isinstance(metric, dict) else None
    number = to_number(value)
    if not isinstance(key, str) or type(step) is not int or abs(step) > _MAX_STEP or number is None:
        raise ValueError("no scalar")
    log.scalars.add(key, step, number)
    return value == INFINITE


def _take_message(record: bytes, log: SwanLog) -> None:
    for number, _, value in fields(record):
        if not isinstance(value, bytes):
            continue
        if number == 10:
            name = message(value).get(4, b"")
            log.name = name.decode("utf-8", "replace") if isinstance(name, bytes) else ""
        elif number == 11:
            state = message(value).get(1, 0)
            log.facts["state"] = _STATES.get(state, "running") if isinstance(state, int) else "running"
        elif number == 13:
            _take_scalar_message(value, log)


def _take_scalar_message(scalar: bytes, log: SwanLog) -> None:
    found = message(scalar)
    # What is 0 or empty is not written, but for messages.
    key, step, value = found.get(1, b""), found.get(2, 0), found.get(5)
    if not isinstance(key, bytes) or not isinstance(step, int) or not isinstance(value, bytes):
        raise WireError("no scalar")
    number = message(value).get(1, bytes(8))
    if not isinstance(number, bytes) or len(number) != 8:
        raise WireError("no double")
    log.scalars.add(key.decode("utf-8", "replace"), signed(step), double(number))
