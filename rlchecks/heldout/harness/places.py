"""Which checkpoint an evaluation log is of: as declared, as the file says, or as its directory is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_STEPS = r"(?:checkpoint|ckpt|global_step|step|iter|iteration)[-_]?(\d{1,15})"
_STEP = re.compile(rf"(?:.*[/\\])?{_STEPS}", re.IGNORECASE | re.DOTALL)
_START = re.compile(r"(?:.*[/\\])?(?:base|baseline|base_model|initial)", re.IGNORECASE | re.DOTALL)


def step_of(name: str) -> int | None:
    """The training step in a checkpoint's name, 0 for the starting model; None if the name tells none."""
    found = _STEP.fullmatch(name)
    if found:
        return int(found[1])
    return 0 if _START.fullmatch(name) else None


def telling(path: Path) -> str | None:
    """The name of a log's directory, if it is that of a checkpoint: ``base``, ``checkpoint-120``, ``step_40``, ..."""
    name = path.absolute().parent.name
    return name if step_of(name) is not None else None


def names_for(logs: Sequence[tuple[Path, str | None]]) -> list[str]:
    """The checkpoint of each log that names none answer by answer.

    A directory that is called like a checkpoint counts more than the model's name, which is the same for all
    checkpoints served at one address; unless logs of several models share the directory's name. Of a model's name that
    is a path ending like a checkpoint, the end is enough, unless several end alike.

    Args:
        logs: path and the model's name in the file, if any.
    """
    short = _unique((model, _end(model)) for _, model in logs if model is not None)
    placed = _unique((model or "", place) for path, model in logs if (place := telling(path)) is not None)
    names = []
    for path, model in logs:
        place = telling(path)
        if place in placed:
            names.append(place)
        elif model is not None:
            names.append(_end(model) if _end(model) in short else model)
        else:
            names.append(path.stem)
    return names


def _end(model: str) -> str:
    return re.split(r"[/\\]", model)[-1] if step_of(model) is not None else model


def _unique(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The second ones that belong to one first one only."""
    found: dict[str, set[str]] = {}
    for whole, part in pairs:
        found.setdefault(part, set()).add(whole)
    return frozenset(part for part, wholes in found.items() if len(wholes) == 1)
