"""``rlchecks evaluate``."""

from __future__ import annotations

from typing import Annotated

import typer

from rlchecks.cli.options import JsonOption, LocalOption, columns_of
from rlchecks.cli.output import finish
from rlchecks.errors import UsageError
from rlchecks.evaluation import request as defaults
from rlchecks.evaluation.request import EvaluateRequest


def evaluate(
    questions: Annotated[
        str | None,
        typer.Argument(metavar="QUESTIONS", help="JSON Lines, CSV or Parquet: question_id, prompt, target."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME=MODEL@BASE_URL",
            help="A checkpoint at an OpenAI-compatible address; repeatable.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            metavar="[NAME=]KIND[:ARGUMENT]",
            help="exact, numeric[:TOLERANCE], math, choice, regex:PATTERN, model:MODEL@BASE_URL, or "
            "python:MODULE:FUNCTION, which runs that code; repeatable.",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Where NAME.eval is written, one a checkpoint.")
    ] = None,
    rejudge: Annotated[
        str | None,
        typer.Option("--rejudge", metavar="DIR", help="Judge the answers in DIR again; asks no checkpoint."),
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(metavar="FILE", help="What a model judge looks at, in your words.")
    ] = None,
    scale: Annotated[str, typer.Option(metavar="LOW..HIGH", help="A model judge's scores.")] = defaults.SCALE,
    key_env: Annotated[
        list[str] | None,
        typer.Option(
            "--key-env", metavar="[NAME=]VAR", help="Environment variable with the API key of NAME, or of all."
        ),
    ] = None,
    temperature: Annotated[float, typer.Option(help="0: the likeliest token always.")] = 0.0,
    top_p: Annotated[float | None, typer.Option(help="Probability mass that tokens are drawn from.")] = None,
    max_tokens: Annotated[int, typer.Option(metavar="N", help="Longest answer.")] = defaults.MAX_TOKENS,
    epochs: Annotated[int, typer.Option(metavar="N", help="Answers to each question.")] = 1,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Of the first answer to a question.")] = None,
    stop: Annotated[list[str] | None, typer.Option("--stop", metavar="TEXT", help="Ends an answer.")] = None,
    judge_max_tokens: Annotated[
        int, typer.Option(metavar="N", help="Longest verdict of a model judge.")
    ] = defaults.JUDGE_MAX_TOKENS,
    connections: Annotated[int, typer.Option(metavar="N", help="Calls at one time.")] = defaults.CONNECTIONS,
    timeout: Annotated[int, typer.Option(metavar="SECONDS", help="That a call may take.")] = defaults.TIMEOUT,
    retries: Annotated[int, typer.Option(metavar="N", help="Repeats of a call that failed.")] = defaults.RETRIES,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="OWN=NAME", help="Your file's column OWN is NAME, such as question_id."),
    ] = None,
    local: LocalOption = False,
    as_json: JsonOption = False,
) -> int:
    r"""Ask checkpoints held-out questions and let a judge score the answers; needs rlchecks\[inspect].

    A command that was stopped is repeated as it is, and asks only what has no answer yet.
    """
    from rlchecks import launch

    if rejudge is not None and out is not None:
        raise UsageError("--rejudge DIR writes into DIR; leave out --out.")
    place = rejudge if rejudge is not None else out
    if place is None:
        raise UsageError("Where shall the logs be written? Give --out DIR.")
    request = EvaluateRequest(
        out=place,
        judges=tuple(judge or ()),
        questions=questions,
        models=tuple(model or ()),
        rejudge=rejudge is not None,
        columns=columns_of(columns, example="id=question_id"),
        key_env=tuple(key_env or ()),
        rubric=rubric,
        scale=scale,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        epochs=epochs,
        seed=seed,
        stop=tuple(stop or ()),
        judge_max_tokens=judge_max_tokens,
        connections=connections,
        timeout=timeout,
        retries=retries,
    )
    document, problem = launch.evaluate(request, local=local)
    return finish(document, as_json, "evaluation", problem, 0)
