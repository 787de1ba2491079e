"""OpenAI evals: one event a line, the first with the ``spec``, the last with the ``final_report``.

Format: ``evals/record.py`` (events), ``evals/base.py`` (``RunSpec``) and ``evals/elsuite/modelgraded/classify.py`` (the
last completion function judges; where there is one only, it judges itself) of openai/evals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Object
from rlchecks.heldout.harness.marks import name, number
from rlchecks.heldout.harness.shape import fingerprint, items, mapping
from rlchecks.heldout.harness.source import Source

_TODO = "run oaieval with two completion functions, the evaluated one and the judge, as in gpt-3.5-turbo,gpt-4"


@dataclass
class _Sample:
    place: str
    scores: dict[str, float | None] = field(default_factory=dict)
    answer: object = None
    prompt: object = None
    target: object = None


class OpenaiEvalsFormat:
    """Reads event logs of OpenAI evals."""

    name = "openai_evals"

    def named(self, name: str) -> bool:
        """No file; the names are those of runs."""
        return False

    def detect(self, source: Source) -> bool:
        """A first line with a ``spec`` that names an eval."""
        return source.kind == "lines" and "eval_name" in mapping(source.opening.get("spec"))

    def read(self, source: Source) -> EvalLog:
        """Read the events; ``match`` is a judge, and so is every number of a ``metrics`` event.

        Raises:
            InputError: a line is damaged, nothing was scored, or the evaluated model judged itself.
        """
        spec = mapping(source.opening["spec"])
        functions = [found for found in map(name, items(spec.get("completion_fns"))) if found is not None]
        graded = "modelgraded" in str(mapping(mapping(spec.get("run_config")).get("eval_spec")).get("cls"))
        if graded and len(set(functions)) < 2:
            raise source.error("the evaluated model judged itself, so its scores are no evidence", todo=_TODO)
        samples: dict[str, _Sample] = {}
        finished = False
        for number_, event in source.lines():
            finished |= "final_report" in event
            sample_id = name(event.get("sample_id"))
            if sample_id is not None:
                sample = samples.setdefault(sample_id, _Sample(f"line {number_}"))
                _take(sample, event.get("type"), mapping(event.get("data")))
        judges = dict.fromkeys(judge for sample in samples.values() for judge in sample.scores)
        if not judges:
            raise source.error(
                "no event scores an answer", todo="give the log of an eval that records match or metrics"
            )
        suffix = f"@{functions[-1]}" if graded else ""
        answers = list(_answers(samples, list(judges), suffix))
        facts = tuple(
            JudgeFacts(f"{judge}{suffix}", "model" if graded else "rule", (functions[-1],) if graded else ())
            for judge in judges
        )
        said = (
            () if finished else (f"{source.path.name}: there is no final report, so the evaluation did not end well.",)
        )
        return EvalLog(self.name, answers, functions[0] if functions else None, judges=facts, warnings=said)


def _take(sample: _Sample, kind: object, data: Object) -> None:
    if kind == "match":
        sample.scores["match"] = number(data.get("correct"))
        sample.answer = data.get("sampled", data.get("picked"))
        sample.target = data.get("expected")
    elif kind == "metrics":
        # A judge's choice without a score is one that could not be read.
        found = {key: number(value) for key, value in data.items() if not isinstance(value, str)}
        sample.scores.update(found or ({"score": None} if "choice" in data else {}))
    elif kind == "sampling" and sample.prompt is None:  # the first is the evaluated model's
        sample.prompt = data.get("prompt")
        sampled = items(data.get("sampled"))
        sample.answer = sampled[0] if len(sampled) == 1 else data.get("sampled")


def _answers(samples: Mapping[str, _Sample], judges: list[str], suffix: str) -> Iterator[Answer]:
    for sample_id, sample in samples.items():
        for judge in judges:
            yield Answer(
                sample_id,
                f"{judge}{suffix}",
                sample.scores.get(judge),
                sample.place,
                answer=sample.answer,
                prompt=sample.prompt,
                target=sample.target,
                same=None if sample.prompt is None else fingerprint(sample.prompt),
            )
