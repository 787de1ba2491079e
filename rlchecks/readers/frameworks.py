"""The keys of one framework, ready for look-up.

Only exact keys and anchored patterns count; a part of a name is never enough, since ``clip_ratio`` and ``kl`` mean
different things in different keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from rlchecks.errors import UsageError
from rlchecks.metrics import METRICS, REWARD_FUNCTION, REWARD_FUNCTION_STD
from rlchecks.readers.formulas import Formula
from rlchecks.readers.key_patterns import Pattern, Target, first, other_spellings
from rlchecks.readers.text import clean, listing

VALIDATION_REWARD = "validation_reward"
"""Name under which a user's column can be declared to be the reward on the run's validation questions."""

_MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class Framework:
    """The keys of one framework; the fields are described at the top of ``aliases.toml``.

    What only a log tells is filled by :meth:`among`: ``datasets`` are the names, with the prefix of reward functions,
    of the rewards on single validation sets; ``unclear`` leads from a canonical metric to keys of which each holds it
    for a part of the run. ``spellings``, filled by :meth:`spelled`, leads from a logged key to the key that it is.
    """

    name: str
    title: str
    versions: str
    lineage: tuple[str, ...]
    fingerprints: tuple[frozenset[str], ...]
    fingerprint_patterns: tuple[re.Pattern[str], ...]
    step: tuple[str, ...]
    epoch: tuple[str, ...]
    eval_prefixes: tuple[str, ...]
    split_prefixes: tuple[str, ...]
    train_prefixes: tuple[str, ...]
    split: tuple[str, ...]
    marker: str
    summary: tuple[str, ...]
    step_each_row: bool
    merge_steps: bool
    keys_agree: bool
    metrics: Mapping[str, Target]
    patterns: tuple[Pattern, ...]
    validation: Mapping[str, Target]
    validation_patterns: tuple[Pattern, ...]
    functions: tuple[Pattern, ...]
    not_functions: tuple[re.Pattern[str], ...]
    derived: Mapping[str, tuple[Formula, ...]]
    ambiguous: Mapping[str, tuple[str, ...]]
    semantics: Mapping[str, str]
    not_loggable: tuple[str, ...]
    datasets: frozenset[str] = frozenset()
    unclear: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)
    _parts: frozenset[str] = frozenset()
    _found: dict[str, Target | None] = field(default_factory=dict, repr=False, compare=False)
    _measured: dict[str, tuple[bool, Target | None]] = field(default_factory=dict, repr=False, compare=False)

    def target(self, key: str) -> Target | None:
        """Find where a training key belongs; None for a key without a canonical name."""
        if key not in self._found:
            if len(self._found) >= _MOST_REMEMBERED:
                self._found.clear()
            self._found[key] = self._search(key)
        return self._found[key]

    def eval_target(self, key: str) -> Target | None:
        """Find where a key of an evaluation row belongs."""
        return self._evaluation(key)[1]

    def is_eval(self, key: str) -> bool:
        """Whether a key says by itself that it was measured on the evaluation set."""
        return self._evaluation(key)[0]

    def is_reward(self, key: str) -> bool:
        """Whether a key holds the total reward, in training or validation."""
        evaluated, target = self._evaluation(key)
        if target is None:
            return False
        return target.name == "reward" or (evaluated and first(self.validation_patterns, key) is not None)

    def sought_reward(self, keys: Iterable[str]) -> str:
        """Write what a log without a reward lacks."""
        if parts := self.unclear.get("reward"):
            return f"a reward for the whole run ({listing(parts)} are each that of a part)"
        return f"a reward (keys: {listing(sorted(keys))})"

    def bare(self, key: str) -> str:
        """Take the prefix that a tracker adds to training metrics from a key."""
        return next((key[len(prefix) :] for prefix in self.train_prefixes if key.startswith(prefix)), key)

    def eval_bare(self, key: str) -> str:
        """Take what makes it a key of the evaluation set from a key."""
        prefixes = (*self.eval_prefixes, *self.split_prefixes)
        return next((key[len(prefix) :] for prefix in prefixes if key.startswith(prefix)), key)

    def is_marker(self, key: str) -> bool:
        """Whether a key makes its row the closing one."""
        return bool(self.marker) and self.marker in (key, self.bare(key))

    def sums_up(self, key: str) -> bool:
        """Whether a key of a closing row sums up the run."""
        return any(name.startswith("train_") or name in self.summary for name in (key, self.bare(key)))

    def meaning(self, key: str) -> str | None:
        """Tell which quantity it is that a key holds, where its metric may be several; None where nothing is said."""
        for name in (key, self.bare(key)):
            for known, meaning in self.semantics.items():
                if name == known or (known not in self.metrics and re.fullmatch(known, name)):
                    return meaning
        return None

    def among(self, keys: Iterable[str]) -> Framework:
        """Settle for one log, whose keys these are, which of them speak for the whole run.

        Where several keys fit one pattern, each speaks for a part (an environment, an agent, a role): none of them
        is used. Better ones, such as that of the aggregate, stand before them in ``aliases.toml``.
        """
        if not self.patterns and not self.validation_patterns:
            return self
        keys = list(keys)
        claims: dict[tuple[bool, Target], list[str]] = {}
        for key in keys:
            evaluated, target = self._evaluation(key)
            if target is not None:
                claims.setdefault((evaluated, target), []).append(key)
        shared = {claim: tuple(sorted(found)) for claim, found in claims.items() if self._is_shared(claim, found)}
        whole = {(evaluated, target.name) for evaluated, target in claims.keys() - shared.keys()}
        unclear = {
            target.name: found
            for (evaluated, target), found in sorted(shared.items(), reverse=True)
            if (evaluated, target.name) not in whole
        }
        parts = self._parts.union(*shared.values())
        named = [first(self.validation_patterns, key) for key in keys]
        datasets = frozenset(clean(target.name) for target in named if target)
        unclear = {**self.unclear, **unclear}
        return replace(self, datasets=datasets, unclear=unclear, _parts=parts, _found={}, _measured={})

    def spelled(self, keys: Iterable[str]) -> Framework:
        """Know the keys of one log also in capitals and with blanks or hyphens: ``Mean Reward`` as ``mean_reward``.

        Two keys that only their spelling tells apart stay what they are, and so does whatever is a known key itself or
        would be a reward function.
        """
        found = {key: name for key, name in other_spellings(keys).items() if self._is_respelled(key, name)}
        own = {name: key for key, name in found.items()}

        def with_own(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(one for name in names for one in (name, own.get(name)) if one is not None)

        return replace(
            self,
            step=with_own(self.step),
            epoch=with_own(self.epoch),
            split=with_own(self.split),
            ambiguous={
                **self.ambiguous,
                **{key: self.ambiguous[name] for key, name in found.items() if name in self.ambiguous},
            },
            spellings=found,
            _found={},
            _measured={},
        )

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
            unclear={name: keys for name, keys in self.unclear.items() if name not in columns.values()},
            _parts=self._parts - own.keys(),
            _found={},
            _measured={},
        )

    def _is_respelled(self, key: str, name: str) -> bool:
        counters = {*self.step, *self.epoch, *self.split, *self.ambiguous}
        target = self._evaluation(name)[1]
        known = name in counters or (target is not None and target.name in METRICS)
        return known and key not in counters and self._evaluation(key)[1] is None

    def _search(self, key: str) -> Target | None:
        if key not in self.metrics:
            key = self.spellings.get(key, key)
        names = (key, self.bare(key))
        for name in names:
            if name in self.metrics:
                return self.metrics[name]
        if key in self._parts:
            return None
        for name in names:
            if target := first(self.patterns, name):
                return target
        for name in names:
            if any(pattern.fullmatch(name) for pattern in self.not_functions):
                return None
            if target := first(self.functions, name):
                return target
        return None

    def _evaluation(self, key: str) -> tuple[bool, Target | None]:
        """Tell whether a key was measured on the evaluation set, and where it belongs if it was or its row is."""
        if key not in self._measured:
            if len(self._measured) >= _MOST_REMEMBERED:
                self._measured.clear()
            self._measured[key] = self._measure(key)
        return self._measured[key]

    def _measure(self, key: str) -> tuple[bool, Target | None]:
        if key in self.validation:
            return True, self.validation[key]
        if key in self.metrics and self.metrics[key].rank < 0:
            # So the user says, whatever the key begins with.
            return False, self.metrics[key]
        if key in self.spellings:
            return self._evaluation(self.spellings[key])
        if target := first(self.validation_patterns, key):
            return True, None if key in self._parts else target
        if key.startswith(self.eval_prefixes):
            return True, self.target(self.eval_bare(key))
        for prefix in self.split_prefixes:
            if key.startswith(prefix):
                target = self.target(key[len(prefix) :])
                return target is not None, target
        return False, self.target(key)

    def _is_shared(self, claim: tuple[bool, Target], found: list[str]) -> bool:
        evaluated, target = claim
        if len(found) == 1 or target.rank < 0:
            return False
        patterns = (*(self.validation_patterns if evaluated else ()), *self.patterns, *self.functions)
        bare = self.eval_bare if evaluated else self.bare
        return sum(1 for key in found if first(patterns, key) or first(patterns, bare(key))) > 1


def _is_canonical(name: str) -> bool:
    if name in METRICS or name in ("step", "epoch", VALIDATION_REWARD):
        return True
    return any(name.startswith(prefix) and name != prefix for prefix in (REWARD_FUNCTION, REWARD_FUNCTION_STD))
