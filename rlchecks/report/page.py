"""The verdict as one HTML file: no script, no fetch, every text from outside escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow.compute as pc
from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

from rlchecks.report import (
    absent,
    answers,
    breakdown,
    candidates,
    checkpoints,
    comparison,
    heldout,
    identities,
    judges,
    overlap,
    panels,
    payments,
    summary,
)
from rlchecks.report import format as fmt
from rlchecks.report.inert import block, line
from rlchecks.report.onsets import Onset
from rlchecks.report.panels import Signals
from rlchecks.report.summary import Document, mapping, part_of_comparison
from rlchecks.run import RunLog

_CLASSES = {"PROMOTE": "promote", "HOLD": "hold", "REJECT": "reject", summary.NO_DECISION: "hold"}
# What has a chart of its own is named as missing there.
_DRAWN = ("reward", "reward_std", "zero_std_fraction", "clipped_ratio", "mean_length", "kl")
_MOST_CHANGES = 4


class Letter(NamedTuple):
    """A finding with the letter that marks its onset in the charts; no letter without an onset."""

    tag: str
    finding: Document


def render(document: Mapping[str, Any], run: RunLog, signals: Signals) -> str:
    """Write the page.

    Args:
        document: the ``verdict.json`` document; whatever is missing in it is shown as missing.
        run: the training run behind it, for the charts and the best-scored answers.
        signals: the run's row of the ``signals`` table.

    Returns:
        A complete HTML document that needs nothing else and fetches nothing.
    """
    lettered = _letters(document)
    onsets = [Onset(int(found.finding["onset_step"]), found.tag) for found in lettered if found.tag]
    reasons = summary.items(document, "reasons")
    checks = summary.items(document, "checks")
    decided = summary.decision(document)
    agreement = part_of_comparison(document, "agreement")
    return _template().render(
        document=document,
        decision=decided,
        kind=_CLASSES[decided],
        headline=summary.headline(document),
        margin=None if summary.margin(document) is None else f"{summary.margin(document):g}",
        todo=summary.todo(document),
        run_name=_run_name(document, run),
        candidate=summary.name_of(document.get("candidate")),
        baseline=summary.name_of(document.get("baseline")),
        override=mapping(document.get("override")),
        figures=_figures(document, run, signals),
        contrast=heldout.contrast(document),
        against=summary.failing(reasons),
        passed=summary.harmless(reasons),
        findings=lettered,
        panels=panels.build(run, signals, onsets),
        not_measured=_not_measured(document, run),
        remarks=summary.remarks(document),
        answers=answers.best_scored(run),
        payments=payments.rows(document),
        shown=payments.examples(document),
        graders=[summary.name_of(grader) for grader in summary.values(document.get("graders"))],
        parts=comparison.parts(document),
        identities=identities.rows(document),
        whisker=heldout.differences(document),
        comparison=heldout.facts(document),
        checkpoints=checkpoints.rows(document),
        overlap=overlap.sentence(document),
        overlapping=overlap.examples(document),
        agreements=judges.pairs(agreement),
        corrections=judges.corrected(agreement),
        each_by_itself=judges.EACH_BY_ITSELF,
        disputed=judges.disputed(agreement),
        best=[text for text in (checkpoints.sentence(document), checkpoints.distance(document)) if text],
        against_best=checkpoints.picture(document),
        candidates=candidates,
        breakdown=breakdown,
        changes=[
            (words, summary.items(mapping(document.get("comparison")), key)[:_MOST_CHANGES])
            for words, key in (
                ("Questions it lost most on", "largest_losses"),
                ("Questions it gained most on", "largest_gains"),
            )
        ],
        suites=list(_suites(checks)),
        provenance=mapping(document.get("provenance")),
        facts_=_facts(document, run),
        inputs=summary.items(mapping(document.get("provenance")), "inputs"),
        suite_files=summary.items(mapping(document.get("provenance")), "suites"),
    )


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("rlchecks.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # Every expression of the template passes here, so none can forget to be cleaned.
        finalize=lambda value: value if isinstance(value, Markup) else block(value),
    )
    environment.globals.update(
        fmt=fmt, line=line, effect=summary.effect, status=summary.status, title=summary.title, roles=comparison.ROLES
    )
    environment.globals.update(account=summary.account, expected=summary.expected, severity=summary.severity)
    return environment.get_template("page.html.jinja")


def _run_name(document: Document, run: RunLog) -> str:
    return summary.name_of(document.get("run")) if document.get("run") else line(run.name, 120) or "unnamed"


def _not_measured(document: Document, run: RunLog) -> list[tuple[str, str]]:
    """Metrics without a chart of their own by the reason why they are missing."""
    named: dict[str, list[str]] = {}
    for name in summary.values(document.get("not_measured")):
        if name not in _DRAWN:
            named.setdefault(absent.reason(run, str(name)), []).append(fmt.label(name))
    return [(why, ", ".join(names)) for why, names in named.items()]


def _letters(document: Document) -> list[Letter]:
    letters = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    found = []
    for finding in summary.findings(document):
        dated = fmt.finite(finding.get("onset_step")) is not None
        found.append(Letter(next(letters, "") if dated else "", finding))
    return found


def _figures(document: Document, run: RunLog, signals: Signals) -> list[tuple[str, str, str]]:
    held_out = mapping(document.get("comparison"))
    numbers = (held_out.get(key) for key in ("difference", "ci_lower", "ci_upper"))
    judge = comparison.judge_of(document)
    asked = fmt.count(held_out.get("n_questions"), "question")
    decoding = line(held_out.get("decoding") or "", 60)
    before, after = signals.get("reward_start"), signals.get("reward_end")
    reward = f"{fmt.number(before)} → {fmt.number(after)}" if None not in (before, after) else fmt.NOT_MEASURED
    checks = summary.items(document, "checks")
    good = len(summary.harmless(checks))
    severities = [summary.severity(finding) for finding in summary.findings(document)]
    alarms = [f"{severities.count(kind)} {kind}" for kind in ("critical", "warning") if kind in severities]
    graders = ", ".join(summary.name_of(one) for one in summary.values(document.get("graders"))) or "unknown"
    return [
        ("Held-out difference", fmt.interval(*numbers), " · ".join(filter(None, (asked, decoding)))),
        ("Training reward", reward, f"to step {fmt.number(signals.get('last_step') or _last_step(run))}"),
        ("Judge", judge, f"training grader: {graders}"),
        (
            "Findings",
            ", ".join(alarms) or "nothing alarming",
            f"{good} of {fmt.count(len(checks), 'check')} without objection" if checks else "",
        ),
    ]


def _last_step(run: RunLog) -> int | None:
    last: int | None = pc.max(run.steps["step"]).as_py()
    return last


def _suites(checks: Sequence[Document]) -> Iterator[tuple[str, list[Document], list[Document]]]:
    def suite(check: Document) -> str:
        return line(check.get("suite") or "suite", 120)

    for name, group in groupby(sorted(checks, key=suite), key=suite):
        listed = list(group)
        against = summary.failing(listed)
        yield name, against, summary.harmless(listed)


def _facts(document: Document, run: RunLog) -> list[tuple[str, str]]:
    provenance = mapping(document.get("provenance"))
    known = [
        ("verdict", line(document.get("id") or "", 120)),
        ("made", fmt.moment(document.get("created_at"))),
        ("profile", line(document.get("profile") or "", 60)),
        ("run read from", line(run.source, 300)),
        ("framework", " ".join(line(text or "", 60) for text in (run.framework, run.framework_version))),
        (
            "steps",
            fmt.number(_last_step(run)) + (f" of {fmt.number(run.planned_steps)} planned" if run.planned_steps else ""),
        ),
        ("repeated rows", fmt.number(run.repeated_steps) if run.repeated_steps else ""),
        ("orchestrator", line(document.get("orchestrator") or "", 300)),
    ]
    extra = [
        (fmt.label(key), fmt.anything(value, 600))
        for key, value in provenance.items()
        if key not in ("inputs", "suites", "command") and value is not None
    ]
    return [(name, value) for name, value in [*known, *extra] if value.strip()]
