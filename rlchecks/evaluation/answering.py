"""Answers of one checkpoint to all questions, as an Inspect log without scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from tenacity import RetryError

from rlchecks.evaluation.errors import EvaluationError
from rlchecks.evaluation.provider import ASKED, forget, model_for
from rlchecks.evaluation.questions import Question, Questions
from rlchecks.evaluation.request import EvaluateRequest
from rlchecks.evaluation.traffic import CallFailed, Traffic
from rlchecks.evaluation.waiting import Closing
from rlchecks.heldout.harness.inspect_ours import MARK

UNANSWERED = "unanswered"
"""Key of a sample's metadata: why there is no answer."""

_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def answer(
    questions: Questions, request: EvaluateRequest, traffic: Traffic, work: Path, done: Callable[[], None]
) -> EvalLog:
    """Ask one checkpoint everything that its journal does not hold.

    A question that is not answered for good is in the log, with the reason in its metadata.

    Args:
        questions: what to ask.
        request: how.
        traffic: the endpoint.
        work: directory for Inspect's own files.
        done: called after each question.

    Raises:
        EvaluationError: the endpoint cannot be used, or Inspect failed.
        KeyboardInterrupt: the user stopped it.
    """
    config = GenerateConfig(
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=request.max_tokens,
        stop_seqs=list(request.stop) or None,
        seed=request.seed,
        **calling(request),
    )
    model = model_for(traffic, config)
    task = Task(
        dataset=MemoryDataset([_sample(question) for question in questions.items], name=questions.path.stem),
        solver=_asking(request.seed, traffic, Closing(model, len(questions.items) * request.epochs, done)),
        name=questions.path.stem,
        metadata={MARK: {"version": 1, "checkpoint": traffic.endpoint.name, "questions_sha256": questions.sha256}},
    )
    try:
        logs = eval(
            task,
            model=model,
            epochs=request.epochs,
            score=False,
            fail_on_error=False,
            display="none",
            log_level="critical",
            log_dir=str(work / "logs"),
            log_format="eval",
            log_realtime=False,
            log_model_api=False,
            ctl_server=False,
            max_samples=2 * request.connections,
        )
    finally:
        forget(traffic.endpoint.name)
    # Interrupted, Inspect returns as if nothing were wrong; before its first sample it returns no log.
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    log = logs[0]
    if log.status != "success":
        raise EvaluationError(
            f"{traffic.endpoint.name}: Inspect AI could not ask the questions ({log.error and log.error.message})."
        )
    # What Inspect returns reads the samples when they are looked at, from a file that does not stay.
    return read_eval_log(log.location, resolve_attachments=True)


def calling(request: EvaluateRequest) -> dict[str, Any]:
    """How calls are limited and repeated, as fields of a ``GenerateConfig``."""
    return {
        "max_connections": request.connections,
        "adaptive_connections": False,
        "attempt_timeout": request.timeout,
        "max_retries": request.retries,
    }


def failure(error: Exception, traffic: Traffic) -> str:
    """Why a call failed for good; without anybody at its address the endpoint is given up."""
    if isinstance(error, RetryError):
        error = error.last_attempt.exception() or error  # type: ignore[assignment]
    if not isinstance(error, CallFailed):
        return "the server did not answer in time" if "imeout" in type(error).__name__ else type(error).__name__
    if error.lost and traffic.fatal is None:
        where = traffic.endpoint
        traffic.fatal = f"{where.name}: nobody answers at {where.base_url} (is the server running?)"
    return error.reason


def prompt(question: Question) -> Sequence[ChatMessage]:
    """What the model is shown: the messages, and after the last one the choices by their letters."""
    messages: list[ChatMessage] = [_MESSAGES[role](content=text) for role, text in question.messages]
    if question.choices:
        listed = "\n".join(f"{letter}) {text}" for letter, text in zip(_LETTERS, question.choices, strict=False))
        ask = "End your answer with a line of its own: ANSWER: and the letter of the right choice."
        messages[-1] = ChatMessageUser(content=f"{messages[-1].text}\n\n{listed}\n\n{ask}")
    return messages


def _sample(question: Question) -> Sample:
    messages = prompt(question)
    told = {"category": question.category, "cluster": question.cluster}
    return Sample(
        input=messages[0].text if len(messages) == 1 else list(messages),
        target=question.targets[0] if len(question.targets) == 1 else list(question.targets),
        choices=list(question.choices) or None,
        id=question.id,
        metadata={name: value for name, value in told.items() if value is not None},
    )


def _asking(seed: int | None, traffic: Traffic, closing: Closing) -> Solver:
    # Inspect logs what a solver is called with; this one is called with nothing.
    @solver(name="ask")
    def ask() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            ASKED.set((str(state.sample_id), state.epoch))
            try:
                # There are no tools: answering calls of them would go on for as long as the model makes some.
                if seed is None:
                    return await generate(state, tool_calls="none")
                # With one seed for all, the repeats of a question would be one answer over and over.
                return await generate(state, tool_calls="none", seed=seed + state.epoch - 1)
            except (CallFailed, RetryError, RuntimeError) as error:
                state.metadata[UNANSWERED] = failure(error, traffic)
                return state
            finally:
                await closing.one_done()

        return solve

    return ask()
