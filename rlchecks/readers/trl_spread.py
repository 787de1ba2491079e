"""What TRL's ``reward_std`` is: the mean spread within the groups of one prompt, or the spread of the whole batch.

It was the former up to 0.26 (but for a mistake in 0.22.0 and 0.22.1) and is the latter since 0.27. Only a spread
within groups says how much signal there is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rlchecks.metrics import REWARD_FUNCTION, REWARD_FUNCTION_STD

WITHIN_GROUP = "within_group"
BATCH = "batch"
UNKNOWN = "unknown"

# Keys that came with 0.28 or later.
_LATER_KEYS = frozenset({"vespo/phi_seq_mean", "aux_loss", "policy_loss", "entropy_coef"})
_EARLY = frozenset({"0.14 to 0.16", "0.17", "0.18 to 0.19"})
# Both are computed in single precision.
_EQUAL = 1e-5


class Evidence(NamedTuple):
    """What tells the version of TRL.

    Attributes:
        keys: all logged keys.
        era: the key generation.
        version: the version itself, if known.
        scale_rewards: the setting of this name, if known; ``batch`` logs the spread of the batch.
        logs_completions: whether TRL wrote its completions files (0.28 or later).
    """

    keys: AbstractSet[str]
    era: str
    version: str | None = None
    scale_rewards: str | None = None
    logs_completions: bool = False


def semantics(train: pa.Table, functions: Sequence[str], evidence: Evidence) -> str:
    """Tell what ``reward_std`` is.

    Args:
        train: the training rows.
        functions: names of the reward functions.
        evidence: what is known about the version.

    Returns:
        ``within_group``, ``batch`` or ``unknown``.
    """
    version = evidence.version
    if version is not None and (numbers := re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)):
        major, minor, patch = (int(number or 0) for number in numbers.groups())
        swapped = (major, minor) == (0, 22) and patch < 2
        return BATCH if swapped or (major, minor) >= (0, 27) or evidence.scale_rewards == "batch" else WITHIN_GROUP
    if evidence.logs_completions or evidence.keys & _LATER_KEYS:
        return BATCH
    if evidence.era in _EARLY:
        return WITHIN_GROUP
    return _from_one_function(train, functions[0]) if len(functions) == 1 else UNKNOWN


def _from_one_function(train: pa.Table, function: str) -> str:
    """Compare with the spread of the only reward function, which is always that of the whole batch.

    One row that differs proves the spread within groups. Rows that never differ prove nothing if there is one group
    a batch, which is when the share of groups without spread is only ever 0 or 1.
    """
    total, spread = (train[name].to_numpy() for name in ("reward", "reward_std"))
    mean, own = (_lookup(train, prefix + function) for prefix in (REWARD_FUNCTION, REWARD_FUNCTION_STD))
    # Only where the function has weight 1 and scored every answer.
    finite = np.isfinite([total, spread, mean, own]).all(axis=0)
    usable = finite & np.isclose(total, mean, rtol=_EQUAL, atol=1e-9)
    if not usable.any():
        return UNKNOWN
    if not np.allclose(spread[usable], own[usable], rtol=_EQUAL, atol=1e-7):
        return WITHIN_GROUP
    fractions = train["zero_std_fraction"].to_numpy()
    return BATCH if ((fractions > 0) & (fractions < 1)).any() else UNKNOWN


def _lookup(train: pa.Table, name: str) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = pc.map_lookup(train["extra"], pa.scalar(name), "first").to_numpy()
    return numbers
