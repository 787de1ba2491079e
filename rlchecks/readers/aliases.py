"""Which key of which framework is which canonical metric: ``aliases.toml``, checked and ready for look-up.

Only exact keys and anchored patterns count; a part of a name is never enough, since ``clip_ratio`` and ``kl`` mean
different things in different keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from rlchecks.errors import UsageError
from rlchecks.metrics import METRICS, REWARD_FUNCTION, REWARD_FUNCTION_STD
from rlchecks.readers.text import listing

VALIDATION_REWARD = "validation_reward"
"""Name under which a user's column can be declared to be the reward on the run's validation questions."""

_MOST_REMEMBERED = 10_000

_LISTS = (
    "step",
    "epoch",
    "eval_prefixes",
    "split_prefixes",
    "train_prefixes",
    "split",
    "summary",
    "functions",
    "function_spreads",
    "not_functions",
)


class Target(NamedTuple):
    """Where the values of a key belong: a canonical metric, or a reward function; the lower rank wins."""

    name: str
    rank: int


@dataclass(frozen=True)
class Framework:
    """The keys of one framework; the fields are described at the top of ``aliases.toml``."""

    name: str
    title: str
    versions: str
    lineage: tuple[str, ...]
    fingerprints: tuple[frozenset[str], ...]
    step: tuple[str, ...]
    epoch: tuple[str, ...]
    eval_prefixes: tuple[str, ...]
    split_prefixes: tuple[str, ...]
    train_prefixes: tuple[str, ...]
    split: tuple[str, ...]
    marker: str
    summary: tuple[str, ...]
    metrics: Mapping[str, Target]
    validation: Mapping[str, Target]
    ambiguous: Mapping[str, tuple[str, ...]]
    semantics: Mapping[str, str]
    functions: tuple[tuple[re.Pattern[str], str], ...]
    not_functions: tuple[re.Pattern[str], ...]
    _found: dict[str, Target | None] = field(default_factory=dict, repr=False, compare=False)

    def target(self, key: str) -> Target | None:
        """Find where a training key belongs; None for a key without a canonical name."""
        if key not in self._found:
            if len(self._found) >= _MOST_REMEMBERED:
                self._found.clear()
            self._found[key] = self._search(key)
        return self._found[key]

    def eval_target(self, key: str) -> Target | None:
        """Find where a key of an evaluation row belongs."""
        if key in self.validation:
            return self.validation[key]
        for prefix in (*self.eval_prefixes, *self.split_prefixes):
            if key.startswith(prefix):
                return self.target(key[len(prefix) :])
        return self.target(key)

    def is_eval(self, key: str) -> bool:
        """Whether a key says by itself that it was measured on the evaluation set."""
        if key in self.validation or key.startswith(self.eval_prefixes):
            return True
        return any(key.startswith(prefix) and self.target(key[len(prefix) :]) for prefix in self.split_prefixes)

    def is_reward(self, key: str) -> bool:
        """Whether a key holds the total reward, in training or validation."""
        target = self.eval_target(key) if self.is_eval(key) else self.target(key)
        return target is not None and target.name == "reward"

    def with_columns(self, columns: Mapping[str, str]) -> Framework:
        """Add the user's own names, which win over all others.

        Args:
            columns: logged key to canonical name; ``step``, ``epoch``, ``validation_reward``, ``reward/<function>``
                and ``reward_std/<function>`` are names too.

        Raises:
            UsageError: a canonical name does not exist, or is given twice.
        """
        for name in columns.values():
            if not _is_canonical(name):
                known = ", ".join(["step", "epoch", *METRICS, VALIDATION_REWARD, f"{REWARD_FUNCTION}<function>"])
                raise UsageError(f"{listing([name])} is no canonical metric; there are: {known}.")
        twice = sorted({name for name in columns.values() if list(columns.values()).count(name) > 1})
        if twice:
            raise UsageError(f"two columns are declared to be {listing(twice)}; one column can be.")
        own = {key: Target(name, -1) for key, name in columns.items() if name not in ("step", "epoch")}
        validation = {key: Target("reward", -1) for key, target in own.items() if target.name == VALIDATION_REWARD}
        return replace(
            self,
            step=(*(key for key, name in columns.items() if name == "step"), *self.step),
            epoch=(*(key for key, name in columns.items() if name == "epoch"), *self.epoch),
            metrics={**self.metrics, **{key: target for key, target in own.items() if key not in validation}},
            validation={**{k: v for k, v in self.validation.items() if k not in own}, **validation},
            ambiguous={key: names for key, names in self.ambiguous.items() if key not in own},
            _found={},
        )

    def _search(self, key: str) -> Target | None:
        bare = next((key[len(prefix) :] for prefix in self.train_prefixes if key.startswith(prefix)), key)
        for name in (key, bare):
            if name in self.metrics:
                return self.metrics[name]
        for name in (key, bare):
            if any(pattern.fullmatch(name) for pattern in self.not_functions):
                return None
            for rank, (pattern, prefix) in enumerate(self.functions):
                if found := pattern.fullmatch(name):
                    return Target(prefix + found["function"], rank)
        return None


def framework(name: str) -> Framework:
    """Return the framework with this name in ``aliases.toml``."""
    return _frameworks()[name]


def recognise(keys: Iterable[str], default: str) -> Framework:
    """Tell the framework from the logged keys; ``default`` if none of the fingerprints fits."""
    present = frozenset(keys)
    for known in _frameworks().values():
        if any(fingerprint <= present for fingerprint in known.fingerprints):
            return known
    return _frameworks()[default]


@cache
def _frameworks() -> dict[str, Framework]:
    text = files("rlchecks.readers").joinpath("aliases.toml").read_text(encoding="utf-8")
    return parse(tomllib.loads(text))


def parse(document: Mapping[str, Mapping[str, Any]]) -> dict[str, Framework]:
    """Turn the content of an alias file into frameworks.

    Raises:
        ValueError: a canonical name does not exist, a key stands for two metrics, or a key that is listed under
            ``never`` is used all the same.
    """
    return {name: _framework(name, document) for name in document}


def _framework(name: str, document: Mapping[str, Mapping[str, Any]]) -> Framework:
    chain = [name]
    while base := document[chain[-1]].get("extends"):
        chain.append(base)
    merged: dict[str, Any] = {}
    for one in reversed(chain):
        for key, value in document[one].items():
            merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
    targets = _targets(name, merged.get("metrics", {}))
    for canonical, keys in merged.get("never", {}).items():
        wrong = [key for key in keys if key in targets and targets[key].name == canonical]
        if wrong:
            raise ValueError(f"{name}: {wrong} may never be {canonical}")
    lists: dict[str, Any] = {key: tuple(merged.get(key, ())) for key in _LISTS}
    patterns = [(re.compile(pattern), REWARD_FUNCTION) for pattern in lists.pop("functions")]
    spreads = [(re.compile(pattern), REWARD_FUNCTION_STD) for pattern in lists.pop("function_spreads")]
    excluded = tuple(re.compile(pattern) for pattern in lists.pop("not_functions"))
    return Framework(
        name=name,
        title=merged["title"],
        versions=merged["versions"],
        lineage=tuple(chain),
        fingerprints=tuple(frozenset(keys) for keys in document[name].get("fingerprints", ())),
        marker=merged.get("marker", ""),
        metrics=targets,
        validation=_targets(name, merged.get("validation", {})),
        ambiguous={key: tuple(names) for key, names in merged.get("ambiguous", {}).items()},
        semantics=merged.get("semantics", {}),
        functions=(*spreads, *patterns),
        not_functions=excluded,
        **lists,
    )


def _targets(name: str, metrics: Mapping[str, list[str]]) -> dict[str, Target]:
    targets: dict[str, Target] = {}
    for canonical, keys in metrics.items():
        if canonical not in METRICS:
            raise ValueError(f"{name}: {canonical} is no canonical metric")
        for rank, key in enumerate(keys):
            if key in targets:
                raise ValueError(f"{name}: {key} is both {targets[key].name} and {canonical}")
            targets[key] = Target(canonical, rank)
    return targets


def _is_canonical(name: str) -> bool:
    if name in METRICS or name in ("step", "epoch", VALIDATION_REWARD):
        return True
    return any(name.startswith(prefix) and name != prefix for prefix in (REWARD_FUNCTION, REWARD_FUNCTION_STD))
