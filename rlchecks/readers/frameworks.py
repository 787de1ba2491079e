"""The keys of one framework, ready for one log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rlchecks.errors import UsageError
from rlchecks.metrics import METRICS, REWARD_FUNCTION, REWARD_FUNCTION_STD
from rlchecks.readers.framework_keys import FrameworkKeys
from rlchecks.readers.key_patterns import Target, first, other_spellings
from rlchecks.readers.text import clean, listing

VALIDATION_REWARD = "validation_reward"
"""Name under which a user's column can be declared to be the reward on the run's validation questions."""


class Framework(FrameworkKeys):
    """The keys of one framework, to be settled for the keys of one log and for what its user declared."""

    def sought_reward(self, keys: Iterable[str]) -> str:
        """Write what a log without a reward lacks."""
        if parts := self.unclear.get("reward"):
            return f"a reward for the whole run ({listing(parts)} are each that of a part)"
        return f"a reward (keys: {listing(sorted(keys))})"

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
            evaluated, target = self.evaluation(key)
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
        target = self.evaluation(name)[1]
        known = name in counters or (target is not None and target.name in METRICS)
        return known and key not in counters and self.evaluation(key)[1] is None

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
