"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl``, with ``results_<date>.json`` beside it.

Formats: ``lm_eval/loggers/evaluation_tracker.py`` (file names, hashes), ``lm_eval/evaluator.py`` (keys of a sample) and
``lm_eval/evaluator_utils.py`` (results, ``higher_is_better``, ``n-samples``) of EleutherAI/lm-evaluation-harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Object, Unscored
from rlchecks.heldout.harness.marks import decoding, name, number, unscored, whole
from rlchecks.heldout.harness.shape import fingerprint, items, mapping
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import listed, shown

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\w.+-]+)\.jsonl", re.DOTALL)
_OURS = frozenset({"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"})
_HASHES = ("doc_hash", "prompt_hash", "target_hash")


class _Run(NamedTuple):
    """What the results beside the samples tell."""

    task: str
    model: str | None
    decoding: str | None
    higher: Object
    asked: int | None
    there: int | None
    version: object


class LmEvalFormat:
    """Reads lm-evaluation-harness samples."""

    name = "lm_eval"

    def named(self, name: str) -> bool:
        """Samples, by the name that the harness gives them."""
        return name.startswith("samples_") and name.endswith(".jsonl")

    def detect(self, source: Source) -> bool:
        """Objects with a ``doc_id`` and the model's responses."""
        return "doc_id" in source.opening and not {"resps", "filtered_resps"}.isdisjoint(source.opening)

    def read(self, source: Source) -> EvalLog:
        """Read the samples; each metric under each filter is a judge of its own, ``metric,filter``.

        Raises:
            InputError: a line is damaged, or there is no metric.
        """
        run = _run(source)
        answers: list[Answer] = []
        odd = Unscored()
        for place, sample in source.objects():
            answers += _answers(sample, place, run, odd, source)
        if not answers:
            raise source.error("the samples hold no metric", todo="evaluate with --log_samples")
        said = [f"{source.path.name}: {sentence}" for sentence in (*_completeness(answers, run), *odd.warnings())]
        judges = sorted({answer.judge for answer in answers})
        facts = tuple(
            JudgeFacts(judge, kind="rule", higher_is_better=_direction(run.higher, judge)) for judge in judges
        )
        return EvalLog(self.name, answers, run.model, judges=facts, warnings=tuple(said))


def _run(source: Source) -> _Run:
    found = _NAME.fullmatch(source.path.name)
    task = found["task"] if found else "task"
    beside = source.beside(f"results_{found['date']}.json") if found else None
    results = mapping(beside.document if beside else None)
    config = mapping(mapping(results.get("configs")).get(task))
    arguments = mapping(config.get("generation_kwargs"))
    generated = config.get("output_type") == "generate_until"
    counted = mapping(mapping(results.get("n-samples")).get(task))
    return _Run(
        task,
        name(results.get("model_name")),
        decoding(arguments.get("temperature"), sampled=arguments.get("do_sample")) if generated else None,
        mapping(mapping(results.get("higher_is_better")).get(task)),
        whole(counted.get("effective")),
        whole(counted.get("original")),
        mapping(results.get("versions")).get(task),
    )


def _answers(sample: Object, place: str, run: _Run, odd: Unscored, source: Source) -> Iterator[Answer]:
    question = name(sample.get("doc_id"))
    if question is None:
        raise source.error("the sample has no doc_id", place, "write the samples again")
    filtered_by = sample.get("filter")
    suffix = f",{filtered_by}" if isinstance(filtered_by, str) and filtered_by != "none" else ""
    same = [sample.get(one) for one in _HASHES]
    answer = Answer(
        f"{run.task}/{question}",
        "",
        None,
        place,
        decoding=run.decoding,
        answer=_answer(sample),
        prompt=_prompt(sample),
        target=sample.get("target"),
        category=run.task,
        # Another version of the task may score otherwise.
        same=fingerprint(*same, run.version) if any(same) else None,
    )
    for metric in _metrics(sample):
        judge, value = f"{metric}{suffix}", sample.get(metric)
        score = number(value)
        if score is None and not unscored(value):
            odd.add(shown(judge), shown(value) if isinstance(value, str) else type(value).__name__)
        yield answer._replace(judge=judge, score=score)


def _metrics(sample: Object) -> list[str]:
    named = [metric for metric in items(sample.get("metrics")) if isinstance(metric, str)]
    if named:
        return named
    # Before 0.4.4 the metrics were not listed.
    return [
        key
        for key, value in sample.items()
        if key not in _OURS and not key.endswith("_hash") and isinstance(value, int | float)
    ]


def _answer(sample: Object) -> object:
    found = items(sample.get("filtered_resps"))
    one = found[0] if len(found) == 1 else list(found) or None
    raw = items(sample.get("resps"))
    first = items(raw[0])[:1] if len(raw) == 1 else ()
    # The filter leaves the extracted part; the whole answer says more.
    return first[0] if first and isinstance(first[0], str) else one


def _prompt(sample: Object) -> str | None:
    arguments = sample.get("arguments")
    if isinstance(arguments, dict):  # since 0.4.3
        first = mapping(next(iter(arguments.values()), None))
        prompt = first.get("arg_0")
    else:
        outer = items(arguments)
        inner = items(outer[0]) if outer else ()
        prompt = inner[0] if inner else None
    return prompt if isinstance(prompt, str) else None


def _direction(higher: Object, judge: str) -> bool | None:
    found = higher.get(judge.split(",")[0])
    return found if isinstance(found, bool) else None


def _completeness(answers: list[Answer], run: _Run) -> Iterator[str]:
    questions = len({answer.question_id for answer in answers})
    if run.asked is not None and questions != run.asked:
        yield f"{questions} questions are in the samples, the results count {run.asked}."
    if run.asked is not None and run.there is not None and run.asked < run.there:
        yield f"{run.asked} of the {run.there} questions of the task were asked."
    lower = [judge for judge in sorted({answer.judge for answer in answers}) if _direction(run.higher, judge) is False]
    if lower:
        yield f"lower is better for {listed(lower)}."
