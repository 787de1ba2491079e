"""Which printed dictionary is a logged row, and of what step; people print other dictionaries too.

A dictionary counts if one of these holds:

- a trainer's label stands before it: ``Global step 5: `` (OpenRLHF ``openrlhf/trainer/ppo_trainer.py``);
  ``rollout 5: ``, ``perf 5: ``, ``step 5: `` or ``eval 5: `` (slime ``slime/observability/``), or ``Step 5: `` in the
  line before (SkyRL ``skyrl/train/utils/tracking.py``), with keys of the form ``scope/name``;
- it has ``epoch`` and a key that Hugging Face's trainers log beside it, such as ``loss``, ``reward`` or
  ``train_runtime``;
- it has a step and a metric of the vocabulary;
- it has a reward and another metric of a training step.

One that is a value of another, an element of a list or an argument of a call never counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from rlchecks.metrics import METRICS
from rlchecks.readers.aliases import framework
from rlchecks.readers.console_bars import Bar
from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.table import no_steps
from rlchecks.readers.values import to_count

# What transformers and TRL log beside "epoch" (transformers trainer.py, log).
_BESIDE_EPOCH = frozenset(
    (
        *("loss", "grad_norm", "learning_rate", "reward", "train_loss", "train_runtime", "lr", "kl"),
        *("objective/kl", "objective/scores", "rewards/chosen", "completion_length", "completions/mean_length"),
    )
)
# "10/438": ms-swift swift/trainers/patcher.py, swift/megatron/callbacks/print.py.
_PROGRESS = ("global_step/max_steps", "iteration")
_STEPS = ("step", "global_step", "train/global_step")
_COUNTERS = frozenset({"epoch", "total_flos", *_STEPS, *_PROGRESS})
_CLOSING = "train_runtime"
_OF_ALL = re.compile(r"(\d{1,13})/(\d{1,13})")
_LABELS = (
    ("verl", re.compile(r"Initial validation metrics: (?P<step>)\Z")),
    ("openrlhf", re.compile(r"(?:[Gg]lobal[ _]step|Eval at step) (?P<step>\d{1,13})(?:, eval_metrics)?: ?\s*\Z")),
    ("skyrl", re.compile(r"\bStep (?P<step>\d{1,13}): ?\s*\Z")),
    (
        "slime",
        re.compile(
            r"(?:^|[\s\]-])(?P<name>rollout|perf|eval|passrate|multi_turn|critic-step|step) (?P<step>\d{1,13}): ?\Z"
        ),
    ),
)


INITIAL = "initial"
"""Name of verl's entry before the first step, which it logs a second time with its step."""


OPTIMISER = ("step", "critic-step")
"""Of slime's labels, those that count optimiser steps; the others count rollouts."""


class Entry(NamedTuple):
    """What is known about a logged row besides its values.

    Attributes:
        keys: its keys, in order.
        kind: who printed it: ``trainer`` (Hugging Face's), ``verl``, ``slime``, ``openrlhf``, ``skyrl``,
            ``torchtune``, ``nemo_rl``; ``counted`` and ``plain`` for dictionaries of others.
        step: if the row or its label tells it.
        name: what else its label tells.
        planned: steps of the run, if the row tells them.
        epoch: if the row tells it.
        rounded: how its numbers were rounded for printing, if that is certain.
        at: its place among the rows.
        place: where in the log it was, increasing.
        source: which process printed it; None if the log does not say.
        bars: the progress bars beside it.
        again: whether its values are those of the row before, but for rounding.
    """

    keys: tuple[str, ...]
    kind: str
    step: int | None = None
    name: str = ""
    planned: int | None = None
    epoch: float = 0.0
    rounded: str | None = None
    at: int = 0
    place: int = 0
    source: str | None = None
    bars: tuple[Bar, ...] = ()
    again: bool = False

    @property
    def closes(self) -> bool:
        """Whether it sums up a finished training."""
        return _CLOSING in self.keys

    @property
    def trains(self) -> bool:
        """Whether it has training metrics; evaluations have none, and closing rows need not have any."""
        return _trains(self.keys)


def is_inside(before: str) -> bool:
    """Whether a dictionary is a part of something that begins in its line.

    Args:
        before: what stands before it.
    """
    bare = before.rstrip(" \t")
    if bare.endswith(("[", "(", "=")):
        return True
    begun = bare[:-1].rstrip()
    return (bare.endswith(",") and begun.endswith("}")) or (bare.endswith(":") and begun.endswith(("'", '"')))


def entry_of(row: Mapping[str, object], before: str, *, quoted: bool) -> Entry | None:
    """Tell whether a dictionary is a logged row.

    Args:
        row: the dictionary.
        before: the text before it.
        quoted: whether it has numbers in quotation marks.
    """
    keys = tuple(row)
    numbers = {key for key, value in row.items() if isinstance(value, float | int) and not isinstance(value, bool)}
    if not numbers or no_steps(row):
        return None
    for kind, pattern in _LABELS if before.rstrip().endswith(":") else ():
        label = pattern.search(before)
        if label and _fits(kind, row):
            rounded = "4 decimals" if kind == "skyrl" and quoted else None
            name = INITIAL if kind == "verl" else label.groupdict().get("name", "")
            return Entry(keys, kind, int(label["step"]) if label["step"] else None, name, rounded=rounded)
    step, planned = _own_step(row)
    if "epoch" in numbers and (not _BESIDE_EPOCH.isdisjoint(row) or any(key.startswith("eval_") for key in row)):
        # transformers 5 prints every floating-point number as text with four significant digits.
        rounded = "4 significant digits" if quoted else None
        return Entry(keys, "trainer", step, planned=planned, epoch=float(str(row["epoch"])), rounded=rounded)
    known = {target.name for key in numbers if (target := framework("table").target(key)) and target.name in METRICS}
    if known and step is not None:
        return Entry(keys, "counted", step, planned=planned)
    return Entry(keys, "plain") if "reward" in known and len(known) > 1 else None


def looks_logged(keys: Iterable[str]) -> bool:
    """Whether a dictionary with these keys, of which the rest could not be read, was a row."""
    return any(key in _BESIDE_EPOCH or key == "epoch" or framework("table").is_reward(key) for key in keys)


def is_again(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether two rows have the same keys and, to the four digits that are always printed, the same values."""
    return one.keys() == other.keys() and all(_digits(one[key]) == _digits(other[key]) for key in reversed(list(one)))


def _digits(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float | int) else value


@lru_cache(maxsize=1000)
def _trains(keys: tuple[str, ...]) -> bool:
    return any(key not in _COUNTERS and not key.startswith(("eval_", "train_")) for key in keys)


def _fits(kind: str, row: Mapping[str, object]) -> bool:
    if kind == "openrlhf":
        return any(framework("table").target(key) or key.startswith("eval_") for key in row)
    return all("/" in key for key in row)


def _own_step(row: Mapping[str, object]) -> tuple[int | None, int | None]:
    for key in _PROGRESS:
        value = row.get(key)
        if isinstance(value, str) and (found := _OF_ALL.fullmatch(value)):
            return int(found[1]), int(found[2])
    for key in (*_STEPS, *framework("table").step):
        step = to_count(row.get(key), MAX_STEP)
        if step is not None:
            return step, None
    return None, None
