"""Measure whether the intervals keep what they promise: ``python -m benchmarks.calibration``.

Prints one table per aspect and what does not hold, and ends with 1 if anything does not. ``--quick`` takes fewer
draws; ``--write`` puts the tables into docs/calibration.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.calibration import report
from benchmarks.calibration.candidates import best_of
from benchmarks.calibration.power import costs, promises
from benchmarks.calibration.tally import measure
from benchmarks.calibration.worlds import worlds
from benchmarks.detection.__main__ import put

SEED = 2026
DRAWS = 10_000
QUICK = 400

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} comparisons a cell instead of {DRAWS:,}")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    arguments = parser.parse_args()
    if arguments.write and arguments.quick:
        parser.error("--write needs the full run.")
    draws, seed = QUICK if arguments.quick else DRAWS, arguments.seed
    written = {}
    measured: report.Measured = []
    for aspect in ("single", "averaged", "graded", "clustered"):
        found = [
            (one, n, measure(one, n, draws, seed)) for one in worlds() if one.aspect == aspect for n in one.numbers
        ]
        measured += found
        written[aspect] = report.aspect(found)
        print(f"{aspect}\n{written[aspect]}\n", flush=True)
    families, kept, paid = best_of(draws, seed), promises(draws, seed), costs(draws, seed)
    written |= {
        "best": report.best(families),
        "promises": report.promises(kept),
        "costs": report.costs(paid),
        "summary": f"Seed {seed}, {draws:,} comparisons a cell; the Monte Carlo error of a coverage of .95 is "
        f"{(0.95 * 0.05 / draws) ** 0.5:.4f}, of a share of .025 {(0.025 * 0.975 / draws) ** 0.5:.4f}.\n\n"
        + report.summary(measured),
    }
    for name in ("best", "promises", "costs", "summary"):
        print(f"{name}\n{written[name]}\n", flush=True)
    missed = report.misses(measured, kept, paid, families)
    print("\n".join(f"does not hold: {line}" for line in missed) or "Everything holds.")
    if arguments.write:
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), written), encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
