"""The counts as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from benchmarks.detection.scenarios import SCENARIOS
from benchmarks.detection.tally import Code, Tally
from rlchecks.diagnosis.registry import CODES

HEADER = ("finding", "true cases", "recall", "too small to show", "said", "precision", "onset error")


def text(tallies: Mapping[str, Tally], seed: int, runs: int) -> str:
    """Write the tables of one seed, a profile each."""
    parts = [f"seed {seed}, {runs} runs of each of {len(SCENARIOS)} scenarios"]
    parts += [table(profile, tally) for profile, tally in tallies.items()]
    return "\n\n".join(parts) + "\n"


def table(profile: str, tally: Tally) -> str:
    """Write the table of one profile, in Markdown."""
    lines = [f"**Profile {profile}.** Healthy runs with any warning: {tally.alarmed} of {tally.healthy}"]
    lines[0] += f" ({tally.alarmed / max(tally.healthy, 1):.1%}).{_false(tally)}"
    lines += ["", "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    order = [code for code in CODES if code in tally.codes]
    lines += ["| " + " | ".join(_row(code, tally.codes[code])) + " |" for code in order]
    return "\n".join(lines)


def _row(code: str, counts: Code) -> tuple[str, ...]:
    holds = counts.true + counts.hidden
    hidden = f"{counts.hidden / holds:.0%}" if holds else "-"
    return (
        f"`{code}`",
        str(counts.true),
        _share(counts.recall),
        hidden,
        str(counts.said),
        _share(counts.precision),
        _share(counts.onset_error),
    )


def _false(tally: Tally) -> str:
    false = Counter(code for some in tally.alarms.values() for code in some)
    if not false:
        return " False alarms over all runs: none."
    listed = ", ".join(f"`{code}` {number}" for code, number in false.most_common())
    return f" False alarms over all runs, sick ones too: {listed}."


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def page(tallies: Mapping[str, Tally], seed: int, runs: int) -> str:
    """Write the page of the docs."""
    return _PAGE + text(tallies, seed, runs)


_PAGE = """# How often the findings are right

Written by `python -m benchmarks.detection --write`; the command prints the same tables for any `--seed`.

Simulated runs with known truth (`benchmarks/detection/`): a policy's course is given, answers are drawn from it prompt
by prompt, and a log is written as a trainer writes it: 20 to 2,000 steps, logged every 1 to 50, rewards on several
scales, batches whose luck is autocorrelated up to .8 between rows, keys missing as in the older generations of TRL.
Nothing in the simulator knows the rules.

*True cases*: runs in which the finding holds and its effect exceeds what their rows and noise can show (a rise of the
reward: 1.3 times the smallest one that counts, and 4 standard errors of late against early; a standstill: its 95 %
bound at a power of 95 %). *Too small to show*: the share of runs in which it holds but does not exceed that. *Said*: runs
in which it came out. *Precision*: the share of those in which it holds or is a fair description. *Onset error*: median
distance of the reported from the true onset, as a share of the run.

"""
