"""An evaluation from its request to its document: written once, run plainly or as a Prefect flow."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlchecks.evaluation.before import (
    KEPT,
    Answers,
    alone,
    check_arguments,
    check_judges,
    check_same_questions,
    check_targets,
    check_there,
    need_extra,
    read_back,
    rubric_of,
    salt_of,
)
from rlchecks.evaluation.document import document_of
from rlchecks.evaluation.errors import EvaluationError
from rlchecks.evaluation.journal import Journal
from rlchecks.evaluation.questions import Questions, read_questions
from rlchecks.evaluation.quiet import quiet
from rlchecks.evaluation.request import EvaluateRequest
from rlchecks.evaluation.specs import Endpoint, check_keys, parse_judges, parse_models, parse_scale
from rlchecks.evaluation.traffic import Traffic
from rlchecks.heldout.harness.inspect_ours import MARK
from rlchecks.heldout.names import labels
from rlchecks.progress import Progress
from rlchecks.runner import Runner

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


def evaluate(request: EvaluateRequest, runner: Runner, show: Progress) -> dict[str, Any]:
    """Ask, judge and write ``OUT/NAME.eval`` for every checkpoint.

    Args:
        request: what to do.
        runner: runs the two stages.
        show: told how many answers and scores there are so far.

    Returns:
        The document of ``rlchecks evaluate --json``.

    Raises:
        UsageError: the request contradicts itself, or the output directory holds logs of other questions.
        InputError: the questions, the rubric or the logs cannot be used.
        EvaluationError: an endpoint cannot be used, or nothing was answered or scored; what was answered is kept.
    """
    judges = parse_judges(request.judges, request.key_env)
    models = parse_models(request.models, request.key_env)
    check_keys(request.key_env, [*(model.name for model in models), *(judge.name for judge in judges)])
    check_judges(models, judges)
    need_extra()
    check_arguments(request, judges)
    questions = None if request.questions is None else read_questions(request.questions, request.columns)
    check_targets(questions, judges)
    out = Path(request.out)
    if request.rejudge:
        check_there(out)
    with alone(out):
        if questions is not None:
            check_same_questions(out, questions)
            answers = [runner.call(ask, request, model, questions, show) for model in models]
        else:
            answers = read_back(out, judges)
        return runner.call(score_answers, request, answers, questions, show)


def ask(request: EvaluateRequest, model: Endpoint, questions: Questions, show: Progress) -> Answers:
    """Stage: the answers of one checkpoint.

    Raises:
        EvaluationError: the endpoint cannot be used, or no question was answered.
    """
    from rlchecks.evaluation.answering import answer
    from rlchecks.evaluation.judging import unanswered

    kept = Path(request.out) / KEPT
    total = len(questions.items) * request.epochs
    journal = Journal(kept / f"answers-{model.name}.jsonl")
    traffic = Traffic(model, journal, request.backoff)
    try:
        with quiet(kept / "inspect"):
            log = answer(questions, request, traffic, kept / "inspect", _count(show, total))
    finally:
        journal.close()
    missing = [reason for reason in map(unanswered, log.samples or []) if reason is not None]
    answered = total - len(missing)
    again = f"{answered} of {total} answers are kept in {request.out}; the same command asks only for the others"
    if traffic.fatal is not None:
        raise EvaluationError(f"{traffic.fatal}; {again}.")
    if not answered:
        raise EvaluationError(f"{model.name}: no question was answered ({missing[0]}); {again}.")
    return log, traffic.cost()


def score_answers(
    request: EvaluateRequest, answers: Sequence[Answers], questions: Questions | None, show: Progress
) -> dict[str, Any]:
    """Stage: every judge's scores of every answer, written into the output directory.

    Raises:
        EvaluationError: a judge cannot be asked, or scored nothing.
    """
    from inspect_ai.log import write_eval_log

    from rlchecks.evaluation.formulas import Formulas
    from rlchecks.evaluation.judging import Reader, judge
    from rlchecks.evaluation.rules import Rule, rule_for

    out, judges = Path(request.out), parse_judges(request.judges, request.key_env)
    low, high = parse_scale(request.scale)
    rubric, salt = rubric_of(request.rubric), salt_of(out / KEPT / "salt")
    count = _count(show, sum(len(log.samples or []) for log, _ in answers) * len(judges))
    judged: list[EvalLog] = [log for log, _ in answers]
    costs = {}
    with ExitStack() as stack:
        stack.enter_context(quiet(out / KEPT / "inspect"))
        formulas = stack.enter_context(Formulas())
        for spec in judges:
            by: Rule | Reader
            if spec.endpoint is not None:
                journal = Journal(out / KEPT / f"verdicts-{spec.name}.jsonl")
                stack.callback(journal.close)
                traffic = Traffic(spec.endpoint, journal, request.backoff)
                by = Reader(traffic, rubric, low, high, salt)
            else:
                by = rule_for(spec, formulas)
            judged = [judge(log, spec, by, request, count) for log in judged]
            if isinstance(by, Reader):
                costs[spec.name] = by.traffic.cost()
                if by.traffic.fatal is not None:
                    raise EvaluationError(
                        f"{by.traffic.fatal}; all answers and the verdicts so far are kept in {out}; "
                        "the same command asks only for the others."
                    )
        for log in judged:
            # The address of the repository in which the command ran may hold a password.
            log.eval.revision = None
            place = out / f"{_name(log)}.eval"
            write_eval_log(log, str(out / KEPT / "unfinished.eval"), format="eval")
            os.replace(out / KEPT / "unfinished.eval", place)
    document = document_of(request, questions, judged, [cost for _, cost in answers], judges, costs)
    for found in document["judges"]:
        silent = [model["name"] for model in found["models"] if not model["scored"]]
        if silent:
            raise EvaluationError(
                f"{found['name']} scored no answer of {labels(silent)}"
                f" ({found['models'][0]['reasons'][0]['reason'] if found['models'][0]['reasons'] else 'no reason'});"
                f" the answers are kept in {out}."
            )
    return document


def _name(log: EvalLog) -> str:
    return str((log.eval.metadata or {})[MARK]["checkpoint"])


def _count(show: Progress, total: int) -> Callable[[], None]:
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        show(done, total)

    return count
