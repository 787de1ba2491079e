"""Damaged and hostile console output: rows with a warning, or one clear error."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers.console import ConsoleReader
from rlchecks.readers.notebook import NotebookReader
from rlchecks.readers.registry import Reader, ReadOptions
from rlchecks.readers.rows import Row
from tests.readers.consoles import bar, found_in, printed, rows_of, wrap

Write = Callable[[str, str | bytes], Path]

DATA = Path(__file__).parent / "data" / "console"
ROWS = rows_of(3)
VERL = "step:{0} - actor/pg_loss:np.float64(-0.{0}25) - critic/score/mean:0.{0}5 - response_length/mean:1{0}2.25\n"
MIXED = (
    f"\r{bar(1, 3)}"
    + printed(ROWS[:1])
    + wrap(printed(ROWS[1:]), 90)
    + "".join(VERL.format(step) for step in range(1, 4))
)
EXPECTED = [
    *ROWS,
    *({"actor/pg_loss": -float(f"0.{step}25"), "critic/score/mean": float(f"0.{step}5")} for step in (1, 2, 3)),
]


def believed(rows: list[Row]) -> None:
    """Each row that came out must be one that was printed, as far as it goes."""
    for row in rows:
        originals = [one for one in EXPECTED if all(one.get(key, value) == value for key, value in row.items())]
        assert originals, row


def test_what_is_cut_off_anywhere_promises_no_more_than_it_holds() -> None:
    data = MIXED.encode()
    whole = found_in(data)
    assert (len(whole.rows), whole.lost, whole.cut) == (6, 0, 0)
    last = 0
    for stop in range(0, len(data) + 1):
        found = found_in(data[:stop]) if stop else found_in(b"\n")
        believed(list(found.rows))
        assert len(found.rows) >= last
        last = len(found.rows)


def test_what_begins_anywhere_holds_no_wrong_number() -> None:
    data = MIXED.encode()
    for start in range(0, len(data), 3):
        believed(list(found_in(data[start:]).rows))


def test_flipped_bits_give_no_traceback_and_are_noticed_where_they_can_be() -> None:
    data = bytearray(MIXED.encode())
    for place in range(0, len(data), 2):
        for bit in (0, 4, 7):
            data[place] ^= 1 << bit
            found = found_in(bytes(data))
            assert len(found.rows) + found.lost <= 8
            data[place] ^= 1 << bit


def test_a_lost_piece_in_the_midst_gives_up_its_rows_alone() -> None:
    text = printed(rows_of(9))
    generator = random.Random(7)
    for _ in range(300):
        start = generator.randrange(len(text))
        stop = start + generator.randrange(1, 500)
        kept = [dict(row) for row in found_in(text[:start] + text[stop:]).rows]
        # What is left of two rows may look like one; then it has the beginning of one and the end of the other.
        unknown = [row for row in kept if row not in rows_of(9)]
        assert len(unknown) <= 1


@pytest.mark.parametrize(
    "text",
    [
        b"{'loss': " * 100_000,
        b"{'loss': 1, 'epoch': 1, 'x': '" + b"{'" * 300_000,
        b"{'" + b"a" * 3_000_000,
        b"{'loss': 0.1, " * 100_000,
        b"{'loss': 0.1, 'epoch': " + b"9" * 1_000_000 + b"}\n",
        b"{'loss': 1e999999, 'epoch': 1}\n",
        b"{'loss': [" + b"1, " * 1_000_000,
        b"step:1 - " + b"a/b:1 - " * 300_000,
        b"step:1 - a/b:1\n" * 100_000,
        b"Step 1 | " + b"a:1 " * 500_000 + b"\n",
        b"Initial validation metrics: {'" * 100_000,
        b"(\"Initial validation metrics: {'a/b': \"\n" + b' "1, "\n' * 100_000,
        b"\r" * 5_000_000,
        b"\n" * 5_000_000,
        b"\x1b[" * 1_000_000,
        b"\x1b]" + b"x" * 3_000_000,
        b"\0" * 5_000_000,
        b"{\n" * 1_000_000,
        b"{\r" * 500_000,
        b"===== Step 1/2 =====\nTraining Results:\n" + "  • Loss: 0.5\n".encode() * 100_000,
        b"0%|" * 1_000_000,
        b"{'epoch': 1, 'loss': 1, 'a': '" + b"\\" * 100_000 + b"'}\n",
    ],
)
@pytest.mark.slow
def test_hostile_text_of_megabytes_is_read_through(text: bytes) -> None:
    found = found_in(text)
    assert len(found.rows) <= 100_000


NOISE = st.lists(
    st.sampled_from(
        [
            "{'",
            '{"',
            "'",
            '"',
            "{",
            "}",
            "[",
            "]",
            "},",
            ": ",
            ", ",
            "loss",
            "'epoch': ",
            "1",
            "\\",
            "step:1 - ",
            "\n",
            "x" * 30,
        ]
    ),
    max_size=12,
).map("".join)


@given(st.lists(NOISE, min_size=4, max_size=4))
def test_no_noise_between_rows_hides_one(noise: list[str]) -> None:
    text = noise[0] + "".join(f"\n{row!r}\n{after}" for row, after in zip(ROWS, noise[1:], strict=True))
    found = found_in(text)
    rows = [dict(row) for row in found.rows]
    assert sum(row in rows for row in ROWS) + found.lost + found.torn >= len(ROWS)


@given(st.binary(max_size=300), st.integers(0, 400))
@example(b"Total optimization steps = ,", 0)
def test_no_bytes_make_it_fail(noise: bytes, place: int) -> None:
    data = MIXED.encode()
    found = found_in(data[:place] + noise + data[place:])
    assert len(found.rows) <= 8


@given(
    st.lists(
        st.sampled_from(
            ["{'loss': 0.1, ", "'epoch': 1}", "\r", "\n", "'", "{", "}", bar(1, 9), "step:1 - a/b:1", "\x1b[0m", "0: "]
        ),
        max_size=12,
    )
)
def test_no_mixture_makes_it_fail(parts: list[str]) -> None:
    for row in found_in("".join(parts)).rows:
        assert dict(row) in ({"loss": 0.1, "epoch": 1}, {"a/b": 1})


def error_of(reader: Reader, path: Path, part: str | None = None) -> str | None:
    """Read a file; the sentence of the error, if it is refused."""
    try:
        reader.read(path, ReadOptions(part=part))
    except InputError as error:
        return str(error)
    return None


def test_the_reader_raises_nothing_but_its_errors(write: Write) -> None:
    data = (DATA / "terminal.log").read_bytes()
    for stop in range(1, len(data), 997):
        path = write("a.log", data[:stop])
        for part in ("1", "2", None):
            error = error_of(ConsoleReader(), path, part)
            assert error is None or error.startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["callback.ipynb", "unsloth.ipynb"])
def test_the_reader_of_notebooks_raises_nothing_but_its_errors(name: str, write: Write) -> None:
    data = bytearray((DATA / name).read_bytes())
    errors = set()
    for place in range(0, len(data), 37):
        data[place] ^= 4
        error = error_of(NotebookReader(), write("a.ipynb", bytes(data)))
        assert error is None or "a.ipynb" in error
        errors.add(error)
        data[place] ^= 4
    assert len(errors) > 3
    assert None in errors
