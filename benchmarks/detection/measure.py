"""The measurement: draw runs, diagnose them, let the other programs look at some of them, and count."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import benchmarks.detection.scenarios  # noqa: F401
from benchmarks.detection import competitors, detect, duel, heldout, real
from benchmarks.detection.runs import SCENARIOS, draw
from benchmarks.detection.tally import Found, Seen, Tally, count, found, seen
from benchmarks.detection.truth import truth_of
from rlchecks.diagnosis import CODES, PROFILES
from rlchecks.suites import load

HOSTED = frozenset(CODES) - {
    *("diverged", "starved_floor", "starved_ceiling", "starved", "length_collapse", "length_with_reward"),
    *("answers_clipped", "kl_without_gain", "format_only", "entropy_collapse", "length_growth", "saturated"),
}
"""What the profile for hosted providers looks for: they show rewards and validation checks only."""

DATA = Path(os.environ.get("RLCHECKS_SHARED_DATA") or Path(__file__).parents[3] / "shared" / "data")
"""The labelled real runs; ``$RLCHECKS_SHARED_DATA`` names another place."""


FIRST = 10
"""Runs of each scenario that the fingerprint of a measurement is taken of: few enough for a test to draw them."""


@dataclass(frozen=True)
class Examined:
    """A scenario's runs: what is true of them, what was found by profile, what other programs said of the first."""

    runs: list[Seen]
    found: dict[str, list[Found]]
    said: dict[str, list[list[competitors.Said]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """Counts of one seed: by profile, and by program where others were asked; and its :func:`fingerprint`."""

    seed: int
    runs: int
    fingerprint: str
    tallies: dict[str, Tally]
    scores: dict[str, duel.Score]


def examine(name: str, seed: int, runs: int, asked: int) -> Examined:
    """Draw runs of a scenario and diagnose them with every profile; ask other programs about the first of them."""
    drawn = [draw(name, seed, index) for index in range(runs)]
    said = {profile: [found(one) for one in some] for profile, some in detect.findings(drawn).items()}
    others = competitors.installed() if asked else ()
    heard = competitors.ask(others, map(competitors.history_of, drawn[:asked]))
    return Examined([seen(run, truth_of(run)) for run in drawn], said, heard)


def compare(name: str, seed: int, runs: int) -> Examined:
    """Draw held-out results of a scenario and see what is said of them; a profile makes no difference there."""
    seen, said = heldout.examine(name, seed, runs, load("chat").parameters)
    return Examined(seen, dict.fromkeys(PROFILES, said))


def fingerprint(examined: Sequence[Examined]) -> str:
    """Tell measurements apart: a hash of what is true of, and what was found in, the first runs of each scenario.

    It changes with a rule, a threshold or the simulator wherever that changes a finding, its severity or its onset.
    """
    lines = []
    for one in examined:
        for index, run in enumerate(one.runs[:FIRST]):
            truth = run.truth
            true = sorted((code, effect.shown) for code, effect in truth.must.items())
            lines.append(repr((run.scenario, index, true, sorted(truth.may), sorted(truth.onset.items()))))
            for profile, some in one.found.items():
                said = some[index]
                lines.append(repr((profile, sorted(said.codes), sorted(said.alarms), sorted(said.onset.items()))))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def simulate(seed: int, runs: int, asked: int = 0) -> Measured:
    """Measure all scenarios of a seed, and let the other programs look at the first ``asked`` runs of each."""
    names = list(SCENARIOS)
    with ProcessPoolExecutor() as pool:
        each = [[value] * len(names) for value in (seed, runs, asked)]
        results = list(pool.map(examine, names, *each))
        compared = list(pool.map(compare, heldout.GAINS, *([value] * len(heldout.GAINS) for value in (seed, runs))))
    drawn = [run for one in results + compared for run in one.runs]
    tallies = {}
    for profile in PROFILES:
        said = [each for one in results + compared for each in one.found[profile]]
        tallies[profile] = count(drawn, said, HOSTED if profile == "hosted" else frozenset(CODES))
    scores = {}
    if asked:
        pairs = [zip(one.runs[:asked], one.found["chat"][:asked], strict=True) for one in results]
        matches = [duel.simulated(*pair) for some in pairs for pair in some]
        scores[duel.OURS] = duel.score(matches)
        for name in competitors.installed():
            scores[name] = duel.score(matches, [heard for one in results for heard in one.said[name]])
    return Measured(seed, runs, fingerprint(results + compared), tallies, scores)


@dataclass(frozen=True)
class Real:
    """The labelled real runs: what was found in each, and by program what it named."""

    seen: list[real.Seen]
    scores: dict[str, duel.Score]


def look_at_real_runs(data: Path = DATA, others: Iterable[str] = ()) -> Real | None:
    """Diagnose the labelled real runs; None where there are none."""
    if not (data / "trl").is_dir():
        return None
    parameters = load("chat").parameters
    looked = [real.look(run, parameters) for run in real.runs(data)]
    read = [one for one in looked if one.run.log is not None]
    matches = [duel.labelled(one) for one in read]
    heard = competitors.ask(others, (competitors.history_of_log(one.run.log) for one in read if one.run.log))
    scores = {duel.OURS: duel.score(matches)} | {name: duel.score(matches, said) for name, said in heard.items()}
    return Real(looked, scores)
