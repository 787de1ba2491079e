"""Measure how often the findings are right: ``python -m benchmarks.detection``.

Prints one table per seed and profile. ``--write`` puts the reference table into docs/detection.md.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.detection import detect, report
from benchmarks.detection.scenarios import SCENARIOS, Run
from benchmarks.detection.tally import Found, Tally, count, found
from rlchecks.diagnosis import CODES, PROFILES

HOSTED = frozenset(CODES) - {
    *("diverged", "starved_floor", "starved_ceiling", "starved", "length_collapse", "length_with_reward"),
    *("answers_clipped", "kl_without_gain", "format_only", "entropy_collapse", "length_growth", "saturated"),
}
"""What the profile for hosted providers looks for: they show rewards and validation checks only."""

REFERENCE_SEED = 2026
RUNS = 100
PAGE = Path(__file__).parents[2] / "docs" / "detection.md"


def simulate(name: str, seed: int, runs: int) -> list[Run]:
    """Draw runs of a scenario; the same seed gives the same runs, whatever else is drawn."""
    place = list(SCENARIOS).index(name)
    return [SCENARIOS[name](np.random.default_rng([seed, place, index])) for index in range(runs)]


def examine(name: str, seed: int, runs: int) -> tuple[list[Run], dict[str, list[Found]]]:
    """Draw runs of a scenario and diagnose them with every profile."""
    drawn = simulate(name, seed, runs)
    return drawn, {profile: [found(one) for one in detect.findings(drawn, profile)] for profile in PROFILES}


def measure(seed: int, runs: int) -> dict[str, Tally]:
    """Measure all scenarios; profile to its counts."""
    with ProcessPoolExecutor() as pool:
        jobs = [pool.submit(examine, name, seed, runs) for name in SCENARIOS]
        results = [job.result() for job in jobs]
    drawn = [run for some, _ in results for run in some]
    tallies = {}
    for profile in PROFILES:
        said = [one for _, by_profile in results for one in by_profile[profile]]
        tallies[profile] = count(drawn, said, HOSTED if profile == "hosted" else frozenset(CODES))
    return tallies


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs per scenario")
    parser.add_argument("--seed", type=int, nargs="+", default=[REFERENCE_SEED])
    parser.add_argument("--write", action="store_true", help="put the table of the reference seed into the docs")
    arguments = parser.parse_args()
    for seed in arguments.seed:
        tallies = measure(seed, arguments.runs)
        print(report.text(tallies, seed, arguments.runs))
    if arguments.write:
        PAGE.write_text(report.page(measure(REFERENCE_SEED, RUNS), REFERENCE_SEED, RUNS), encoding="utf-8")


if __name__ == "__main__":
    main()
