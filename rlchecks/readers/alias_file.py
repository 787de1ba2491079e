"""The content of ``aliases.toml`` to frameworks, checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rlchecks.metrics import METRICS, REWARD_FUNCTION, REWARD_FUNCTION_STD
from rlchecks.readers.formulas import formula
from rlchecks.readers.frameworks import Framework
from rlchecks.readers.key_patterns import Pattern, Target

MEANINGS = {
    "reward_std": frozenset({"within_group", "within_group_median", "batch"}),
    "kl": frozenset({"sum_per_sequence"}),
}
"""Canonical metric to what ``semantics`` may say about its keys."""

_TEXTS = ("title", "versions", "marker")
_FLAGS = ("step_each_row", "merge_steps", "keys_agree")
_LISTS = ("step", "epoch", "eval_prefixes", "split_prefixes", "train_prefixes", "split", "summary", "not_loggable")
_PATTERN_LISTS = ("functions", "function_spreads", "not_functions")
_OF_ITS_OWN = ("extends", "fingerprints", "fingerprint_patterns")
_OF_METRICS = ("metrics", "patterns", "validation", "validation_patterns", "derived", "never")
_KNOWN = frozenset(
    {*_TEXTS, *_FLAGS, *_LISTS, *_PATTERN_LISTS, *_OF_ITS_OWN, *_OF_METRICS, "ambiguous", "semantics"},
)


def parse(document: Mapping[str, Mapping[str, Any]]) -> dict[str, Framework]:
    """Turn the content of an alias file into frameworks.

    Raises:
        ValueError: an entry or a canonical name does not exist, a key stands for two metrics, a formula is none, or a
            key that is listed under ``never`` is used all the same.
    """
    return {name: _framework(name, document) for name in document}


def _framework(name: str, document: Mapping[str, Mapping[str, Any]]) -> Framework:
    chain = [name]
    while base := document[chain[-1]].get("extends"):
        chain.append(base)
    merged: dict[str, Any] = {}
    for one in reversed(chain):
        if unknown := document[one].keys() - _KNOWN:
            raise ValueError(f"{one}: no entry is named {sorted(unknown)}")
        for key, value in document[one].items():
            merged[key] = {**merged.get(key, {}), **value} if isinstance(value, dict) else value
    names = {*merged.get("not_loggable", ()), *(metric for part in _OF_METRICS for metric in merged.get(part, {}))}
    if unknown := names - METRICS.keys():
        raise ValueError(f"{name}: {sorted(unknown)} is no canonical metric")
    lists: dict[str, Any] = {key: tuple(merged.get(key, ())) for key in _LISTS}
    own = document[name]
    framework = Framework(
        name=name,
        title=merged["title"],
        versions=merged["versions"],
        lineage=tuple(chain),
        fingerprints=tuple(frozenset(keys) for keys in own.get("fingerprints", ())),
        fingerprint_patterns=tuple(map(re.compile, own.get("fingerprint_patterns", ()))),
        marker=merged.get("marker", ""),
        metrics=_targets(name, merged.get("metrics", {})),
        patterns=tuple(_patterns(merged.get("patterns", {}), merged.get("metrics", {}))),
        validation=_targets(name, merged.get("validation", {})),
        validation_patterns=tuple(_patterns(merged.get("validation_patterns", {}), merged.get("validation", {}))),
        functions=(
            *_functions(merged.get("function_spreads", ()), REWARD_FUNCTION_STD),
            *_functions(merged.get("functions", ()), REWARD_FUNCTION),
        ),
        not_functions=tuple(map(re.compile, merged.get("not_functions", ()))),
        derived={metric: tuple(map(formula, entries)) for metric, entries in merged.get("derived", {}).items()},
        ambiguous={key: tuple(names) for key, names in merged.get("ambiguous", {}).items()},
        semantics=merged.get("semantics", {}),
        **lists,
        **{flag: merged.get(flag, False) for flag in _FLAGS},
    )
    _check(framework, merged)
    return framework


def _targets(name: str, metrics: Mapping[str, list[str]]) -> dict[str, Target]:
    targets: dict[str, Target] = {}
    for canonical, keys in metrics.items():
        for rank, key in enumerate(keys):
            if key in targets:
                raise ValueError(f"{name}: {key} is both {targets[key].name} and {canonical}")
            targets[key] = Target(canonical, rank)
    return targets


def _patterns(patterns: Mapping[str, list[str]], exact: Mapping[str, list[str]]) -> Iterator[Pattern]:
    for canonical, found in patterns.items():
        for rank, pattern in enumerate(map(re.compile, found), len(exact.get(canonical, ()))):
            # The mean of the sets is made later, and each keeps its own name.
            yield Pattern(pattern, REWARD_FUNCTION if "dataset" in pattern.groupindex else canonical, rank)


def _functions(patterns: Iterable[str], prefix: str) -> Iterator[Pattern]:
    for rank, pattern in enumerate(patterns):
        yield Pattern(re.compile(pattern), prefix, rank)


def _check(framework: Framework, merged: Mapping[str, Any]) -> None:
    """Refuse what contradicts itself.

    Raises:
        ValueError: a key is used as what it may never be, or a meaning is none of its metric's.
    """
    for canonical, keys in merged.get("never", {}).items():
        wrong = [key for key in keys if canonical in {_name(framework.target(key)), _name(framework.eval_target(key))}]
        if wrong:
            raise ValueError(f"{framework.name}: {wrong} may never be {canonical}")
    of_patterns = {pattern.keys.pattern: pattern.name for pattern in framework.patterns}
    for key, meaning in framework.semantics.items():
        canonical = of_patterns.get(key) or _name(framework.metrics.get(key)) or ""
        if meaning not in MEANINGS.get(canonical, ()):
            raise ValueError(f"{framework.name}: {meaning} is nothing that {key} could mean")


def _name(target: Target | None) -> str | None:
    return None if target is None else target.name
