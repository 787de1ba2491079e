"""What was found in console text to the log of one run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rlchecks.errors import NotARunError
from rlchecks.readers.aliases import recognise
from rlchecks.readers.assemble import Logged, assemble
from rlchecks.readers.console_found import Scan
from rlchecks.readers.console_rows import Entry
from rlchecks.readers.console_runs import Found, split
from rlchecks.readers.console_steps import Stepped, stepped
from rlchecks.readers.frameworks import VALIDATION_REWARD, Framework
from rlchecks.readers.identity import run_name
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.rows import Rows
from rlchecks.readers.source import choose
from rlchecks.readers.text import counted, place, shown
from rlchecks.readers.trl_rules import apply
from rlchecks.run import InputFile, RunLog

# Whose keys rows have if nothing else tells it.
_FRAMEWORKS = {
    "trainer": "trl_grpo",
    "verl": "verl",
    "slime": "slime",
    "openrlhf": "openrlhf",
    "skyrl": "skyrl",
    "torchtune": "torchtune",
    "nemo_rl": "nemo_rl",
    "notebook": "trl_grpo",
}
# Which of TRL's metrics a table in a notebook does not show (unsloth_zoo logging_utils.py, REMOVED_METRICS).
_HIDDEN = ("zero_std_fraction", "entropy", "policy_clip_fraction", "num_tokens", "kl_sampler", "aborted_ratio")


class Runs(NamedTuple):
    """The runs in a text.

    Attributes:
        all: every run, in order; they are named "1", "2", ...
        named: the names of those that have a reward; of all if none has.
    """

    all: list[Found]
    named: list[str]


def runs_in(entries: Sequence[Entry], columns: Mapping[str, str]) -> Runs:
    """Divide rows into runs.

    Args:
        entries: the rows of a text.
        columns: the user's own column to canonical name.
    """
    found = split(entries)
    names = [str(number) for number in range(1, len(found) + 1)]
    rewarded = [name for name, run in zip(names, found, strict=True) if _has_reward(run, columns)]
    return Runs(found, rewarded or names)


def read_log(
    path: Path, scanned: Scan, source: InputFile, options: ReadOptions, warnings: Sequence[str] = ()
) -> RunLog:
    """Build the log of one of the runs in a text.

    Args:
        path: the file.
        scanned: what was found in it.
        source: the record of having read it.
        options: what the user said about the run.
        warnings: what was noticed so far.

    Raises:
        NotARunError: there is no row, no row with a reward, or several runs and none was chosen.
    """
    runs = runs_in(scanned.entries, options.columns)
    if not runs.all:
        raise NotARunError("no logged row in it", path=place(path))
    if options.part is None and not any(_has_reward(run, options.columns) for run in runs.all):
        part = max(runs.named, key=lambda name: len(runs.all[int(name) - 1].entries))
    else:
        part = choose(path, runs.named, options.part)
    number = int(part)
    run = runs.all[number - 1]
    framework = _framework(run)
    steps = stepped(run.entries)
    planned, facts = steps.planned, {**_hidden(run, framework), **steps.facts}
    if planned is not None and "step" in facts:
        facts["planned_steps"] = f"{facts['step'].removesuffix(' (inferred)')} (inferred)"
    start = runs.all[number - 2].entries[-1].place if number > 1 else -1
    printed = [total for at, total in scanned.planned if start < at <= run.entries[-1].place]
    vanished = _vanished(scanned.rows, steps, framework)
    told = [*warnings, *scanned.warnings(), *run.warnings, *steps.warnings]
    told += [f"{shown(key)}: rounding left nothing but 0 of it: taken as missing" for key in vanished]
    others = len(runs.all) - len(runs.named)
    if others:
        told.append(f"{counted(others, 'other run')} in it without a reward: left out")
    logged = Logged(
        path=path,
        name=run_name(path) if number == 1 else f"{run_name(path)}-{part}",
        framework=framework,
        rows=_rows(path, scanned.rows, steps, framework, vanished),
        inputs=(source,),
        planned_steps=printed[-1] if printed else planned,
        facts=facts,
        warnings=tuple(told),
        untyped=True,
    )
    log = assemble(logged, options)
    # A table in a notebook hides keys, so that nothing follows from those which it lacks.
    return apply(log, _keys(run)) if "trl_grpo" in framework.lineage and run.kind != "notebook" else log


def _keys(run: Found) -> frozenset[str]:
    return frozenset(key for keys in {entry.keys for entry in run.entries} for key in keys)


def _framework(run: Found) -> Framework:
    keys = _keys(run)
    known = recognise(keys, _FRAMEWORKS.get(run.kind, "table"))
    # A label or an epoch alone does not make it that framework's.
    return known if any(map(known.is_reward, keys)) else recognise(keys, "table")


def _hidden(run: Found, framework: Framework) -> dict[str, str]:
    """Tell what a table in a notebook hides; what reward_std is would follow from the keys."""
    if run.kind != "notebook":
        return {}
    shown_metrics = {target.name for key in _keys(run) if (target := framework.target(key))}
    hidden = ",".join(name for name in _HIDDEN if name not in shown_metrics)
    unclear = {"reward_std_semantics": "unknown"} if "reward_std" in shown_metrics else {}
    return {**({"metrics_not_loggable": hidden} if hidden else {}), **unclear}


def _has_reward(run: Found, columns: Mapping[str, str]) -> bool:
    keys = _keys(run)
    declared = {key for key, name in columns.items() if name in ("reward", VALIDATION_REWARD)}
    return not declared.isdisjoint(keys) or any(map(_framework(run).is_reward, keys))


def _in_order(rows: Rows, steps: Stepped) -> Iterator[tuple[int | None, dict[str, object]]]:
    """Yield the rows of a run with their steps; what makes one row is joined, later values last."""
    owner = np.full(len(rows), -1)
    missing = []
    for number, (places, _) in enumerate(steps.steps):
        owner[places] = number
        missing.append(len(places))
    joined: dict[int, dict[str, object]] = {}
    following = 0
    for number, row in zip(owner.tolist(), rows, strict=True):
        if number < 0:
            continue
        joined.setdefault(number, {}).update(row)
        missing[number] -= 1
        while following in joined and not missing[following]:
            yield steps.steps[following][1], joined.pop(following)
            following += 1


def _rows(path: Path, rows: Rows, steps: Stepped, framework: Framework, left_out: Collection[str]) -> Rows:
    """Put its step into each row of a run."""
    counter = "step" if "step" in framework.step else framework.step[0]
    made = Rows(path)
    for step, row in _in_order(rows, steps):
        others = {key: value for key, value in row.items() if key not in left_out}
        if step is not None:
            others = {counter: step, **{key: value for key, value in others.items() if key not in framework.step}}
        made.append(others)
    return made


def _vanished(rows: Rows, steps: Stepped, framework: Framework) -> list[str]:
    """Find the learning rates of which rounding to a few decimals left nothing."""
    if "decimals" not in steps.facts.get("printed_numbers", ""):
        return []
    rates = {key for key in rows.keys if (target := framework.target(key)) and target.name == "learning_rate"}
    for _, row in _in_order(rows, steps) if rates else ():
        rates -= {key for key in rates if row.get(key)}
    return sorted(rates & {key for _, row in _in_order(rows, steps) for key in row})
