"""Measure how often the findings are right: ``python -m benchmarks.detection``.

Prints one table per seed and profile. ``--write`` puts the reference table into docs/detection.md.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import benchmarks.detection.scenarios  # noqa: F401
from benchmarks.detection import detect, report
from benchmarks.detection.runs import SCENARIOS, draw
from benchmarks.detection.tally import Found, Seen, Tally, count, found, seen
from benchmarks.detection.truth import truth_of
from rlchecks.diagnosis import CODES, PROFILES

HOSTED = frozenset(CODES) - {
    *("diverged", "starved_floor", "starved_ceiling", "starved", "length_collapse", "length_with_reward"),
    *("answers_clipped", "kl_without_gain", "format_only", "entropy_collapse", "length_growth", "saturated"),
}
"""What the profile for hosted providers looks for: they show rewards and validation checks only."""

REFERENCE_SEED = 2026
RUNS = 100


def examine(name: str, seed: int, runs: int) -> tuple[list[Seen], dict[str, list[Found]]]:
    """Draw runs of a scenario and diagnose them with every profile."""
    drawn = [draw(name, seed, index) for index in range(runs)]
    said = {profile: [found(one) for one in some] for profile, some in detect.findings(drawn).items()}
    return [seen(run, truth_of(run)) for run in drawn], said


def measure(seed: int, runs: int) -> dict[str, Tally]:
    """Measure all scenarios; profile to its counts."""
    with ProcessPoolExecutor(2) as pool:
        results = list(pool.map(examine, SCENARIOS, [seed] * len(SCENARIOS), [runs] * len(SCENARIOS)))
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
    parser.add_argument("--detail", action="store_true")
    arguments = parser.parse_args()
    for seed in arguments.seed:
        print(report.text(measure(seed, arguments.runs), seed, arguments.runs, arguments.detail))


if __name__ == "__main__":
    main()
