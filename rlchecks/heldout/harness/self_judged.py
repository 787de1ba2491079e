"""Models that judged their own answers, where a log names judge and evaluated model answer by answer."""

from __future__ import annotations

from dataclasses import replace

from rlchecks.heldout.harness.log import EvalLog
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import labels


def others_only(log: EvalLog, source: Source) -> EvalLog:
    """The log without the scores that a model gave to its own answers.

    Args:
        log: a log whose answers name their models.
        source: its file.

    Raises:
        InputError: nothing is left.
    """
    models = {facts.name: facts.models for facts in log.judges}
    itself = {
        answer.checkpoint
        for answer in log.answers
        if not answer.implied and answer.checkpoint in models.get(answer.judge, ())
    }
    if not itself:
        return log
    kept = [answer for answer in log.answers if answer.implied or answer.checkpoint not in itself]
    named = labels(sorted(name for name in itself if name is not None))
    if all(answer.implied for answer in kept):
        problem = f"the evaluated model judged itself ({named}), so its scores are no evidence"
        raise source.error(problem, todo="let another model judge")
    said = f"{source.path.name}: {named} judged its own answers; these scores are left out."
    return replace(log, answers=kept, warnings=(*log.warnings, said))
