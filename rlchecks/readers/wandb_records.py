"""A ``.wandb`` file: the rows of its history, and what its other records tell about the run.

It is a log of Record messages; their fields and those of the messages in them are numbered in wandb/wandb
wandb/proto/wandb_internal.proto and wandb_telemetry.proto. Console output, statistics of the machine, summaries and
lists of files are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rlchecks.readers.leveldb import Format, RecordLog
from rlchecks.readers.protobuf import WireError, double, fields, message, signed
from rlchecks.readers.rows import Rows
from rlchecks.readers.settings import NAMES, SINCE_0_27
from rlchecks.readers.steps import Row
from rlchecks.readers.text import counted, listing
from rlchecks.readers.wandb_history import History, split_item
from rlchecks.run import InputFile

FORMAT = Format("Weights & Biases", b":W&B", 0xBEE1, (0,))
"""The header of all ``.wandb`` files so far, from SDK 0.10 to 0.31."""

KIN = ("output_dir", "_name_or_path", "seed", "logging_steps", "num_generations")
"""Settings that a run has in common with its continuation."""

# The rest of a configuration holds names, paths and secrets.
_WANTED = frozenset({*NAMES, *KIN, SINCE_0_27})
_LONGEST_SETTING = 200

_Fields = Mapping[int, int | bytes]


@dataclass
class WandbLog:
    """What one file holds.

    Attributes:
        rows: the rows of the history.
        run_id: the id of the run; empty if the file does not say.
        project: its project.
        name: its name for people; empty if none was given.
        config: the settings that are used.
        facts: other facts.
        step_metric: the key that the run declared to be the step of all its metrics.
        source: the record of having read the file.
        warnings: what could not be read.
    """

    rows: Rows
    run_id: str = ""
    project: str = ""
    name: str = ""
    config: dict[str, object] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    step_metric: str | None = None
    source: InputFile | None = None
    warnings: tuple[str, ...] = ()


def read_log(path: Path, enough: Callable[[Row], bool] | None = None) -> WandbLog:
    """Read a ``.wandb`` file.

    Args:
        path: the file.
        enough: asked after each row whether to stop there; then ``source`` and ``warnings`` stay empty.

    Raises:
        InputError: the file cannot be read or is no such file.
    """
    log = WandbLog(Rows(path))
    history = History()
    records = RecordLog(path, FORMAT)
    strange = missing = before = 0
    # The row of a record in several pieces, until the number of the next record says that they belong together.
    held: Row | None = None
    for record in records.records():
        try:
            number, row = _take(record, log, history)
        except WireError:
            strange += 1
            number, row = before + 1, None
        gap = before > 0 and number != before + 1
        missing += max(number - before - 1, 0) + (held is not None) if gap else 0
        before = number
        if held is not None and not gap:
            log.rows.append(held)
        held = row if records.pieces > 1 else None
        if row is not None and held is None:
            log.rows.append(row)
        if row is not None and enough is not None and enough(row):
            return log
    if held is not None:
        log.rows.append(held)
    log.source = records.source
    log.warnings = (*records.warnings(), *_told(strange, missing), *history.warnings())
    if history.left_out:
        log.facts["not_read"] = listing(sorted(history.left_out))
    return log


def _told(strange: int, missing: int) -> list[str]:
    said = []
    if missing:
        said.append(f"{counted(missing, 'record')} missing: the numbers of the others have gaps")
    if strange:
        said.append(f"{counted(strange, 'record')} left out: no message of Weights & Biases")
    return said


def _take(record: bytes, log: WandbLog, history: History) -> tuple[int, Row | None]:
    """Take what a record tells; return its number, which is that of the one before and 1, and its row if it has one."""
    count = 0
    row = None
    for number, _, value in fields(record):
        if isinstance(value, int):
            count = value if number == 1 else count
        elif number == 2:
            row = history.row(value)
        elif number == 5:
            _take_config(value, log)
        elif number == 11:
            _take_telemetry(message(value), log)
        elif number == 12:
            _take_metric(message(value), log)
        elif number == 17:
            _take_run(message(value), log)
        elif number == 18:
            code = message(value).get(1, 0)
            log.facts["exit_code"] = str(signed(code)) if isinstance(code, int) else ""
    return count, row


def _take_run(run: _Fields, log: WandbLog) -> None:
    log.run_id = _text(run, 1) or log.run_id
    log.project = _text(run, 3) or log.project
    log.name = _text(run, 8) or log.name
    if isinstance(config := run.get(4), bytes):
        _take_config(config, log)
    if isinstance(telemetry := run.get(19), bytes):
        _take_telemetry(message(telemetry), log)
    if run.get(18):
        log.facts["resumed"] = "true"
    if isinstance(branch := run.get(23), bytes):
        point = message(branch)
        at = point.get(2, b"")
        value = f"{double(at):g}" if isinstance(at, bytes) and len(at) == 8 else "0"
        log.facts["forked_from"] = f"{_text(point, 1)} at {_text(point, 3)} {value}"


def _take_config(config: bytes, log: WandbLog) -> None:
    for number, _, item in fields(config):
        if number != 1 or not isinstance(item, bytes):
            continue
        path, text = split_item(item)
        if len(path) == 1 and path[0] in _WANTED and len(text) <= _LONGEST_SETTING:
            try:
                log.config[path[0]] = json.loads(text)
            except (ValueError, RecursionError):
                continue


def _take_telemetry(telemetry: _Fields, log: WandbLog) -> None:
    for number, fact in ((5, "wandb_version"), (6, "transformers_version")):
        if text := _text(telemetry, number):
            log.facts[fact] = text


def _take_metric(metric: _Fields, log: WandbLog) -> None:
    if metric.get(2) == b"*":
        log.step_metric = _text(metric, 4) or log.step_metric


def _text(found: _Fields, number: int) -> str:
    value = found.get(number, b"")
    return value.decode("utf-8", "replace")[:_LONGEST_SETTING] if isinstance(value, bytes) else ""
