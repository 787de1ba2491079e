"""The identities of everybody in a comparison: the judges and the training graders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rlchecks.heldout.harness.log import JudgeFacts
from rlchecks.heldout.identity import EVALUATION_LOG, RUN_LOG, Identity, identity
from rlchecks.heldout.judges import Panel
from rlchecks.heldout.names import same_name
from rlchecks.heldout.request import ComparisonRequest
from rlchecks.heldout.scorer import Scorer


class Who(NamedTuple):
    """Who judges and who graded the training.

    Attributes:
        judges: the judges that decide or guard, by their names in the rows.
        graders: the training graders, by their names in the request; two ways to write one name are one grader.
    """

    judges: dict[str, Identity]
    graders: dict[str, Identity]

    def grader(self, name: str) -> Identity:
        """The identity of a training grader, however its name is written."""
        return next(found for known, found in self.graders.items() if same_name(known, name))


def who(panel: Panel, request: ComparisonRequest, told: Sequence[JudgeFacts]) -> Who:
    """Identify everybody.

    Args:
        panel: the scorers by role.
        request: what was declared, and what the run's log tells of its graders.
        told: what evaluation logs tell of the scorers in the rows.

    Raises:
        UsageError: a declaration and a log contradict each other.
    """
    facts = {one.name: one for one in told}
    judges = {
        judge.name: identity(judge, [(EVALUATION_LOG, facts[judge.name])] if judge.name in facts else [])
        for judge in (*panel.decisive, *panel.advisory)
    }
    graders: dict[str, Identity] = {}
    for grader in request.graders:
        if any(same_name(grader.name, known) for known in graders):
            continue
        same = [one for one in request.graders if same_name(one.name, grader.name)]
        declared = next((one for one in same if one.identified), grader)
        found = [
            (source, one)
            for source, several in ((EVALUATION_LOG, told), (RUN_LOG, request.graders_told))
            for one in several
            if same_name(one.name, grader.name)
        ]
        graders[grader.name] = identity(_renamed(declared, grader.name), found)
    return Who(judges, graders)


def _renamed(declared: Scorer, name: str) -> Scorer:
    return Scorer(name, kind=declared.kind, model=declared.model, family=declared.family, prompt=declared.prompt)
