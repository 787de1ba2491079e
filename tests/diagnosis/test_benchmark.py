"""The detection benchmark: a scenario for every finding, a small measurement within its limits, current docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.detection import competitors, measure, report
from benchmarks.detection.__main__ import PAGE, REFERENCE, RUNS, put
from benchmarks.detection.measure import Measured
from benchmarks.detection.runs import HEALTHY, SCENARIOS, draw
from benchmarks.detection.truth import truth_of
from rlchecks.diagnosis import CODES

SEED = 7


@pytest.fixture(scope="module")
def small() -> Measured:
    return measure.simulate(REFERENCE, measure.FIRST)


def test_the_docs_were_measured_with_these_rules(small: Measured) -> None:
    stated = re.search("has the fingerprint `(.*?)`", PAGE.read_text(encoding="utf-8"))
    assert stated is not None
    assert stated[1] == small.fingerprint, "a rule, a threshold or the simulator has changed; run: make bench-detection"


def test_every_finding_but_the_last_resort_must_come_out_somewhere(small: Measured) -> None:
    counts = small.tallies["chat"].codes
    assert {code for code in CODES if code in counts and counts[code].true} == set(CODES) - {"inconclusive"}
    assert counts["inconclusive"].said


def test_nothing_that_alarms_is_true_of_a_healthy_run() -> None:
    harmless = {"learning", "saturated", "no_trend", "inconclusive", "length_growth", "entropy_collapse"}
    harmless |= {"validation_rising", "earlier_checkpoint_as_good", "too_short", "ended_early", "reward_falling"}
    for name in sorted(HEALTHY):
        for index in range(5):
            truth = truth_of(draw(name, SEED, index))
            assert set(truth.must) <= harmless, (name, index)


def test_the_same_seed_draws_the_same_run_whatever_else_is_drawn() -> None:
    once = draw("learns", SEED, 3)
    draw("drifts", SEED, 0)
    again = draw("learns", SEED, 3)
    assert (once.log.columns["reward"] == again.log.columns["reward"]).all()
    assert (once.log.columns["reward"][:10] != draw("learns", SEED, 4).log.columns["reward"][:10]).any()


def test_a_small_measurement_keeps_the_limits(small: Measured) -> None:
    for profile, tally in small.tallies.items():
        assert tally.healthy >= 10 * len(HEALTHY)
        assert tally.alarm_rate <= 0.02, profile
        true = sum(code.true for code in tally.codes.values())
        assert sum(code.hit for code in tally.codes.values()) >= 0.97 * true, profile
        assert sum(code.wrong for code in tally.codes.values()) <= 0.02 * sum(c.said for c in tally.codes.values())
        late = [code.onset_error for code in tally.codes.values() if code.onset_error is not None]
        assert max(late) <= 0.1, profile


def test_other_programs_are_left_out_visibly_where_they_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(competitors, "VERSIONS", {"rldoctor": "0", "rlprobe": "0"})
    assert competitors.installed() == {}
    assert report.against_others({}, "Runs.") == report.NO_OTHERS
    assert report.real_runs(None) == report.NO_DATA


def test_real_runs_come_out_as_labelled(shared_data: Path) -> None:
    looked = measure.look_at_real_runs(shared_data)
    assert looked is not None
    for one in looked.seen:
        assert one.run.log is not None, one.run.refused
        assert not one.missed, one.run.name
        assert not one.false, one.run.name


def test_a_section_of_the_page_is_replaced_and_a_missing_one_is_an_error() -> None:
    page = "a\n<!-- seeds -->\nold\n<!-- end of seeds -->\nb"
    assert put(page, {"seeds": "new \\1"}) == "a\n<!-- seeds -->\nnew \\1\n<!-- end of seeds -->\nb"
    with pytest.raises(AssertionError, match="no section"):
        put(page, {"real": "x"})


@pytest.mark.slow
def test_the_tables_in_the_docs_are_what_the_command_prints() -> None:
    page = PAGE.read_text(encoding="utf-8")
    match = re.search("<!-- reference -->\n(.*)\n<!-- end of reference -->", page, re.DOTALL)
    assert match is not None
    assert match[1] == report.seed(measure.simulate(REFERENCE, RUNS)), "run: make bench-detection"
    assert f"of {len(SCENARIOS)} scenarios" in match[1]
