"""The settings of a run that trackers keep beside its metrics, such as Hugging Face's training arguments, as facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rlchecks.readers.steps import MAX_STEP
from rlchecks.readers.text import clean
from rlchecks.readers.values import to_count, to_text

ALGORITHM = (
    "beta",
    "num_generations",
    "max_completion_length",
    "scale_rewards",
    "loss_type",
    "num_iterations",
    "temperature",
)
"""The settings of the algorithm, by the names of TRL's training arguments."""

SINCE_0_27 = "multi_objective_aggregation"
"""A setting that TRL has since 0.27. Source: huggingface/trl trl/trainer/grpo_config.py at v0.26.2 and v0.27.0."""

_NAMES = (
    *ALGORITHM,
    "logging_steps",
    "eval_steps",
    "save_steps",
    "num_train_epochs",
    "transformers_version",
)
_PLANNED = "max_steps"
# Fact to the settings that tell it, by TRL's arguments, transformers' model configuration, and verl's flattened ones.
# Source: verl-project/verl verl/trainer/config/ppo_trainer.yaml and verl/utils/tracking.py.
_MODELS = {
    "base_model": ("model_name_or_path", "_name_or_path", "actor_rollout_ref/model/path"),
    "reward_model": ("reward_model_path", "reward_model/model/path"),
}
# verl names a reward model whether it uses one or not.
_USED = {"reward_model/model/path": "reward_model/enable"}
# MLflow keeps str() of whatever was set.
_PYTHON = {"True": "true", "False": "false"}
_NONE = "None"

NAMES = (*_NAMES, _PLANNED, *(key for keys in _MODELS.values() for key in keys), *_USED.values())
"""The settings that are used."""


class Settings(NamedTuple):
    """What the settings tell.

    Attributes:
        facts: setting to value as text; ``base_model`` and ``reward_model``, where the models are named.
        planned_steps: steps the run was configured for; None if it was configured for epochs.
    """

    facts: dict[str, str]
    planned_steps: int | None


def settings(config: Mapping[str, object]) -> Settings:
    """Pick the settings that matter from a run's configuration; what is unset, a list or an object is left out.

    Args:
        config: setting to value as the tracker has it.
    """
    facts = {}
    for name in _NAMES:
        value = config.get(name)
        if value is not None and value != _NONE and not isinstance(value, (dict, list)):
            text = to_text(value)
            facts[name] = clean(_PYTHON.get(text, text))
    facts |= {fact: clean(model) for fact, keys in _MODELS.items() if (model := _model(config, keys))}
    return Settings(facts, to_count(config.get(_PLANNED), MAX_STEP) or None)


def _model(config: Mapping[str, object], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = _at(config, key)
        used = key not in _USED or str(_at(config, _USED[key])).lower() == "true"
        if used and isinstance(value, str) and value.strip() and value != _NONE:
            return value
    return None


def _at(config: Mapping[str, object], key: str) -> object:
    """A setting by its flattened name, of a configuration that is flattened or nested."""
    if key in config:
        return config[key]
    outer, _, rest = key.partition("/")
    inside = config.get(outer)
    return _at(inside, rest) if rest and isinstance(inside, Mapping) else None
