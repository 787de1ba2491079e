"""A held-out evaluation as a Prefect flow."""

from __future__ import annotations

from typing import Any

from prefect import flow

from rlchecks.evaluation import request as defaults
from rlchecks.evaluation.run import evaluate
from rlchecks.progress import progress
from rlchecks.steps import PrefectRunner


@flow(name="evaluate-models", flow_run_name="evaluate {out}", persist_result=False, validate_parameters=False)
def evaluate_models(
    out: str,
    judges: list[str],
    questions: str | None = None,
    models: list[str] | None = None,
    rejudge: bool = False,
    columns: dict[str, str] | None = None,
    key_env: list[str] | None = None,
    rubric: str | None = None,
    scale: str = defaults.SCALE,
    temperature: float = 0.0,
    top_p: float | None = None,
    max_tokens: int = defaults.MAX_TOKENS,
    epochs: int = 1,
    seed: int | None = None,
    stop: list[str] | None = None,
    judge_max_tokens: int = defaults.JUDGE_MAX_TOKENS,
    connections: int = defaults.CONNECTIONS,
    timeout: int = defaults.TIMEOUT,
    retries: int = defaults.RETRIES,
    backoff: float = defaults.BACKOFF,
) -> dict[str, Any]:
    """Ask checkpoints held-out questions and judge their answers; the parameters are those of ``rlchecks evaluate``.

    API keys are read from the environment of the process that runs this; ``key_env`` names the variables.
    """
    request = defaults.EvaluateRequest(
        out=out,
        judges=tuple(judges),
        questions=questions,
        models=tuple(models or ()),
        rejudge=rejudge,
        columns=columns or {},
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
        backoff=backoff,
    )
    with progress("answers and scores") as show:
        return evaluate(request, PrefectRunner(), show)
