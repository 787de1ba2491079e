"""The tables of docs/calibration.md."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.calibration.candidates import COUNTS, Best
from benchmarks.calibration.power import Cost, Promise
from benchmarks.calibration.tally import Cell, Tally
from benchmarks.calibration.worlds import World

Measured = list[tuple[World, int, Cell]]

TYPICAL, WORST = 0.035, 0.05
"""Most that may be promoted at the margin in typical cells, and in any."""


def aspect(measured: Measured) -> str:
    """One table: a row a world, a column a number of questions, and the other rules at their worst."""
    numbers = sorted({n for _, n, _ in measured})
    rows = [["", *(f"n = {n:,}" for n in numbers), "plain t, worst", "NeMo, worst"]]
    for world in dict.fromkeys(world for world, _, _ in measured):
        cells = {n: cell for one, n, cell in measured if one is world}
        own = [_pair(cells[n]["rlchecks"]) if n in cells else "" for n in numbers]
        rows.append(
            [world.name if world.typical else f"*{world.name}*", *own, _worst(cells, "plain t"), _worst(cells, "NeMo")]
        )
    return _table(rows)


def summary(measured: Measured) -> str:
    """The worst cells of each rule, and how many miss what must hold."""
    rows = [["rule", "cells below 93 % coverage", "lowest coverage", "promoted, typical", "promoted, any"]]
    for rule in ("rlchecks", "plain t", "NeMo"):
        tallies = [(world, n, cell[rule]) for world, n, cell in measured]
        below = sum(not tally.holds for _, _, tally in tallies)
        defined = [item for item in tallies if item[2].undefined < item[2].draws]
        low = min(defined, key=lambda item: item[2].coverage)
        decided = [item for item in tallies if item[2].decides]
        usual = max((item for item in decided if item[0].typical), key=lambda item: item[2].above)
        worst = max(decided, key=lambda item: item[2].above)
        rows.append(
            [
                rule,
                f"{below} of {len(tallies)}",
                f"{low[2].coverage:.3f} ({low[0].name}, n = {low[1]:,})",
                *(f"{item[2].above / item[2].draws:.3f} ({item[0].name}, n = {item[1]:,})" for item in (usual, worst)),
            ]
        )
    return _table(rows)


def promises(found: Sequence[Promise]) -> str:
    """What was promised and what came of it."""
    rows = [["plan", "margin", "questions", "promised", "found", "error"]]
    rows += [
        [
            one.name,
            f"{one.effect:g}",
            f"{one.questions:,}",
            f"{one.promised:.3f}",
            f"{one.found:.3f}",
            f"{one.error:.3f}",
        ]
        for one in found
    ]
    return _table(rows)


def costs(found: Sequence[Cost]) -> str:
    """Power beside that of t or CR2 alone."""
    rows = [["", "n", "effect", "rlchecks", "t or CR2 alone", "lost", "NeMo"]]
    rows += [
        [
            one.name if one.typical else f"*{one.name}*",
            f"{one.n:,}",
            f"{one.effect:.3f}",
            f"{one.rlchecks:.3f}",
            f"{one.plain:.3f}",
            f"{one.plain - one.rlchecks:.3f}",
            f"{one.nemo:.3f}",
        ]
        for one in found
    ]
    return _table(rows)


def best(found: Sequence[Best]) -> str:
    """How often any of several candidates is promoted."""
    rows = [["scores", "n", "how", *(f"{count} candidate{'s' * (count > 1)}" for count in COUNTS)]]
    for one in found:
        for how, shares in (
            ("one call", one.one_call),
            ("separate calls", one.separate),
            ("not corrected", one.unadjusted),
            ("NeMo", one.nemo),
        ):
            rows.append([one.name, str(one.n), how, *(f"{share:.3f}" for share in shares)])
    return _table(rows)


def misses(measured: Measured, kept: Sequence[Promise], paid: Sequence[Cost], families: Sequence[Best]) -> list[str]:
    """What must hold and does not, in words; a margin of three Monte Carlo errors for each."""
    found = []
    for world, n, cell in measured:
        tally = cell["rlchecks"]
        if not tally.holds:
            found.append(f"{world.name}, n = {n}: coverage {tally.coverage:.3f}")
        most = TYPICAL if world.typical else WORST
        if tally.decides and tally.above / tally.draws > most + 3 * (most * (1 - most) / tally.draws) ** 0.5:
            found.append(f"{world.name}, n = {n}: promoted {tally.above / tally.draws:.3f}")
    found += [
        f"{one.name}: power {one.found:.3f}" for one in kept if abs(one.found - one.promised) > 0.03 + 3 * one.error
    ]
    found += [
        f"{one.name}, n = {one.n}: {one.plain - one.rlchecks:.3f} of the power lost"
        for one in paid
        if one.typical and one.plain - one.rlchecks > 0.03
    ]
    found += [
        f"{one.name}, n = {one.n}: best of many {max(one.one_call + one.separate):.3f}"
        for one in families
        if max(one.one_call + one.separate) > 0.05 + 3 * one.error
    ]
    return found


def _pair(tally: Tally) -> str:
    coverage = "-" if tally.undefined == tally.draws else f"{tally.coverage:.3f}"
    promoted = "-" if tally.promoted is None else f"{tally.promoted:.3f}"
    undefined = f", {tally.undefined / tally.draws:.0%} undefined" if tally.undefined > 0.005 * tally.draws else ""
    return f"{coverage} / {promoted}{undefined}"


def _worst(cells: dict[int, Cell], rule: str) -> str:
    tallies = [cell[rule] for cell in cells.values()]
    coverage = min((tally.coverage for tally in tallies if tally.undefined < tally.draws), default=float("nan"))
    promoted = max((tally.promoted for tally in tallies if tally.promoted is not None), default=float("nan"))
    return f"{coverage:.3f} / {promoted:.3f}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
