"""Which judges decide, which only guard, and which scorers are the training graders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlchecks.errors import UsageError
from rlchecks.heldout.names import listed, same_name, shown
from rlchecks.heldout.request import ComparisonRequest
from rlchecks.heldout.scorer import Scorer


class Panel(NamedTuple):
    """The scorers of the held-out rows by role.

    Attributes:
        decisive: judges that decide; empty if none was chosen.
        advisory: judges that only guard.
        graders: training graders that scored the held-out answers, named as in the rows.
        candidates: judges that could decide, if the user named none.
        others: judges that could have decided, if the user named another.
    """

    decisive: tuple[Scorer, ...]
    advisory: tuple[Scorer, ...]
    graders: tuple[Scorer, ...]
    candidates: tuple[str, ...]
    others: tuple[Scorer, ...]

    def is_grader(self, name: str) -> bool:
        """Whether a judge is one of the training graders in the rows."""
        return any(same_name(name, grader.name) for grader in self.graders)


def seat(request: ComparisonRequest, known: Sequence[str], scored: Sequence[str]) -> Panel:
    """Give every scorer its role.

    A judge decides if the user named it as decisive; without any such name, the only judge decides that is neither
    a training grader nor declared advisory. A training grader decides only if named.

    Args:
        request: judges and graders.
        known: judges of all rows.
        scored: judges of the compared checkpoints' rows.

    Raises:
        UsageError: a named judge is not in the rows; the sentence lists those that are.
    """
    for judge in request.judges:
        if judge.name not in known:
            raise UsageError(f"There is no judge {shown(judge.name)} in the held-out rows; they have {listed(known)}.")
    graders = tuple(
        Scorer(name, grader.low, grader.high, grader.higher_is_better)
        for name in scored
        for grader in [_match(name, request.graders)]
        if grader is not None
    )
    decisive = tuple(judge for judge in request.judges if judge.decisive)
    advisory = tuple(judge for judge in request.judges if not judge.decisive)
    taken = {judge.name for judge in (*decisive, *advisory, *graders)}
    free = tuple(name for name in scored if name not in taken)
    if decisive:
        return Panel(decisive, advisory, graders, (), tuple(Scorer(name) for name in free))
    only = tuple(Scorer(name) for name in free) if len(free) == 1 else ()
    return Panel(only, advisory, graders, free, ())


def _match(name: str, graders: Sequence[Scorer]) -> Scorer | None:
    same = [grader for grader in graders if same_name(name, grader.name)]
    # A name from the log may stand beside the same name declared with its range.
    return next((grader for grader in same if grader.low is not None), same[0] if same else None)
