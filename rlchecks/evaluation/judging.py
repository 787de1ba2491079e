"""Scores: Inspect scorers around the rule judges and the model judge, applied to answers that are there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from inspect_ai import score
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, ModelConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from tenacity import RetryError

from rlchecks.evaluation import rubric as rubrics
from rlchecks.evaluation.answering import UNANSWERED, calling, failure
from rlchecks.evaluation.injection import attempts
from rlchecks.evaluation.provider import ASKED, forget, model_for
from rlchecks.evaluation.request import EvaluateRequest
from rlchecks.evaluation.rules import Question, Rule, Unable, source_hash
from rlchecks.evaluation.specs import JudgeSpec
from rlchecks.evaluation.traffic import CallFailed, Traffic
from rlchecks.evaluation.waiting import Closing

INSTRUCTS = "instructs_judge"
"""Key of a score's metadata: in which ways the answer tries to instruct the judge."""

VERSION = 1

_Judged = Callable[[TaskState, Target], Awaitable[Score]]


class Reader(NamedTuple):
    """A model judge that is ready to read answers.

    Attributes:
        traffic: its endpoint.
        rubric: what counts.
        low: smallest score.
        high: largest score.
        salt: secret of the boundaries.
    """

    traffic: Traffic
    rubric: str
    low: float
    high: float
    salt: bytes


def judge(
    log: EvalLog, spec: JudgeSpec, judged_by: Rule | Reader, request: EvaluateRequest, done: Callable[[], None]
) -> EvalLog:
    """Append one judge's scores to a log; the answers stay as they are.

    Args:
        log: answers of one checkpoint.
        spec: the judge.
        judged_by: the rule, or the model that reads.
        request: how a model is called.
        done: called after each answer.
    """
    # The roles of the log itself would be made into models, whatever provider they name.
    bound, log.eval.model_roles = log.eval.model_roles or {}, None
    if isinstance(judged_by, Reader):
        config = GenerateConfig(temperature=0.0, max_tokens=request.judge_max_tokens, **calling(request))
        model = model_for(judged_by.traffic, config)
        closing = Closing(model, len(log.samples or []), done)
        judging, options = _reading(judged_by, model, closing), _facts(spec, judged_by)
    else:
        judging, options = _ruling(judged_by, done), _facts(spec, None)
    try:
        log = score(
            log,
            _scorer(spec.name, judging, options),
            action="append",
            model=get_model("none/none"),
            copy=False,
            display="none",
        )
    finally:
        forget(spec.name)
    if spec.endpoint is not None:
        said = ModelConfig(model=f"openai-compatible/{spec.endpoint.model}", base_url=spec.endpoint.base_url)
        before = bound.get("grader")
        known = before if isinstance(before, list) else [] if before is None else [before]
        bound = {**bound, "grader": said if not known else [*known, said]}
    log.eval.model_roles = bound or None
    return log


def _scorer(name: str, judging: _Judged, options: dict[str, Any]) -> Scorer:
    # Inspect logs what a scorer is called with as its options: the facts by which a gate tells judges apart.
    @scorer(metrics=[mean(), stderr()], name=name)
    def made(
        rlchecks: int,
        kind: str,
        method: str,
        argument: str | None = None,
        sha256: str | None = None,
        low: float | None = None,
        high: float | None = None,
        model: str | None = None,
    ) -> Scorer:
        async def run(state: TaskState, target: Target) -> Score:
            return await judging(state, target)

        return run

    return made(VERSION, **{key: value for key, value in options.items() if value is not None})


def _facts(spec: JudgeSpec, reader: Reader | None) -> dict[str, Any]:
    if reader is not None and spec.endpoint is not None:
        return {
            "kind": "model",
            "method": "rubric",
            "sha256": rubrics.prompt_hash(reader.rubric, reader.low, reader.high),
            "low": reader.low,
            "high": reader.high,
            "model": spec.endpoint.model,
        }
    own = spec.kind == "python"
    return {
        "kind": "rule",
        "method": spec.kind,
        "argument": spec.argument,
        "sha256": source_hash(spec) if own else None,
        "low": None if own else 0.0,
        "high": None if own else 1.0,
    }


def _ruling(rule: Rule, done: Callable[[], None]) -> _Judged:
    async def run(state: TaskState, target: Target) -> Score:
        try:
            answer = _answer(state)
            return Score(value=rule(answer, _question(state, target)), answer=answer)
        except Unable as reason:
            return Score.unscored(explanation=str(reason), reason="not_judged")
        finally:
            done()

    return run


def _reading(reader: Reader, model: Model, closing: Closing) -> _Judged:
    async def run(state: TaskState, target: Target) -> Score:
        metadata: dict[str, Any] = {}
        try:
            answer = _answer(state)
            if found := attempts(answer):
                metadata[INSTRUCTS] = list(found)
            # Also which question: two answers of one text are two verdicts.
            ASKED.set((str(state.sample_id), state.epoch))
            asked = _asked(state)
            references = _references(target)
            text = rubrics.prompt(reader.rubric, reader.low, reader.high, asked, references, answer, reader.salt)
            output = await model.generate([ChatMessageUser(content=text)])
            verdict = rubrics.parse_verdict(output.completion, reader.low, reader.high)
            if verdict is None:
                raise Unable("the judge's reply is no verdict")
            return Score(value=verdict.score, answer=answer, explanation=verdict.reason, metadata=metadata or None)
        except Unable as reason:
            return Score.unscored(explanation=str(reason), reason="not_judged", metadata=metadata or None)
        except (CallFailed, RetryError, RuntimeError) as error:
            why = f"the judge could not be asked: {failure(error, reader.traffic)}"
            return Score.unscored(explanation=why, reason="not_judged", metadata=metadata or None)
        finally:
            await closing.one_done()

    return run


def _answer(state: TaskState) -> str:
    if UNANSWERED in state.metadata:
        raise Unable(f"unanswered: {state.metadata[UNANSWERED]}")
    if not state.output.choices:
        raise Unable("unanswered")
    return state.output.completion


def _question(state: TaskState, target: Target) -> Question:
    choices = [choice.value for choice in state.choices]
    return Question(str(state.sample_id), state.input_text, _references(target), choices, state.metadata)


def _references(target: Target) -> list[str]:
    # Inspect makes an empty text of a target that is not there.
    return [one for one in target.target if one]


def _asked(state: TaskState) -> object:
    if isinstance(state.input, str):
        return state.input
    return [{"role": message.role, "content": message.text} for message in state.input]


def unanswered(sample: EvalSample) -> str | None:
    """Why a sample of a log has no answer; None if it has one."""
    if sample.error is not None:
        return sample.error.message.split("\n", 1)[0]
    told = sample.metadata.get(UNANSWERED)
    return str(told) if told is not None else None if sample.output.choices else "the server sent nothing"
