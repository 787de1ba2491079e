"""Rows that were cut apart: by a terminal's width, by progress bars, by other processes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readers.consoles import bar, found_in, printed, rows_in, rows_of, same, wrap

ROWS = rows_of(4)
TEXT = printed(ROWS)

NUMBERS = st.one_of(
    st.floats(), st.integers(-(10**20), 10**20), st.none(), st.floats().map(lambda value: f"{value:.4g}")
)
KEYS = st.one_of(
    st.sampled_from(
        ("rewards/f/mean", "kl", "clip_ratio/high_mean", "eval_reward", "a'b", 'a"b', "a\\b", "漢字", "a  b")
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cf"], exclude_characters="{}"), max_size=15),
)


@pytest.mark.parametrize("width", [*range(20, 130), 180, 181, 500])
def test_rows_that_a_terminal_broke_are_joined(width: int) -> None:
    assert same(rows_in(wrap(TEXT, width)), ROWS)


@pytest.mark.parametrize("width", [80, 100, 180])
def test_a_copy_without_the_blanks_at_the_ends_of_lines_is_joined(width: int) -> None:
    rows = [{**row, "rewards/the answer is right/mean": 0.5} for row in ROWS]
    assert same(rows_in(wrap(printed(rows), width, strip=True)), rows)


def test_lines_narrower_than_any_terminal_are_given_up_and_counted() -> None:
    found = found_in(wrap(TEXT, 19))
    assert len(found.rows) == 0
    assert found.lost == len(ROWS)
    assert found.first_lost == 1


def test_lines_of_different_widths_are_no_broken_line() -> None:
    text = repr(ROWS[0])
    for cut in (60, 75):
        # The second line is longer than the first: something else put an end to it.
        found = found_in(f"{text[:cut]}\n{text[cut:]}\n{TEXT}")
        assert (len(found.rows), found.lost) == (len(ROWS), 1)
        assert same(list(found.rows), ROWS)


def test_rows_printed_over_several_lines_need_no_width() -> None:
    text = "".join(repr(row).replace(", ", ",\n ") + "\n" for row in ROWS)
    assert same(rows_in(text), ROWS)


def test_a_bar_before_or_behind_a_row_is_not_in_its_way() -> None:
    glued = printed(ROWS, lambda number, line: f"\r{bar(number, 4)}{line}{bar(number, 4)}\r{bar(number + 1, 5)}")
    assert same(rows_in(glued), ROWS)
    assert same(rows_in(wrap(printed(ROWS, lambda number, line: f"{bar(number, 4)} {line}"), 80)), ROWS)


@pytest.mark.parametrize("cut", range(1, 250, 7))
def test_a_bar_in_the_midst_of_a_row_is_taken_out(cut: int) -> None:
    text = repr(ROWS[0])
    cleared = f"{text[:cut]}\r{bar(3, 9, 'Processed prompts: ')}\r{' ' * 60}\r{bar(1, 4)}{text[cut:]}\n"
    assert same(rows_in(cleared), ROWS[:1])
    ended = f"{text[:cut]}\r{bar(4, 4)}\n{text[cut:]}\n"
    assert same(rows_in(ended), ROWS[:1])


def test_rows_mixed_with_each_other_are_given_up_and_counted() -> None:
    one, other = repr(ROWS[0]), repr(ROWS[1])
    for cut in range(9, len(one) - 1):
        mixed = found_in(f"{one[:cut]}{other[:cut]}{one[cut:]}\n{other[cut:]}\n{TEXT}")
        # Nothing of the mixed rows is believed; the next row is in a line of its own.
        assert same(list(mixed.rows), ROWS), cut
        assert mixed.lost >= 1, cut
        apart = found_in(f"{one[:cut]}\n{other[:cut]}\n{one[cut:]}\n{other[cut:]}\n{TEXT}")
        assert same(list(apart.rows), ROWS), cut
        assert apart.lost >= 1, cut


def test_a_row_after_one_that_was_cut_off_is_read() -> None:
    for cut in range(9, 330):
        found = found_in(f"{repr(ROWS[0])[:cut]}\n{TEXT}")
        assert same(list(found.rows), ROWS), cut
        # Of one that was hardly begun nobody knows whether it was a row.
        assert found.lost == 1 or cut < 40, cut
        # In the same line it might end with the rest of the first.
        found = found_in(f"{repr(ROWS[0])[:cut]}{TEXT}")
        assert same(list(found.rows), ROWS[1:]), cut
        assert found.lost >= 1, cut


def test_the_last_row_may_be_cut_off() -> None:
    found = found_in(TEXT + repr(ROWS[0])[:100])
    assert same(list(found.rows), ROWS)
    assert (found.torn, found.lost) == (True, 0)


def test_lines_of_another_process_in_between_are_passed_over() -> None:
    lines = repr(ROWS[0]).replace(", ", ",\n ").split("\n")
    mixed = "".join(f"\x1b[36m(TaskRunner pid=1)\x1b[0m {line}\n(WorkerDict pid=2) {{'loss': 9,\n" for line in lines)
    assert same(rows_in(mixed), ROWS[:1])


def test_prefix_and_colours_are_no_part_of_a_row() -> None:
    prefixed = printed(ROWS, lambda number, line: f"\x1b[36m(RayTrainWorker pid=7, ip=10.0.0.2)\x1b[0m {line}")
    assert same(rows_in(prefixed), ROWS)
    assert same(rows_in(wrap(printed(ROWS, lambda number, line: f"(pid=7) {line}"), 80)), ROWS)
    coloured = TEXT.replace("'loss'", "\x1b[32m'loss'\x1b[0m").replace("0.25", "\x1b[1;36m0.25\x1b[0m")
    assert same(rows_in(coloured), ROWS)


def test_the_remark_of_ray_about_repeated_lines_is_no_part_of_a_row() -> None:
    remark = " [repeated 3x across cluster] (Ray deduplicates logs by default.)"
    lines = repr(ROWS[0]).replace(", ", ",\n ").split("\n")
    assert same(rows_in("".join(f"(TaskRunner pid=1) {line}{remark}\n" for line in lines)), ROWS[:1])


@given(
    st.dictionaries(KEYS, NUMBERS, max_size=12),
    st.integers(1, 400),
    st.booleans(),
    st.sampled_from(("", "(pid=7) ", "INFO: ", bar(3, 9), "0: ")),
)
def test_a_printed_row_comes_back_or_is_counted_as_lost(
    values: dict[str, object], width: int, carriage: bool, before: str
) -> None:
    row = {"loss": 0.5, **values, "epoch": 0.25}
    line = f"{before}{row!r}"
    text = f"\r{bar(2, 9)}\r{wrap(line, width)}\n" if carriage else f"{wrap(line, width)}\n"
    found = found_in(text.replace("\n", "\r\n") if carriage else text)
    expected = {key: _number(value) for key, value in row.items()}
    if len(found.rows):
        assert same(list(found.rows), [expected])
    else:
        assert width < 20


def _number(value: object) -> object:
    return float(value) if isinstance(value, str) else value
