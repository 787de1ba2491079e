"""Held-out questions that were training prompts, ready to be shown: every text made harmless."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.report import format as fmt
from rlchecks.report.inert import block, line
from rlchecks.report.summary import Document, items, mapping, part_of_comparison

_LONGEST = 500
_MOST = 6
_KINDS = {
    "exact": "the same prompt",
    "whole": "all words of the one in the other",
    "13-gram": "a run of 13 words in common",
    "near": "nearly the same words",
}


class Shown(NamedTuple):
    """One question beside the training prompt that it occurs in."""

    question: str
    kind: str
    prompt: str
    training_prompt: str
    matched: str


def sentence(document: Document) -> str | None:
    """How many questions were left out, and what they would have changed; None if there is nothing to say."""
    comparison = mapping(document.get("comparison"))
    overlap = mapping(comparison.get("overlap"))
    count = fmt.finite(overlap.get("questions"))
    if not count:
        return None
    seen = fmt.finite(overlap.get("share_seen"))
    share = "an unknown share" if seen is None else fmt.percent(seen)
    found = (
        f"{fmt.number(count)} of {fmt.count(overlap.get('of'), 'question')} occur among the training prompts and were "
        f"left out ({share} of the training prompts was seen)."
    )
    with_them = mapping(comparison.get("with_overlap"))
    if not with_them:
        return found
    return (
        f"{found} Without them the difference is {fmt.difference(comparison)}, with them {fmt.difference(with_them)}."
    )


def examples(document: Document) -> list[Shown]:
    """The first of the questions, with both texts."""
    overlap = part_of_comparison(document, "overlap")
    return [
        Shown(
            line(item.get("question_id"), 120),
            _KINDS.get(str(item.get("kind")), "alike"),
            block(item.get("prompt"), _LONGEST),
            block(item.get("training_prompt"), _LONGEST),
            line(item.get("matched"), _LONGEST),
        )
        for item in items(overlap, "examples")[:_MOST]
    ]
