"""Events and checkpoints of OpenAI's reinforcement fine-tuning as logged rows.

``data`` of an event of type ``metrics`` is nested: ``scores``, ``usage``, ``errors``, ``timing``, each with a list of
graders. Here it becomes flat: names joined by dots, a grader under its name, and what was measured on the validation
set (``valid_...``) in a row of its own. The API lists the newest first, in pages. Source: openai/openai-python
``src/openai/types/fine_tuning``, and the guide "Reinforcement fine-tuning", appendix "Training metrics", of
developers.openai.com.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.values import to_count, to_number, to_text

_VALIDATION = ("valid_", "full_valid_")
_CHECKED = frozenset({"valid_reward_mean", "full_valid_mean_reward"})
_PLANNED = "total_steps"
_DEEPEST = 8
# How one entry of a list of graders is told from another, and what it is.
_NAME, _TYPE = "name", "type"


@dataclass
class Collected:
    """What was found in a listing.

    Attributes:
        events: (time of creation, row of ``data``) of each event with metrics, in the order of the listing.
        checkpoints: (step, row of ``metrics``) of each checkpoint.
        others: number of other entries, such as messages.
    """

    events: list[tuple[float | None, dict[str, object]]] = field(default_factory=list)
    checkpoints: list[tuple[int, dict[str, object]]] = field(default_factory=list)
    others: int = 0
    _seen: set[str] = field(default_factory=set)

    def add(self, document: object) -> None:
        """Take an event, a checkpoint, a page of them, or a list of any; an id that was seen before is passed over."""
        for listed in document if isinstance(document, list) else [document]:
            data = listed.get("data") if isinstance(listed, Mapping) else None
            for entry in data if isinstance(data, list) else [listed]:
                self._add(entry)

    def _add(self, entry: object) -> None:
        if not isinstance(entry, Mapping):
            self.others += 1
            return
        identity = entry.get("id")
        if isinstance(identity, str):
            if identity in self._seen:
                return
            self._seen.add(identity)
        data, metrics = entry.get("data"), entry.get("metrics")
        step = to_count(entry.get("step_number"), MAX_STEP)
        if entry.get("type") == "metrics" and isinstance(data, Mapping):
            self.events.append((to_number(entry.get("created_at")), dict(_flat(data))))
        elif step is not None and isinstance(metrics, Mapping):
            self.checkpoints.append((step, dict(_flat(metrics))))
        else:
            self.others += 1

    def rows(self) -> list[Row]:
        """Build the rows in the order of the training: of the events, or else of the checkpoints."""
        rows: Iterable[Row] = [row for _, row in _in_order(self.events)]
        if not self.events:
            ordered = sorted(self.checkpoints, key=lambda checkpoint: checkpoint[0])
            rows = [{**row, "step": step} for step, row in ordered]
        return [part for row in rows for part in divided(row)]

    def planned(self) -> int | None:
        """Return the steps that the job was to take, as the latest event has them."""
        told = [count for _, row in _in_order(self.events) if (count := to_count(row.get(_PLANNED), MAX_STEP))]
        return told[-1] if told else None


def _in_order(events: list[tuple[float | None, dict[str, object]]]) -> list[tuple[float | None, dict[str, object]]]:
    """Put events in the order in which they happened."""
    times = [time for time, _ in events if time is not None]
    if len(times) == len(events) and times:
        # Events of one second keep their order, which in a listing of the API is backwards.
        forward = events[::-1] if times[0] > times[-1] else events
        return sorted(forward, key=lambda event: event[0] or 0.0)
    steps = [step for _, row in events if (step := to_count(row.get("step"), MAX_STEP)) is not None]
    return events[::-1] if steps and steps[0] > steps[-1] else events


def _flat(values: Mapping[str, object], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _flat(value, f"{name}.", depth + 1)
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value) and depth < _DEEPEST:
            for own, one in _named(value):
                rest = {inner: logged for inner, logged in one.items() if inner not in (_NAME, _TYPE)}
                yield from _flat(rest, f"{name}.{own}.", depth + 1)
        else:
            yield name, value


def _named(entries: list[Mapping[str, object]]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Give each grader its name; a second one of the same name gets its place, too."""
    taken: set[str] = set()
    for place, entry in enumerate(entries):
        given = entry.get(_NAME)
        name = to_text(given) if given is not None else str(place)
        name = f"{name}#{place}" if name in taken else name
        taken.add(name)
        yield name, entry


def divided(row: Mapping[str, object]) -> Iterator[Row]:
    """Divide a row into one of training and, at a step with validation, one of validation.

    At other steps the validation reward is null or missing, while counts of errors may be zero all the same.
    """
    names = {key: key.rpartition(".")[2] for key in row}
    valid = {key: value for key, value in row.items() if names[key].startswith(_VALIDATION) and value is not None}
    checked = any(names[key] in _CHECKED for key in valid)
    left_out = {_PLANNED, *(key for key, name in names.items() if name in _CHECKED), *(valid if checked else ())}
    yield {key: value for key, value in row.items() if key not in left_out}
    if checked:
        yield {"step": row.get("step"), "split": "eval", **valid}
