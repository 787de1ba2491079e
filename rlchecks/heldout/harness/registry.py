"""The formats of evaluation logs there are, and which of them reads what.

To add a format, write one module with a class that follows :class:`Format` and name it in ``_FORMATS``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Protocol, cast

from rlchecks.heldout.harness.log import EvalLog
from rlchecks.heldout.harness.source import Source

_FORMATS = (
    "rlchecks.heldout.harness.inspect_ai:InspectFormat",
    "rlchecks.heldout.harness.lm_eval:LmEvalFormat",
    "rlchecks.heldout.harness.lighteval:LightevalFormat",
    "rlchecks.heldout.harness.openai_evals:OpenaiEvalsFormat",
    "rlchecks.heldout.harness.helm:HelmFormat",
    "rlchecks.heldout.harness.alpaca_eval:AlpacaEvalFormat",
    "rlchecks.heldout.harness.mt_bench:MtBenchFormat",
    "rlchecks.heldout.harness.mt_bench_pairs:MtBenchPairsFormat",
    "rlchecks.heldout.harness.llmbar:LlmbarFormat",
    "rlchecks.heldout.harness.pandalm:PandalmFormat",
    "rlchecks.heldout.harness.verifiers:VerifiersFormat",
    "rlchecks.heldout.harness.skyrl:SkyrlFormat",
    "rlchecks.heldout.harness.countdown:CountdownFormat",
    "rlchecks.heldout.harness.simple_evals:SimpleEvalsFormat",
)


class Format(Protocol):
    """Reads one format.

    Attributes:
        name: a short name, unique.

    Optional is ``summaries: frozenset[str]``: names of files that look like row files and hold no answers.
    """

    name: str

    def named(self, name: str) -> bool:
        """Whether a file of this name, somewhere in a directory that was given, is to be read."""

    def detect(self, source: Source) -> bool:
        """Whether this is the format of a file, told by what is in it."""

    def read(self, source: Source) -> EvalLog:
        """Read the file.

        Raises:
            InputError: it cannot be read, or holds nothing that a gate may rest on.
        """


@cache
def formats() -> tuple[Format, ...]:
    """All formats in the order in which they are asked."""
    return tuple(map(_format, _FORMATS))


def format_of(source: Source) -> Format | None:
    """The first format that recognises a file."""
    return next((one for one in formats() if one.detect(source)), None)


def named(name: str) -> bool:
    """Whether any format wants a file of this name read."""
    return any(one.named(name) for one in formats())


def summary(name: str) -> bool:
    """Whether a file of this name is some format's summary, to be passed over in a directory."""
    return any(name in getattr(one, "summaries", ()) for one in formats())


def _format(place: str) -> Format:
    module, name = place.split(":")
    return cast(Format, getattr(import_module(module), name)())
