"""What evaluation logs tell of judges, put to use where the user declared nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rlchecks.errors import UsageError
from rlchecks.heldout.harness.log import JudgeFacts
from rlchecks.heldout.judges import Panel
from rlchecks.heldout.names import label, shown
from rlchecks.heldout.scorer import Scorer


def informed(panel: Panel, told: Sequence[JudgeFacts]) -> Panel:
    """The panel with the ranges that evaluation logs tell of judges whose range was not declared.

    A direction is not taken over but has to be declared: it turns a loss into a gain.

    Args:
        panel: the scorers by role.
        told: what the logs tell.

    Raises:
        UsageError: lower is better for a judge by its log, and it is not declared so.
    """
    facts = {one.name: one for one in told}
    for judge in (*panel.decisive, *panel.advisory):
        found = facts.get(judge.name)
        if found is not None and found.higher_is_better is False and judge.higher_is_better:
            raise UsageError(
                f"Lower is better for {label(judge.name)} by its evaluation log; declare it with --judge "
                f"{_quoted(judge.name)}:LOW..HIGH:lower and its real range, or name another judge."
            )
    decisive, advisory, graders, others = (
        tuple(_ranged(judge, facts.get(judge.name)) for judge in judges)
        for judges in (panel.decisive, panel.advisory, panel.graders, panel.others)
    )
    return Panel(decisive, advisory, graders, panel.candidates, others)


def _ranged(judge: Scorer, found: JudgeFacts | None) -> Scorer:
    if found is None or judge.low is not None or found.low is None or found.high is None:
        return judge
    return replace(judge, low=found.low, high=found.high)


def _quoted(name: str) -> str:
    return f'"{name}"' if ":" in name else shown(name)[1:-1]
