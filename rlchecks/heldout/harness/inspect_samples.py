"""Scored answers of one sample of an Inspect log."""

from __future__ import annotations

from collections.abc import Iterator

from rlchecks.heldout.harness.log import Answer, Object, Unscored
from rlchecks.heldout.harness.marks import name, number, unscored, whole
from rlchecks.heldout.harness.shape import fingerprint, items, mapping, text_of

# CORRECT, INCORRECT, PARTIAL and NOANSWER of scorer/_metric.py, and what value_to_float makes of words.
_MARKS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "no": 0.0}
_ATTACHED = ("attachment://", "tc://")


def key_of(sample: Object) -> tuple[str, int]:
    """Question and repeat of a sample."""
    return name(sample.get("id")) or "", whole(sample.get("epoch")) or 1


def planned(spec: Object) -> Iterator[tuple[str, int]]:
    """Question and repeat of every answer that was planned, by the ``eval`` of a log."""
    asked = items(mapping(spec.get("dataset")).get("sample_ids"))
    epochs = whole(mapping(spec.get("config")).get("epochs")) or 1
    if len(asked) * epochs > _MOST_PLANNED:
        return
    for question in asked:
        given = name(question)
        if given is not None:
            yield from ((given, epoch) for epoch in range(1, epochs + 1))


_MOST_PLANNED = 10_000_000


def answers_of(sample: Object, place: str, task: str, sampled: str | None, odd: Unscored) -> Iterator[Answer]:
    """One answer for each scorer; a single one by no judge, if the sample was not scored.

    A scorer whose value is an object gives one score for each key, named ``scorer/key``.

    Args:
        sample: the sample.
        place: where it stands.
        task: name of the task, which makes its ids unique.
        sampled: how the answers were sampled.
        odd: counts values that are no scores.
    """
    question, epoch = key_of(sample)
    prompt = _resolved(sample, sample.get("input"))
    target = sample.get("target")
    output = mapping(sample.get("output"))
    base = Answer(
        f"{task}/{question}" if question else "",
        "",
        None,
        place,
        epoch=epoch,
        decoding=sampled,
        answer=_completion(sample, output),
        prompt=prompt,
        target=target,
        same=fingerprint(prompt, target, sample.get("choices")),
    )
    scores = sample.get("scores") or sample.get("score")
    if not isinstance(scores, dict) or not scores:
        yield base
        return
    if "value" in scores:  # logs of 2024 had one unnamed score
        scores = {"score": scores}
    for scorer, score in scores.items():
        value = mapping(score).get("value")
        if isinstance(value, dict):
            for part, inner in value.items():
                judge = f"{scorer}/{part}"
                yield base._replace(judge=judge, score=_value(inner, judge, odd))
        else:
            yield base._replace(judge=str(scorer), score=_value(value, str(scorer), odd))


def _value(value: object, judge: str, odd: Unscored) -> float | None:
    if isinstance(value, str) and value.strip().lower() in _MARKS:
        return _MARKS[value.strip().lower()]
    found = number(value)
    if found is None and not unscored(value):
        odd.add(ascii(judge)[:60], ascii(value)[:40] if isinstance(value, str) else type(value).__name__)
    return found


def _completion(sample: Object, output: Object) -> str | None:
    completion = output.get("completion")
    if not isinstance(completion, str):  # logs of 2024 leave it to the first choice
        first = next(iter(items(output.get("choices"))), None)
        completion = text_of(mapping(mapping(first).get("message")).get("content"))
    found = _resolved(sample, completion)
    return found if isinstance(found, str) else None


def _resolved(sample: Object, value: object) -> object:
    """A text that stands among the sample's attachments, by its key there."""
    if not isinstance(value, str) or not value.startswith(_ATTACHED):
        return value
    key = value.split("://", 1)[1]
    return mapping(sample.get("attachments")).get(key, value)
