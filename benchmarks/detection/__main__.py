"""Measure how often the findings are right: ``python -m benchmarks.detection``.

Prints the tables of each seed and profile, the labelled real runs, and other programs on the same runs. With
``--write`` it measures the reference seed and three others and puts what it prints into docs/detection.md.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from benchmarks.detection import competitors, report
from benchmarks.detection.measure import DATA, Measured, look_at_real_runs, simulate

REFERENCE = 2026
OTHERS = (101, 102, 103)
RUNS = 100
ASKED = 25
"""Runs of each scenario that the other programs look at: they take some 35 ms a run."""

PAGE = Path(__file__).parents[2] / "docs" / "detection.md"


def sections(several: list[Measured]) -> dict[str, str]:
    """Write all tables: name of the section to its text."""
    first = several[0]
    real = look_at_real_runs(others=competitors.installed())
    written = {"reference": report.seed(first), "seeds": report.summary(several), "real": report.real_runs(real)}
    written["others"] = report.against_others(first.scores, f"Simulated runs of seed {first.seed}.")
    if real is not None and len(real.scores) > 1:
        written["others"] += "\n\n" + report.against_others(real.scores, "The labelled real runs.")
    return written


def put(page: str, written: dict[str, str]) -> str:
    """Replace the sections of a page, which stand between two comments each."""
    for name, text in written.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        page, replaced = re.subn(f"{begin}.*?{end}", lambda _, t=f"{begin}\n{text}\n{end}": t, page, flags=re.DOTALL)
        assert replaced == 1, f"the page has no section {name}"
    return page


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs per scenario")
    parser.add_argument("--seed", type=int, nargs="+", help=f"seeds, {REFERENCE} if not given")
    parser.add_argument("--asked", type=int, default=ASKED, help="runs per scenario that other programs look at")
    parser.add_argument("--detail", action="store_true", help="say in which scenarios the false alarms are")
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    arguments = parser.parse_args()
    if arguments.write:
        # Half a page would look like a whole one.
        if len(competitors.installed()) < len(competitors.VERSIONS) or not DATA.is_dir():
            parser.error(f"--write needs the labelled runs ({DATA}) and the other programs. {report.NO_OTHERS}")
        arguments.seed, arguments.runs, arguments.asked = [REFERENCE, *OTHERS], RUNS, ASKED
    several = []
    for number in arguments.seed or [REFERENCE]:
        several.append(simulate(number, arguments.runs, 0 if several else arguments.asked))
        print(report.seed(several[-1]), end="\n\n", flush=True)
        if arguments.detail:
            print(report.where(several[-1]), end="\n\n")
    written = sections(several)
    for name in ("seeds", "real", "others"):
        print(written[name], end="\n\n")
    if arguments.write:
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), written), encoding="utf-8")


if __name__ == "__main__":
    main()
