"""Names and ids of runs."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from rlchecks.errors import UsageError
from rlchecks.readers.text import clean

# Names that say what a file is, not which run it belongs to.
_GENERIC = re.compile(
    r"trainer_state|checkpoint-\d+|metrics|steps|logs?|log_history|logging|history|training_history|progress|results?"
    r"|outputs?\d*|train|training|data|scalars|runs|tensorboard|tensorboard_logs?|tb|tb_logs?"
    # Console output.
    r"|console|console_output|stdout|stderr|nohup|terminal|(?:grpo|rloo|ppo|train|training)_(?:log|output)|slurm-\d+"
    # TensorBoard: what the directory of one start and an event file are called.
    r"|[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+|events\.out\.tfevents\..+",
    re.I,
)
_LONGEST_SLUG = 60


def run_name(path: Path) -> str:
    """Name a run after its directory or file, or after the directory above if that name says nothing."""
    absolute = path.absolute()
    own = absolute.name if path.is_dir() else absolute.stem
    parents = [parent.name for parent in absolute.parents if parent.name]
    return clean(next((name for name in [own, *parents] if not is_generic(name)), own) or "run")


def is_generic(name: str) -> bool:
    """Whether a name of a file or directory says what it is, not which run it belongs to."""
    return _GENERIC.fullmatch(name) is not None


def run_id(given: str | None, name: str, framework: str, first_row: Mapping[str, object]) -> str:
    """Make the id of a run.

    Args:
        given: the id the user wants; it is taken as it is.
        name: the run's name.
        framework: the framework's name.
        first_row: the first logged row, which stays the same while a log grows.

    Returns:
        ``given``, or the name as a slug with eight hexadecimal digits of (framework, first row).

    Raises:
        UsageError: the wanted id is blank or holds control characters.
    """
    if given is not None:
        if not given.strip() or not given.isprintable():
            raise UsageError("the run id is blank or holds characters that cannot be printed.")
        return given
    row = json.dumps([framework, first_row], sort_keys=True, default=str)
    return f"{slug(name)}-{hashlib.sha256(row.encode()).hexdigest()[:8]}"


def slug(name: str) -> str:
    """Reduce a name to lower-case ASCII letters, digits and hyphens."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "run"
