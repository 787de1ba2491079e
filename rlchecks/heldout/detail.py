"""What stands beside the decision: categories, questions that carry it, answer lengths, pass@k."""

from __future__ import annotations

from typing import Any, NamedTuple

from rlchecks.heldout.case import Case
from rlchecks.heldout.categories import category_document, category_evidence
from rlchecks.heldout.entry import Entry
from rlchecks.heldout.influence import influence_document, influence_evidence
from rlchecks.heldout.length_control import length_document
from rlchecks.heldout.pass_at_k import pass_document


class Detail(NamedTuple):
    """Parts of ``comparison`` of ``verdict.json``, and the evidence columns that come from them."""

    documents: dict[str, Any]
    entries: dict[str, Entry]


def details(case: Case) -> Detail:
    """Look closer at the judge that the decision hangs on.

    Args:
        case: the comparison.
    """
    categories, influence = category_document(case), influence_document(case)
    return Detail(
        {
            "categories": categories,
            "influence": influence,
            "length": length_document(case),
            "pass_at_k": pass_document(case),
        },
        {**category_evidence(case, categories), **influence_evidence(influence)},
    )
