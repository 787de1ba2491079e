"""rlchecks: is this model really better, or did it only learn to please its grader?

A step library for pipelines that promote language models fine-tuned with reinforcement learning. Importing it is
cheap: the names below load what they need on first use.

    rlchecks.read_run(path)    one training run, from whatever log it left
    rlchecks.Archive(uri)      the Parquet archive of runs, evaluations and verdicts
    rlchecks.readers           the readers behind read_run
    rlchecks.steps             the same steps as Prefect tasks
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import rlchecks.readers as readers
    import rlchecks.steps as steps
    from rlchecks.archive import Archive as Archive
    from rlchecks.readers import read_run as read_run

__version__ = "0.1.0"

__all__ = ["Archive", "__version__", "read_run", "readers", "steps"]

_MODULE_OF = {"Archive": "rlchecks.archive", "read_run": "rlchecks.readers"}
_MODULES = frozenset({"readers", "steps"})


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
