"""What the keys of a framework mean, looked up.

Only exact keys and anchored patterns count; a part of a name is never enough, since ``clip_ratio`` and ``kl`` mean
different things in different keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rlchecks.readers.formulas import Formula
from rlchecks.readers.key_patterns import Pattern, Target, first

_MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class FrameworkKeys:
    """The keys of one framework; the fields are described at the top of ``aliases.toml``.

    What only a log tells is filled by :class:`rlchecks.readers.frameworks.Framework`: ``datasets`` are the names, with
    the prefix of reward functions, of the rewards on single validation sets; ``unclear`` leads from a canonical metric
    to keys of which each holds it for a part of the run; ``spellings`` leads from a logged key to the key that it is.
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
        return self.evaluation(key)[1]

    def is_eval(self, key: str) -> bool:
        """Whether a key says by itself that it was measured on the evaluation set."""
        return self.evaluation(key)[0]

    def is_reward(self, key: str) -> bool:
        """Whether a key holds the total reward, in training or validation."""
        evaluated, target = self.evaluation(key)
        if target is None:
            return False
        return target.name == "reward" or (evaluated and first(self.validation_patterns, key) is not None)

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

    def evaluation(self, key: str) -> tuple[bool, Target | None]:
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
            return self.evaluation(self.spellings[key])
        if target := first(self.validation_patterns, key):
            return True, None if key in self._parts else target
        if key.startswith(self.eval_prefixes):
            return True, self.target(self.eval_bare(key))
        for prefix in self.split_prefixes:
            if key.startswith(prefix):
                target = self.target(key[len(prefix) :])
                return target is not None, target
        return False, self.target(key)
