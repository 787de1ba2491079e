"""What has to hold before anybody is asked: who may judge what, and what is there already."""

from __future__ import annotations

import fcntl
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlchecks.errors import InputError, UsageError
from rlchecks.evaluation.errors import EvaluationError, missing_extra
from rlchecks.evaluation.questions import Questions
from rlchecks.evaluation.quiet import quiet
from rlchecks.evaluation.request import EvaluateRequest
from rlchecks.evaluation.specs import Endpoint, JudgeSpec, parse_scale
from rlchecks.heldout.harness.inspect_ours import MARK
from rlchecks.heldout.names import labels

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

_NO_LOGS, _NAMED = "there is no log of `rlchecks evaluate`", "give the directory that --out named"

KEPT = ".rlchecks"
"""Directory below the output directory: journals, the secret of the boundaries, and a lock."""

Answers = tuple["EvalLog", dict[str, Any]]
"""One checkpoint's log, and what its calls cost."""


def check_there(out: Path) -> None:
    """Refuse a directory that does not exist, before one is made.

    Raises:
        InputError: there is none.
    """
    if not out.is_dir():
        raise InputError(_NO_LOGS, path=out, todo=_NAMED)


def need_extra() -> None:
    """Refuse to go on without Inspect AI.

    Raises:
        EvaluationError: how to install it.
    """
    from importlib.util import find_spec

    if any(find_spec(module) is None for module in ("inspect_ai", "openai", "math_verify", "regex")):
        raise missing_extra()


def check_judges(models: Sequence[Endpoint], judges: Sequence[JudgeSpec]) -> None:
    """Refuse a model as the judge of its own answers.

    Raises:
        UsageError: which one.
    """
    for judge in judges:
        for model in models:
            if judge.endpoint and (judge.endpoint.model, judge.endpoint.base_url) == (model.model, model.base_url):
                raise UsageError(
                    f"{judge.name} is the evaluated model {model.name} itself, whose judgement of its own answers is "
                    "no evidence; name another model as judge."
                )


def check_targets(questions: Questions | None, judges: Sequence[JudgeSpec]) -> None:
    """Refuse questions without a target where a judge compares with it.

    Raises:
        InputError: which question.
    """
    needing = [judge.name for judge in judges if judge.kind in ("exact", "numeric", "math", "choice")]
    for question in questions.items if questions is not None and needing else ():
        if not question.targets:
            raise InputError(
                f"the question {question.id!a} has no target, without which {labels(needing)} cannot judge",
                path=questions.path if questions else None,
                todo="give each question a target, or take a model judge",
            )


def check_same_questions(out: Path, questions: Questions) -> None:
    """Refuse to write over the logs of other questions, or beside them.

    Raises:
        UsageError: which log.
    """
    from inspect_ai.log import read_eval_log

    for path in sorted(out.glob("*.eval")):
        try:
            with quiet(out / KEPT / "inspect"):
                told = (read_eval_log(str(path), header_only=True).eval.metadata or {}).get(MARK)
        except Exception:  # what cannot be read is no finished log
            continue
        if isinstance(told, dict) and told.get("questions_sha256") != questions.sha256:
            raise UsageError(
                f"{path} holds answers to other questions than {questions.path}; give another --out, or move the log "
                "away (answers to questions that are the same are not asked for again)."
            )


def read_back(out: Path, judges: Sequence[JudgeSpec]) -> list[Answers]:
    """The logs of an earlier evaluation, to be judged again.

    Raises:
        InputError: there is none, or one cannot be read or is another program's.
        UsageError: a judge's name is taken, or it is an evaluated model itself.
    """
    from inspect_ai.log import read_eval_log

    logs: list[Answers] = []
    for path in sorted(out.glob("*.eval")):
        try:
            with quiet(out / KEPT / "inspect"):
                log = read_eval_log(str(path), resolve_attachments=True)
        except Exception as error:
            problem = f"the log cannot be read ({type(error).__name__})"
            raise InputError(problem, path=path, todo="run the evaluation again, which asks nothing twice") from None
        told = (log.eval.metadata or {}).get(MARK)
        if not isinstance(told, dict) or path.stem != told.get("checkpoint") or not log.samples:
            raise InputError("that is no log of `rlchecks evaluate`", path=path, todo="judge it with `inspect score`")
        taken = {one.name for one in log.eval.scorers or []} & {judge.name for judge in judges}
        if taken:
            raise UsageError(
                f"{path} has scores by {labels(sorted(taken))} already; give the new judge a name of its own, as in "
                "--judge strict=exact."
            )
        for judge in judges:
            where = judge.endpoint
            own = where and (log.eval.model.split("/", 1)[-1], log.eval.model_base_url) == (where.model, where.base_url)
            if own:
                raise UsageError(
                    f"{judge.name} is the evaluated model {path.stem} itself; name another model as judge."
                )
        logs.append((log, {}))
    if not logs:
        raise InputError(_NO_LOGS, path=out, todo=_NAMED)
    return logs


def check_arguments(request: EvaluateRequest, judges: Sequence[JudgeSpec]) -> None:
    """Refuse what a judge could not work with: a pattern, a function, a scale, a rubric.

    Raises:
        UsageError: an argument cannot be used.
        InputError: the rubric cannot be read.
    """
    from rlchecks.evaluation.formulas import Formulas
    from rlchecks.evaluation.rules import rule_for

    parse_scale(request.scale)
    rubric_of(request.rubric)
    for judge in judges:
        if judge.endpoint is None:
            rule_for(judge, Formulas())


def rubric_of(path: str | None) -> str:
    """The user's rubric, or the one that ships with rlchecks.

    Raises:
        InputError: it cannot be read, or is empty.
    """
    from rlchecks.evaluation.rubric import DEFAULT

    if path is None:
        return DEFAULT
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the rubric cannot be read ({type(error).__name__})", path=path) from None
    if not text.strip():
        raise InputError("the rubric is empty", path=path, todo="say what earns a high score and what a low one")
    return text


def salt_of(path: Path) -> bytes:
    """The secret of an output directory, made at its first evaluation."""
    if not path.exists():
        path.write_text(secrets.token_hex(32), encoding="ascii")
    return path.read_bytes()


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Make the output directory, and refuse a second evaluation into it while the first one runs.

    Raises:
        EvaluationError: one is running.
    """
    (out / KEPT).mkdir(parents=True, exist_ok=True)
    with (out / KEPT / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise EvaluationError(
                f"Another evaluation is writing to {out}; wait for it, or give another --out."
            ) from None
        yield
