"""Inspect AI logs: ``.eval`` archives and JSON.

Formats: ``src/inspect_ai/log/_log.py`` (EvalLog, EvalSample), ``log/_recorders/eval.py`` (members of the archive) and
``scorer/_metric.py`` (values of scores) of UKGovernmentBEIS/inspect_ai.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlchecks.heldout.harness.archive_file import ArchiveFile
from rlchecks.heldout.harness.inspect_judges import InspectJudges
from rlchecks.heldout.harness.inspect_ours import Ours
from rlchecks.heldout.harness.inspect_samples import answers_of, key_of, planned
from rlchecks.heldout.harness.log import Answer, EvalLog, Object, Unscored
from rlchecks.heldout.harness.marks import decoding, name
from rlchecks.heldout.harness.shape import items, mapping
from rlchecks.heldout.harness.source import Source, parsed
from rlchecks.heldout.names import shown

_HEADER, _START = "header.json", "_journal/start.json"
_JSON = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*_\w+\.json")
_SAMPLE = re.compile(r"samples/.*\.json")


class InspectFormat:
    """Reads Inspect AI logs."""

    name = "inspect_ai"

    def named(self, name: str) -> bool:
        """Archives, and JSON by the name that Inspect gives it, ``<time>_<task>_<id>.json``."""
        return name.endswith(".eval") or _JSON.fullmatch(name) is not None

    def detect(self, source: Source) -> bool:
        """An archive with Inspect's members, or a JSON document with an ``eval`` that names a task."""
        if source.kind == "zip":
            return source.path.suffix == ".eval" or _START.encode() in source.data or _HEADER.encode() in source.data
        if source.kind != "document":
            return False
        found = source.opening
        return isinstance(found.get("eval"), dict) and "task" in mapping(found["eval"]) and "status" in found

    def read(self, source: Source) -> EvalLog:
        """Read the log.

        Raises:
            InputError: it is torn, holds no scored answer, or the evaluated model judged itself.
        """
        header, samples = _archive(source) if source.kind == "zip" else _document(source)
        spec = mapping(header.get("eval"))
        model, task = name(spec.get("model")), name(spec.get("task")) or "task"
        judges, ours = InspectJudges(spec), Ours.of(spec)
        unscored = Unscored()
        answers: list[Answer] = []
        waiting = dict.fromkeys(planned(spec))
        for place, sample in samples:
            judges.look(sample)
            waiting.pop(key_of(sample), None)
            found = answers_of(sample, place, task, _decoding(header, spec), unscored)
            answers.extend(ours.answer(answer, sample) for answer in found)
        scorers = {answer.judge for answer in answers if answer.judge}
        # A question without an answer is missing, whoever should have scored it.
        silent = [answer for answer in answers if not answer.judge]
        answers = [answer for answer in answers if answer.judge]
        for judge in sorted(scorers):
            answers += [answer._replace(judge=judge) for answer in silent]
            answers += [
                Answer(f"{task}/{question}", judge, None, "eval.dataset.sample_ids", ours.checkpoint, epoch=epoch)
                for question, epoch in waiting
            ]
        answers, said = judges.settle(answers, source)
        said += [*_completeness(header, spec, len(waiting)), *unscored.warnings(), *ours.warnings()]
        if not any(answer.score is not None for answer in answers):
            status = shown(str(header.get("status")))
            problem = f"the Inspect log has no scored answer (its status is {status})"
            raise source.error(problem, todo="score it with `inspect score`, or evaluate again until it succeeds")
        said = [f"{source.path.name}: {sentence}" for sentence in said]
        return EvalLog(self.name, answers, model, judges=judges.facts(answers), warnings=tuple(said))


def _archive(source: Source) -> tuple[Object, Iterator[tuple[str, Object]]]:
    archive = ArchiveFile(source.data, source.path)
    opening = next((member for member in (_HEADER, _START) if member in archive.names), None)
    if opening is None:
        raise source.error("the ZIP archive is no Inspect log (there is no header.json)", todo="give an .eval file")
    header = mapping(parsed(archive.read(opening), source.path, opening))
    if opening == _START:
        header = {**header, "status": "started"}
    members = [member for member in archive.names if _SAMPLE.fullmatch(member)]

    def samples() -> Iterator[tuple[str, Object]]:
        for member in members:
            place = ascii(member)[1:-1][:80]
            sample = parsed(archive.read(member), source.path, place)
            if not isinstance(sample, dict):
                raise source.error("the sample is no JSON object", place, "write the log again")
            yield place, sample

    return header, samples()


def _document(source: Source) -> tuple[Object, Iterator[tuple[str, Object]]]:
    header = source.opening
    return header, ((f"samples[{at}]", mapping(sample)) for at, sample in enumerate(items(header.get("samples"))))


def _decoding(header: Object, spec: Object) -> str | None:
    """The temperature, where one is given: answers drawn at another one are not to be pooled with these."""
    plan = mapping(mapping(header.get("plan")).get("config"))
    return decoding({**mapping(spec.get("model_generate_config")), **plan}.get("temperature"))


def _completeness(header: Object, spec: Object, waiting: int) -> Iterator[str]:
    status = header.get("status")
    if status != "success":
        yield f"the evaluation did not end well (status {shown(str(status))})."
    if waiting:
        yield f"{waiting} planned answers are not in the log and count as unscored."
    if header.get("invalidated"):
        yield "the log is marked as invalidated."
    dataset = mapping(spec.get("dataset"))
    asked, there = len(items(dataset.get("sample_ids"))), dataset.get("samples")
    if isinstance(there, int) and 0 < asked < there:
        yield f"{asked} of the {there} questions of the data set were asked."
