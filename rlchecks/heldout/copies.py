"""Which held-out prompts occur in training prompts: whole, or by a run of thirteen words.

The convention is GPT-3's (Brown et al. 2020, arXiv 2005.14165, appendix C), with the fixed length of 13 words of
lm-evaluation-harness (``docs/decontamination.md``): a run of 13 words in common, and runs that occur in more than ten
training prompts do not count, since those are templates and set phrases. Two things are added. Runs that occur in more
than ten held-out prompts do not count either. And two prompts in which the same words stand around different numbers
are two questions made from one template, not one question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from rlchecks.heldout.common_runs import COMMON, RUN, CommonRuns
from rlchecks.heldout.hashset import HashSet
from rlchecks.heldout.lookalikes import alike_but_for_numbers
from rlchecks.heldout.prompts import asked, forms, told
from rlchecks.heldout.wordhash import Hashes, Indices, Words, words_of

SHORTEST_RUN = 8
"""A shorter prompt is not looked for inside longer ones: "spurious collisions" (Brown et al. 2020)."""

Kind = Literal["exact", "whole", "13-gram"]

_BLOCK = 1 << 25  # characters of training prompts that are looked through at once


class Copy(NamedTuple):
    """A held-out prompt and where it occurs.

    Attributes:
        held_out: index of the held-out prompt.
        training: index of one training prompt that it occurs in.
        kind: ``exact``: equal but for case, white space, Unicode form and system prompt; ``whole``: all the words of
            the one are in the other; ``13-gram``: a run of :data:`RUN` words is in both.
    """

    held_out: int
    training: int
    kind: Kind


def find_copies(held_out: Sequence[str], training: Sequence[str]) -> list[Copy]:
    """The held-out prompts that occur in training prompts, each once, in their order.

    Not found: paraphrases, translations, and copies with a change in every run of 13 words.

    Args:
        held_out: prompts, as text or messages.
        training: prompts, as text or messages.
    """
    found = {copy.held_out: copy for copy in _exact(held_out, training)}
    rest = [index for index in range(len(held_out)) if index not in found]
    if rest and training:
        said = [told(prompt) for prompt in training]
        for copy in _by_words(words_of([asked(held_out[index]) for index in rest]), said):
            found[rest[copy.held_out]] = copy._replace(held_out=rest[copy.held_out])
    return [found[index] for index in sorted(found)]


def _exact(held_out: Sequence[str], training: Sequence[str]) -> Iterator[Copy]:
    wanted = [forms(prompt) for prompt in held_out]
    known = dict.fromkeys(frozenset[str]().union(*wanted), -1)
    for index, prompt in enumerate(training):
        for form in forms(prompt):
            if known.get(form) == -1:
                known[form] = index
    for index, mine in enumerate(wanted):
        places = [known[form] for form in mine if known[form] >= 0]
        if places:
            yield Copy(index, min(places), "exact")


def _by_words(mine: Words, said: list[str]) -> Iterator[Copy]:
    runs = CommonRuns(mine)
    place: dict[int, tuple[int, Kind]] = {}
    for first, block in _blocks(said):
        runs.count(block, first)
        for text, training in _contained(mine, block, _short(mine)):
            place.setdefault(text, (first + training, "whole"))
        for text, training in _short_ones_within(block, mine):
            place.setdefault(text, (first + training, "whole"))
    for text, training in _shared(mine, said, runs):
        place.setdefault(text, (training, "13-gram"))
    # Of nothing but common runs: a copy of a prompt that occurs more than ten times, or other questions' pieces.
    common = np.setdiff1d(runs.all_seen(), np.fromiter(place, np.int64, len(place)))
    if len(common):
        for first, block in _blocks(said):
            for text, training in _contained(mine, block, common):
                place.setdefault(text, (first + training, "whole"))
    for text, (training, kind) in place.items():
        yield Copy(text, training, kind)


def _blocks(said: list[str]) -> Iterator[tuple[int, Words]]:
    """The words of the training prompts in blocks that fit into memory, each after the index of its first."""
    ends = np.cumsum([len(text) + 1 for text in said])
    first = 0
    while first < len(said):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _BLOCK, side="right")), first + 1)
        yield first, words_of(said[first:last])
        first = last


def _short(words: Words) -> Indices:
    return np.flatnonzero((words.length > 0) & (words.length < RUN))


def _contained(needles: Words, hay: Words, chosen: Indices) -> Iterator[tuple[int, int]]:
    """Chosen texts of which all the words are in another text in one run, each with the first such text.

    Those under :data:`SHORTEST_RUN` words must be all of the other text.
    """
    whole = needles.whole()
    for length in np.unique(needles.length[chosen]).tolist():
        texts = chosen[needles.length[chosen] == length]
        runs, of = hay.runs(length)
        if length < SHORTEST_RUN:
            alone = hay.length[of] == length
            runs, of = runs[alone], of[alone]
        if len(runs):
            yield from _looked_up(texts, whole[texts], runs, of)


def _looked_up(texts: Indices, wanted: Hashes, runs: Hashes, of: Indices) -> Iterator[tuple[int, int]]:
    known = HashSet(wanted)
    hit, which = known.find(runs)
    first = dict(zip(which[::-1].tolist(), of[hit][::-1].tolist(), strict=True))
    for text, which_one in zip(texts.tolist(), np.searchsorted(known.values, wanted).tolist(), strict=True):
        if which_one in first:
            yield text, first[which_one]


def _short_ones_within(needles: Words, hay: Words) -> Iterator[tuple[int, int]]:
    """Texts that hold one of the short needles, unless so many do that it is an instruction; each with the needle."""
    whole = needles.whole()
    for length in range(SHORTEST_RUN, RUN):
        texts = np.flatnonzero(needles.length == length)
        if not len(texts):
            continue
        runs, of = hay.runs(length)
        known = HashSet(whole[texts])
        hit, needle = known.find(runs)
        pairs = np.unique(np.stack([needle, of[hit]]), axis=1)
        rare = np.bincount(pairs[0], minlength=len(known.values)) <= COMMON
        example = dict(zip(whole[texts].tolist(), texts.tolist(), strict=True))
        for which, text in pairs[:, rare[pairs[0]]].T.tolist():
            yield text, example[int(known.values[which])]


def _shared(mine: Words, said: list[str], runs: CommonRuns) -> Iterator[tuple[int, int]]:
    text, training, _ = runs.pairs()
    if not len(text):
        return
    involved, place = np.unique(training, return_inverse=True)
    theirs = words_of([said[index] for index in involved.tolist()])
    copied = ~alike_but_for_numbers(mine, theirs, text, place.astype(np.int64), RUN)
    text, training = text[copied], training[copied]
    _, best = np.unique(text, return_index=True)
    yield from zip(text[best].tolist(), training[best].tolist(), strict=True)
