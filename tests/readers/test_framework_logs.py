"""Logs of every framework, as lines of JSON, through the public reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.metrics import METRICS
from rlchecks.readers import read_run
from rlchecks.readers.aliases import framework, frameworks, recognise
from rlchecks.run import RunLog
from tests.readers.framework_logs import LOGS, STEPS, Log, rows_of

Write = Callable[[str, str], Path]
FORMS = [(name, prefix) for name, log in LOGS.items() for prefix in {"": 0, log.prefix: 1}]


def read(write: Write, log: Log, prefix: str = "") -> RunLog:
    rows: list[dict[str, Any]] = rows_of(log, prefix)
    for step in (2, 4) if log.evaluation else ():
        rows.insert(
            rows.index(next(row for row in rows if row[log.step] == step)) + 1, {log.step: step, **log.evaluation}
        )
    return read_run(write("log.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))


def split(run: RunLog, name: str) -> list[dict[str, Any]]:
    """Rows of one split, with what is no metric beside the metrics."""
    return [{**dict(row["extra"]), **row} for row in run.steps.to_pylist() if row["split"] == name]


@pytest.mark.parametrize(("name", "prefix"), FORMS)
def test_a_frameworks_log_is_recognised_and_means_what_it_means(name: str, prefix: str, write: Write) -> None:
    log = LOGS[name]
    run = read(write, log, prefix)
    assert run.framework == log.framework
    train = split(run, "train")
    assert [row["step"] for row in train] == list(range(1, STEPS + 1))
    logged = rows_of(log)
    for canonical, key in log.canonical.items():
        assert [row[canonical] for row in train] == pytest.approx([row[key] for row in logged]), canonical
    for canonical, formula in log.derived.items():
        wanted = [formula(row) for row in logged]
        assert [row[canonical] for row in train] == pytest.approx(wanted), canonical
        assert canonical in run.facts["metrics_derived"]
    present = {metric for metric in METRICS if any(row[metric] is not None for row in train)}
    assert present == {metric for metric in (*log.canonical, *log.derived) if metric in METRICS}
    functions = {key for row in train for key, _ in row["extra"] if key.startswith("reward/")} - logged[0].keys()
    assert functions == {name for name in log.canonical if name.startswith("reward/")}


@pytest.mark.parametrize("name", [name for name, log in LOGS.items() if log.facts or log.off])
def test_a_frameworks_log_tells_the_facts_about_its_metrics(name: str, write: Write) -> None:
    log = LOGS[name]
    run = read(write, log)
    for fact, text in log.facts.items():
        assert run.facts[fact] == text, fact
    assert ("kl_semantics" in run.facts) == ("kl_semantics" in log.facts or "nash" in name or name == "xpo")
    assert run.facts.get("metrics_switched_off", "") == ",".join(log.off)
    for metric in log.off:
        assert any(f"{metric} taken as not measured" in warning for warning in run.warnings)


@pytest.mark.parametrize(("name", "prefix"), [(name, prefix) for name, prefix in FORMS if LOGS[name].evaluation])
def test_evaluations_are_validation_checks_and_no_training(name: str, prefix: str, write: Write) -> None:
    log = LOGS[name]
    run = read(write, log, prefix)
    totals = [(check["step"], check["score"]) for check in run.validation.to_pylist() if check["grader"] is None]
    assert totals == [(2, log.score), (4, log.score)]
    assert [row["step"] for row in split(run, "eval")] == [2, 4]
    assert all(log.evaluation.keys().isdisjoint(row) for row in split(run, "train"))


@pytest.mark.parametrize("name", LOGS)
def test_nothing_that_is_logged_is_lost(name: str, write: Write) -> None:
    log = LOGS[name]
    known = framework(log.framework)
    train = [row for row in read(write, log).steps.to_pylist() if row["split"] == "train"]
    for row, logged in zip(train, rows_of(log), strict=True):
        kept = {key for key in logged if known.target(key) is None and key not in {*known.step, *known.epoch}}
        extra = dict(row["extra"])
        assert {key: extra[key] for key in kept} == {key: logged[key] for key in kept}
        assert all(extra[key] == 0 for key in log.off.values())


@pytest.mark.parametrize(("name", "prefix"), FORMS)
def test_a_fingerprint_takes_no_other_frameworks_log(name: str, prefix: str) -> None:
    log = LOGS[name]
    keys = {*rows_of(log, prefix)[0], *log.evaluation}
    assert recognise(keys, "table").name == log.framework


@pytest.mark.parametrize("name", [name for name, known in frameworks().items() if known.fingerprints])
def test_every_framework_that_can_be_recognised_is(name: str) -> None:
    logs = {log.framework for log in LOGS.values()}
    assert name in {*logs, "trl_distillation"}
