"""Which logs below a run directory are the run's own, such as a tracker's copy, and which are other runs'."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rlchecks.readers.identity import is_generic
from rlchecks.readers.registry import Reader
from rlchecks.readers.text import counted, place

Line = tuple[Path, str, str]
"""A path, what is told of it, and the kind of refusal; see :class:`rlchecks.readers.search_result.Refusal`."""

# What a tracker puts into its own directory is of the process that ran there, whatever it is called.
_TRACKER = re.compile(r"wandb|mlruns|mlartifacts|swanlog|trackio|tensorboard(_logs?)?|tb(_logs?)?|lightning_logs", re.I)
# Directories that trainers and trackers make in a run directory, beside those whose names say nothing anyway.
_MADE = re.compile(
    r"checkpoints?|global_step_?\d+|step_?\d+|version_\d+|completions|rollouts?|validation|val|evals?|evaluations?"
    r"|files|media|images|code|configs?|run_default|orchestrator|trainer|(?:offline-)?run-\d{8}_\d{6}-\w+",
    re.I,
)


def is_own(names: Sequence[str]) -> bool:
    """Whether a log below a run directory is taken for the run's own.

    Args:
        names: of the directories between them; none for a log in the run directory itself.
    """
    if names and _TRACKER.fullmatch(names[0]):
        return True
    return all(is_generic(name) or _MADE.fullmatch(name) for name in names)


@dataclass
class RunDirectory:
    """A run directory, as the search below it knows it.

    Attributes:
        reader: its reader.
        path: where it is.
        own: see :class:`rlchecks.readers.sight.Sight`.
        is_run: whether it holds a run; one that was refused has no other logs of its own.
        others: its other logs.
    """

    reader: Reader
    path: Path
    own: tuple[str, ...] | None
    is_run: bool
    others: list[Path] = field(default_factory=list)

    def place(self, directory: Path) -> str:
        """Return where a directory is below this one."""
        return directory.relative_to(self.path).as_posix()

    def keeps(self, directory: Path) -> bool:
        """Whether logs in a directory are taken for logs of this run."""
        return is_own(directory.relative_to(self.path).parts)

    @property
    def is_sure(self) -> bool:
        """Whether a log is in the directory itself: what lies beside a stray checkpoint may be anything."""
        own = self.own or ()
        return bool(own) and (self.path / own[0]).is_file()


def told_of_others(above: Collection[RunDirectory]) -> Iterator[Line]:
    """Name the other logs in run directories: in one line, but for each that may be none in one of its own."""
    runs = [one for one in above if one.others]
    # Trackers write beside every log.
    for group in ([one for one in runs if one.is_sure], *([one] for one in runs if not one.is_sure)):
        others = [(one, path) for one in group for path in one.others]
        if others:
            (first, path), *rest = others
            more = counted(len(rest), "other") + (f" in {len(group)} runs" if len(group) > 1 else " there")
            run = place(first.path)
            reason = f"taken for one more log of the run {run}{_also(len(rest), more)}, and not read"
            yield path, f"{reason}; name it to read it by itself.", "copy"


def told_of_links(links: Collection[Path]) -> Iterator[Line]:
    """Name the links that lead out of the tree, in one line."""
    if links:
        more = len(links) - 1
        also = _also(more, counted(more, "other link"))
        yield min(links), f"a link out of the tree{also}, and not followed; name what it leads to.", "not_a_run"


def _also(number: int, what: str) -> str:
    return f", as {'are' if number > 1 else 'is'} {what}" if number else ""
