"""Who a judge or a training grader is: name, kind, model, family, prompt, each with where it is known from.

What nobody says is unknown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rlchecks.errors import UsageError
from rlchecks.heldout.families import families, same_model
from rlchecks.heldout.harness.log import JudgeFacts
from rlchecks.heldout.names import label, labels
from rlchecks.heldout.scorer import Scorer

DECLARED, EVALUATION_LOG, RUN_LOG = "declared", "evaluation log", "run log"
BY_NAME = "name"


class Known(NamedTuple):
    """Something that is known of a scorer, and from where.

    Attributes:
        values: the values, empty if unknown; several for a judge that asks several models.
        source: ``declared``, ``evaluation log``, ``run log``, or ``name`` for what a name implies; None if unknown.
    """

    values: tuple[str, ...] = ()
    source: str | None = None

    @property
    def text(self) -> str | None:
        """The values as one text, None if unknown."""
        return " + ".join(self.values) or None


UNKNOWN = Known()


@dataclass(frozen=True)
class Identity:
    """Who scored.

    Attributes:
        name: its name in the rows or in the training log.
        kind: ``rule``, ``model`` or ``human``.
        model: the models that score.
        family: their families.
        prompt: SHA-256 of prompt, rubric, options or code. Hashes from different sources are of different things.
    """

    name: str
    kind: Known = UNKNOWN
    model: Known = UNKNOWN
    family: Known = UNKNOWN
    prompt: Known = UNKNOWN

    @property
    def may_be(self) -> tuple[str, ...]:
        """Models that may be the one that scores: those that are known, else what the name may say (``qa@gpt-4o``)."""
        if self.model.values or self.kind.values not in ((), ("model",)):
            return self.model.values
        return tuple(dict.fromkeys((self.name, self.name.rsplit("@", 1)[-1])))

    def document(self) -> dict[str, Any]:
        """The identity in ``verdict.json``; None is unknown."""
        known = {"kind": self.kind, "model": self.model, "family": self.family, "prompt_sha256": self.prompt}
        return {
            "name": self.name,
            **{field: found.text for field, found in known.items()},
            "from": {field: found.source for field, found in known.items() if found.source},
        }


def identity(declared: Scorer, told: Iterable[tuple[str, JudgeFacts]] = ()) -> Identity:
    """What is known of a scorer; a log that names its model or kind is believed before a declaration that agrees.

    Args:
        declared: the scorer as declared, perhaps by name only.
        told: what logs tell of it, each with its source.

    Raises:
        UsageError: the declaration and a log contradict each other, or logs of one judge have different rubrics.
    """
    kind, model, prompt = _one(declared.kind), _one(declared.model), _one(declared.prompt)
    for source, facts in told:
        said = facts.kind or ("model" if facts.models else None)
        _agree(declared, source, "kind", declared.kind, said, same=declared.kind == said)
        same = any(same_model(declared.model or "", one) for one in facts.models)
        _agree(declared, source, "model", declared.model, labels(facts.models) if facts.models else None, same=same)
        if facts.settings_differ:
            raise UsageError(
                f"The evaluation logs give {label(declared.name)} different rubrics or options, so its scores are on "
                "two scales; score all answers with one of them."
            )
        if said:
            kind = Known((said,), source)
        if facts.models:
            model = Known(facts.models, source)
        # A rule's options are no identity: most rules have none.
        if said == "model" and facts.settings not in (None, "{}") and not prompt.values:
            prompt = Known((hashlib.sha256((facts.settings or "").encode("utf-8", "replace")).hexdigest(),), source)
    family = _family(declared, kind, model)
    return Identity(declared.name, kind, model, family, prompt)


def _one(value: str | None) -> Known:
    return UNKNOWN if value is None else Known((value,), DECLARED)


def _agree(declared: Scorer, source: str, what: str, mine: str | None, theirs: str | None, *, same: bool) -> None:
    if mine is not None and theirs is not None and not same:
        raise UsageError(
            f"{label(declared.name)} is declared with {what}={mine}, and its {source} says {theirs}; "
            "correct the declaration."
        )


def _family(declared: Scorer, kind: Known, model: Known) -> Known:
    if kind.values not in ((), ("model",)):
        return UNKNOWN
    known = tuple(dict.fromkeys(family for name in model.values for family in families(name)))
    if declared.family:
        mine = families(declared.family) or (declared.family.casefold(),)
        if known and not set(mine) & set(known):
            raise UsageError(
                f"{label(declared.name)} is declared with family={declared.family}, and its {model.source} names "
                f"{labels(model.values)}, of the family {' + '.join(known)}; correct the declaration."
            )
        return Known(tuple(dict.fromkeys(mine + known)), DECLARED)
    if not model.values:
        known = families(declared.name)
    return Known(known, BY_NAME) if known else UNKNOWN
