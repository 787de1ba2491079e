"""What the files beside a TRL log tell: versions, the trainer, settings. None of them is required."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rlchecks.readers.files import side_text
from rlchecks.readers.settings import ALGORITHM
from rlchecks.readers.text import clean
from rlchecks.readers.values import to_text
from rlchecks.run import InputFile

_TEXTS = ("README.md", "requirements.txt")
_ADAPTER = "adapter_config.json"
_DOCUMENTS = ("training_args.json", "args.json", _ADAPTER, "config.json")
# What the files call the model that the training started from; an adapter's is sure, a model's own path may be its own.
_BASE = {
    "training_args.json": ("model_name_or_path",),
    "args.json": ("model_name_or_path", "model"),
    _ADAPTER: ("base_model_name_or_path",),
    "config.json": ("_name_or_path",),
}
_BASE_MODEL = re.compile(r"^base_model: ([^\s\[\]{}]{1,300})[ \t\r]{0,20}$", re.M)
# The model card that TRL writes ends with the versions; a frozen list of packages pins them.
_TRL = re.compile(r"^(?:- TRL: |trl==)(\d{1,6}\.\d{1,6}[\w.+-]{0,60})[ \t\r]{0,20}$", re.M)
_TRANSFORMERS = re.compile(r"^(?:- Transformers: |transformers==)(\d{1,6}\.\d{1,6}[\w.+-]{0,60})[ \t\r]{0,20}$", re.M)
_TRAINER = re.compile(r"trained with (GRPO|AsyncGRPO|RLOO|PPO|Online DPO|XPO|Nash-MD)\b")


class Neighbours(NamedTuple):
    """Version of TRL, other facts, and the files that told them."""

    trl_version: str | None
    facts: dict[str, str]
    inputs: tuple[InputFile, ...]


def side_files(places: Sequence[Path]) -> list[Path]:
    """List the small files that :func:`look_around` reads in some directories, there or not."""
    own = [place / name for place in dict.fromkeys(places) for name in (*_TEXTS, *_DOCUMENTS)]
    return [*own, *_packages(places[0])]


def look_around(places: Sequence[Path]) -> Neighbours:
    """Read the small files of a run's directory and its checkpoints.

    Args:
        places: directories; the first is the run's own and counts most.
    """
    directory, *_ = places = tuple(dict.fromkeys(places))
    facts: dict[str, str] = {}
    inputs: list[InputFile] = []
    version: str | None = None
    packages = [path for path in _packages(directory) if path.exists()][-1:]
    texts = [place / name for place in places for name in _TEXTS]
    for path in [*texts, *packages]:
        text = side_text(path, inputs)
        version = version or _first(_TRL, text)
        _note(facts, "transformers_version", _first(_TRANSFORMERS, text))
        _note(facts, "trainer", _first(_TRAINER, text))
        _note(facts, "base_model", _first(_BASE_MODEL, text))
    for path in [place / name for place in places for name in _DOCUMENTS]:
        document = _as_object(side_text(path, inputs))
        _note(facts, "transformers_version", document.get("transformers_version"))
        for key in _BASE[path.name]:
            if isinstance(document.get(key), str):
                _note(facts, "base_model", document[key])
        if path.name not in ("config.json", _ADAPTER):
            for key in ALGORITHM:
                _note(facts, key, document.get(key))
    return Neighbours(version, facts, tuple(inputs))


def _packages(directory: Path) -> list[Path]:
    return [place / "files" / "requirements.txt" for place in sorted(directory.glob("wandb/*")) if place.is_dir()]


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None


def _as_object(text: str) -> dict[str, object]:
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _note(facts: dict[str, str], key: str, value: object) -> None:
    if value is not None and not isinstance(value, (dict, list)):
        facts.setdefault(key, clean(to_text(value)))
