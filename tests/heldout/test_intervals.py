from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.heldout.intervals import clustered, paired_interval, paired_t, tango

# Student's sleep data (R `sleep`), extra hours of drug 1 minus drug 2.
SLEEP = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]) - np.array(
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
)
# Darwin's maize, cross- minus self-fertilised height in eighths of an inch (Fisher 1935).
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])


def test_paired_t_on_the_sleep_data() -> None:
    found = paired_t(SLEEP)
    assert found.estimate == pytest.approx(-1.58)
    # Published in R's documentation of t.test: t = -4.0621, df = 9, -2.4599 to -0.7001.
    assert (found.lower, found.upper) == (pytest.approx(-2.4599, abs=5e-5), pytest.approx(-0.7001, abs=5e-5))
    assert (found.n, found.df, found.method) == (10, 9.0, "paired_t")
    assert found.estimate / (SLEEP.std(ddof=1) / 10**0.5) == pytest.approx(-4.0621, abs=5e-5)


def test_paired_t_on_darwins_maize() -> None:
    found = paired_t(MAIZE)
    assert found.estimate == pytest.approx(20.9333, abs=5e-5)
    # t = 2.148 and p = .04970 (Fisher 1935): the interval barely excludes zero.
    assert found.lower is not None
    assert 0.0 < found.lower < 0.1


# p = .002833 in R's documentation of t.test; p = .04970 in Fisher 1935.
@pytest.mark.parametrize(("values", "p"), [(SLEEP, 0.002833), (MAIZE, 0.04970)])
def test_the_interval_at_one_minus_the_published_p_ends_at_zero(values: np.ndarray, p: float) -> None:
    found = paired_t(values, confidence=1 - p)
    assert found.lower is not None
    assert found.upper is not None
    assert min(abs(found.lower), abs(found.upper)) == pytest.approx(0.0, abs=2e-3 * values.std())


@pytest.mark.parametrize("values", [[], [0.3], [0.2, 0.2, 0.2]])
def test_t_without_variance_is_undefined_with_a_reason(values: list[float]) -> None:
    found = paired_t(values)
    assert found.lower is None
    assert found.upper is None
    assert found.reason
    assert found.estimate == (pytest.approx(values[0]) if values else None)


def test_no_question_gives_no_interval() -> None:
    found = tango(0, 0, 0)
    assert (found.estimate, found.lower, found.upper) == (None, None, None)
    assert found.reason == "no question was answered on both sides"


@pytest.mark.parametrize(("b", "c", "n"), [(-1, 0, 5), (3, 3, 5), (0, -0.5, 5)])
def test_impossible_counts_are_refused(b: float, c: float, n: int) -> None:
    with pytest.raises(ValueError, match="b and c"):
        tango(b, c, n)


def test_a_difference_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        paired_t([0.1, float("nan")])


def test_a_level_outside_zero_to_one_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        paired_t([0.1, 0.2], 95)


def test_one_answer_a_side_takes_tango_however_many_questions() -> None:
    differences = np.repeat([1.0, -1.0, 0.0], [86, 150, 1364])
    found = paired_interval(differences, binary_single=True)
    assert found == tango(86, 150, 1600)
    assert found.method == "tango"


def test_averages_of_few_questions_take_tango_with_sums() -> None:
    differences = np.tile([0.5, -0.25, 0.25, 0.75], 24)
    found = paired_interval(differences, averaged_binary=True)
    assert found == tango(24 * 1.5, 24 * 0.25, 96)._replace(method="tango_sums")


@pytest.mark.parametrize(("differing", "method"), [(29, "tango_sums"), (30, "bounded_t")])
def test_averages_that_rarely_differ_take_tango(differing: int, method: str) -> None:
    differences = np.zeros(200)
    differences[:differing] = np.resize([0.25, -0.5, 0.75], differing)
    assert paired_interval(differences, averaged_binary=True).method == method


def test_averages_that_all_differ_alike_have_an_interval() -> None:
    """All wrong before and all right after has no variance, yet is no reason to have no answer."""
    found = paired_interval(np.ones(200), averaged_binary=True)
    assert found.method == "tango_sums"
    assert found.lower is not None
    assert found.lower > 0.9


def test_graded_scores_take_t_and_none_without_variance() -> None:
    differences = np.random.default_rng(8).normal(0.0, 0.3, 400)
    found, plain = paired_interval(differences), paired_t(differences)
    assert (found.method, found.df, found.estimate) == ("paired_t", 399.0, plain.estimate)
    assert (found.lower, found.upper) == (pytest.approx(plain.lower, abs=3e-4), pytest.approx(plain.upper, abs=3e-4))
    flat = paired_interval(np.zeros(200))
    assert flat.lower is None
    assert flat.reason == "all differences are equal, so their variance is zero"


def test_clusters_take_cr2_from_ten_clusters_on() -> None:
    rng = np.random.default_rng(4)
    differences = rng.normal(size=60) / 4
    nine, ten = np.arange(60) % 9, np.arange(60) % 10
    refused = paired_interval(differences, clusters=nine)
    assert (refused.lower, refused.clusters, refused.reason) == (None, 9, "9 clusters, fewer than 10")
    found = paired_interval(differences, averaged_binary=True, clusters=ten)
    plain = clustered(differences, ten)
    assert (found.method, found.clusters, found.df) == ("bounded_cr2", 10, pytest.approx(9))
    assert (plain.method, plain.estimate, plain.df) == ("cr2", found.estimate, found.df)
    assert None not in (found.lower, found.upper, plain.lower, plain.upper)
    assert found.lower <= plain.lower  # type: ignore[operator]
    assert found.upper >= plain.upper  # type: ignore[operator]


def test_clusters_of_one_question_are_no_clusters() -> None:
    assert paired_interval(SLEEP, clusters=np.arange(10)) == paired_interval(SLEEP)


def test_one_dominant_cluster_leaves_too_few_degrees_of_freedom() -> None:
    clusters = np.r_[np.zeros(200, dtype=int), np.arange(1, 12)]
    found = paired_interval(np.random.default_rng(0).normal(size=211), clusters=clusters)
    assert found.lower is None
    assert found.reason is not None
    assert "effective degrees of freedom" in found.reason


def test_clusters_that_do_not_differ_are_undefined() -> None:
    found = paired_interval(np.zeros(40), averaged_binary=True, clusters=np.arange(40) % 10)
    assert found.lower is None
    assert found.reason == "the clusters do not differ, so their variance is zero"


@given(st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=150), st.booleans())
def test_intervals_enclose_the_estimate_and_mirror(values: list[float], binary: bool) -> None:
    found = paired_interval(values, averaged_binary=binary)
    mirrored = paired_interval([-value for value in values], averaged_binary=binary)
    if found.lower is None or found.upper is None:
        assert found.reason
        assert mirrored.lower is None
    else:
        assert found.estimate is not None
        assert mirrored.upper is not None
        assert found.lower <= found.estimate <= found.upper
        assert mirrored.upper == pytest.approx(-found.lower, abs=1e-9)


def test_a_reach_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="largest size"):
        paired_interval([0.1, 0.2], reach=0.0)


@pytest.mark.parametrize("kind", [{"binary_single": True}, {"averaged_binary": True}])
def test_binary_differences_beyond_one_are_refused(kind: dict[str, bool]) -> None:
    with pytest.raises(ValueError, match="beyond 1"):
        paired_interval([1.5, 1.0], **kind)


@given(
    st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=2, max_size=80),
    st.floats(0.5, 0.999),
    st.integers(1, 30),
)
def test_no_interval_is_shorter_than_t_or_cr2_alone(values: list[float], level: float, groups: int) -> None:
    clusters = np.arange(len(values)) % groups
    for found, plain in (
        (paired_interval(values, confidence=level), paired_t(values, level)),
        (paired_interval(values, clusters=clusters, confidence=level), clustered(values, clusters, level)),
    ):
        if found.lower is not None and found.upper is not None and found.method.endswith(plain.method[-2:]):
            assert plain.lower is not None
            assert plain.upper is not None
            assert found.lower <= plain.lower + 1e-9
            assert found.upper >= plain.upper - 1e-9


@given(st.integers(20, 200), st.floats(0.0, 0.2), st.floats(0.02, 0.2))
def test_a_longer_reach_is_no_shorter_interval(n: int, share: float, spread: float) -> None:
    values = np.random.default_rng(n).normal(0.0, spread, n).clip(-1, 1)
    values[: int(share * n)] = -0.7
    near, far = paired_interval(values), paired_interval(values, reach=2.0)
    assert near.lower is not None
    assert far.lower is not None
    assert far.lower <= near.lower + 1e-6
