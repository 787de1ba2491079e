"""Logged rows of one file to runs: a file may hold several, one after the other, and rows of several processes.

A new run begins where the rows start over: at the first step (or the first epoch) again, behind a closing row, or with
another number of planned steps. Where they go back to a later step, the run was resumed from a checkpoint and is one,
with rows logged again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rlchecks.readers.console_rows import INITIAL, OPTIMISER, Entry
from rlchecks.readers.console_trainer import split_trainer, without_doubles
from rlchecks.readers.text import counted


@dataclass
class Found:
    """The rows of one run, in order.

    Attributes:
        entries: the rows.
        warnings: what was noticed.
    """

    entries: list[Entry]
    warnings: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Who printed them."""
        return self.entries[0].kind


def split(entries: Sequence[Entry]) -> list[Found]:
    """Divide the rows of a file into runs, in the order in which they began."""
    kinds: dict[str, list[Entry]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    runs: list[Found] = []
    for kind, rows in kinds.items():
        of_one, warnings = _one_process(rows)
        if kind == "trainer":
            of_one, doubled = without_doubles(of_one)
            if doubled:
                warnings.append(f"{counted(doubled, 'row')} printed twice: counted once")
        parts = split_trainer(of_one) if kind == "trainer" else _split_counted(of_one)
        runs += [Found(part, warnings if number == 0 else []) for number, part in enumerate(parts)]
    return _apart(sorted(runs, key=lambda run: run.entries[0].place))


def _one_process(entries: list[Entry]) -> tuple[list[Entry], list[str]]:
    """Keep the rows of one process where several print the same; processes one after the other are restarts."""
    spans: dict[str | None, list[int]] = {}
    for entry in entries:
        spans.setdefault(entry.source, []).append(entry.place)
    kept: list[str | None] = []
    for source in sorted(spans, key=lambda one: (-len(spans[one]), spans[one][0])):
        if all(spans[source][-1] < spans[other][0] or spans[other][-1] < spans[source][0] for other in kept):
            kept.append(source)
    left_out = len(entries) - sum(len(spans[source]) for source in kept)
    if not left_out:
        return entries, []
    others = len(spans) - len(kept)
    whose = "another process" if others == 1 else f"{others} other processes"
    return (
        [entry for entry in entries if entry.source in kept],
        [f"{counted(left_out, 'row')} of {whose} that printed at the same time: left out"],
    )


def _split_counted(entries: Iterable[Entry]) -> list[list[Entry]]:
    runs: list[list[Entry]] = []
    waiting: list[Entry] = []
    first = last = interval = 0
    for entry in entries:
        if entry.name == INITIAL:
            # It belongs to the step that follows.
            waiting.append(entry)
            continue
        step = None if entry.name in OPTIMISER else entry.step
        if step is not None:
            back = bool(runs) and step < last
            if not runs or (back and step <= max(interval or first, 1)):
                runs.append([])
                first, interval = step, 0
            elif step > last:
                interval = min(interval or step - last, step - last)
            last = step
        elif not runs:
            runs.append([])
        runs[-1] += [*waiting, entry]
        waiting = []
    if waiting:
        runs[-1:] = [[*(runs[-1] if runs else []), *waiting]]
    return runs


def _apart(runs: list[Found]) -> list[Found]:
    """Of runs that were printed at the same time in different forms, keep the one with the most rows."""
    kept: list[Found] = []
    for run in sorted(runs, key=lambda one: -len(one.entries)):
        begin, end = run.entries[0].place, run.entries[-1].place
        other = next((one for one in kept if one.entries[0].place <= end and begin <= one.entries[-1].place), None)
        if other is None:
            kept.append(run)
        else:
            rows = counted(len(run.entries), "row")
            other.warnings.append(f"{rows} printed in another form in between ({run.kind}): left out")
    return sorted(kept, key=lambda run: run.entries[0].place)
