"""Printed dictionaries, read without evaluating them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.console_literal import MAX_TEXT, Literal

SCALARS = st.one_of(
    st.floats(),
    st.integers(-(10**30), 10**30),
    st.none(),
    st.booleans(),
    st.text(max_size=20).filter(
        lambda text: not text.strip().lower().lstrip("+-").startswith(("nan", "inf", *"0123456789."))
    ),
)


def read(text: str) -> tuple[dict[str, object], int | None]:
    literal = Literal()
    end = literal.feed(text)
    return literal.pairs, end


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        ("-1e-07", -1e-07),
        ("1.", 1.0),
        (".5", 0.5),
        ("5", 5),
        ("'0.5'", 0.5),
        ("'1.547e-05'", 1.547e-05),
        ("'0'", 0.0),
        ("None", None),
        ("null", None),
        ("True", True),
        ("false", False),
        ("'10/438'", "10/438"),
        ('"it\'s"', "it's"),
        (r"'a\nb\x41'", "a\nbA"),
        ("np.float64(0.0008)", 0.0008),
        ("np.int64(7)", 7),
        ("numpy.float32(2.5)", 2.5),
        ("tensor(0.5)", 0.5),
        ("tensor(0.5, device='cuda:0', grad_fn=<MeanBackward0>)", 0.5),
        ("torch.tensor(-3.)", -3.0),
        ("[0.5, 1]", "[0.5, 1]"),
    ],
)
def test_values_are_what_was_printed(text: str, value: object) -> None:
    pairs, end = read(f"'k': {text}, 'last': 1}} rest")
    assert end == len(f"'k': {text}, 'last': 1}}")
    assert pairs == {"k": value, "last": 1}
    assert type(pairs["k"]) is type(value)


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "NaN", "Infinity", "-Infinity", "'nan'", "'-inf'", "np.float64(nan)"]
)
def test_non_finite_numbers_are_numbers(text: str) -> None:
    pairs, end = read(f"'k': {text}}}")
    assert end
    value = pairs["k"]
    assert isinstance(value, float)
    assert not math.isfinite(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "}",
        "a: 1}",
        "'a' 1}",
        "'a': b}",
        "'a': {'b': 1}}",
        "'a': [[1]]}",
        "'a': __import__('os')}",
        "'a': 1 'b': 2}",
        "1: 2}",
        "'a': 1, }",
        "'a': 1,, 'b': 2}",
        "'a': 0.5.5}",
        "'a': --1}",
        "'a': " + "9" * 65 + "}",
        "'" + "k" * 5000 + "': 1}",
        r"'a': '\x4'}",
    ],
)
def test_whatever_else_comes_up_ends_the_reading(text: str) -> None:
    assert not read(text)[1]


def test_a_key_given_twice_counts_once() -> None:
    assert read("'a': 1, 'a': 2}")[0] == {"a": 2}


def test_what_grows_without_end_is_given_up() -> None:
    literal = Literal()
    line = "".join(f"'key{number}': 0.5, " for number in range(1000))
    fed = 0
    while literal.feed(line) == 0:
        fed += len(line)
    assert fed <= MAX_TEXT


@given(st.dictionaries(st.text(max_size=12), SCALARS, min_size=1, max_size=8), st.integers(1, 50))
def test_a_printed_dictionary_comes_back_however_it_is_cut(row: dict[str, object], size: int) -> None:
    text = repr(row)[1:]
    literal = Literal()
    ends = [literal.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert all(end == 0 for end in ends[:-1])
    assert ends[-1] == len(text) - (len(ends) - 1) * size
    assert repr(literal.pairs) == repr(row)


@given(st.text(st.sampled_from("{}[]()'\",:. 0123456789enainf\\\n"), max_size=60))
def test_no_text_makes_it_fail(text: str) -> None:
    literal = Literal()
    end = literal.feed(text)
    assert end is None or 0 <= end <= len(text)
