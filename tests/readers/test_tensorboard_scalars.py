"""Scalars of events of every kind, one by one and thousands at a time."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError
from rlchecks.readers import tensorboard_scalars
from rlchecks.readers.tensorboard_scalars import EventFile, read_scalars
from tests.readers.tensorboard_files import DATA, VERSION, event, field, frame, log, scalar, steps, text, value, write

Scalar = tuple[int, str, float]


def listed(file: EventFile) -> list[Scalar]:
    return [
        (step, file.names[key], number)
        for step, key, number in zip(file.steps.tolist(), file.keys.tolist(), file.values.tolist(), strict=True)
    ]


def read(tmp_path: Path, *records: bytes) -> list[Scalar]:
    return listed(read_scalars(write(tmp_path, VERSION + b"".join(records))))


def tensor(data_type: int, *contents: bytes, shape: bytes = b"", plugin: bytes = b"") -> bytes:
    """A record with a tensor at step 3."""
    content = field(1, data_type) + field(2, shape) + b"".join(contents)
    metadata = field(9, field(1, field(1, plugin))) if plugin else b""
    return frame(event(field(5, field(1, field(1, b"t") + metadata + field(8, content))), step=3))


def metrics(step: int) -> dict[str, float]:
    """What the script that made the data logged."""
    return {
        "train/loss": -0.0179 / step,
        "train/grad_norm": 0.5 / step,
        "train/learning_rate": 0.0001,
        "train/num_tokens": 150.0 * step,
        "train/completions/mean_length": 14 + step / 32,
        "train/completions/clipped_ratio": 0.1,
        "train/rewards/accuracy_reward/mean": 0.25 + step / 64,
        "train/reward": 0.25 + step / 64,
        "train/reward_std": 1 / (3 + step),
        "train/frac_reward_zero_std": 0.0,
        "train/kl": 0.001 * step if step % 5 else math.nan,
        "train/epoch": step / 300,
    }


@pytest.mark.parametrize("kind", ["simple", "new_style", "double", "tensorboardx"])
def test_what_real_writers_wrote_is_read(kind: str) -> None:
    file = read_scalars(next((DATA / kind).iterdir()))
    written = [(step, name, number) for step in range(1, 13) for name, number in metrics(step).items()]
    found = listed(file)
    assert [one[:2] for one in found] == [one[:2] for one in written]
    numbers, wanted = (np.array([one[2] for one in some]) for some in (found, written))
    if kind == "double":
        np.testing.assert_array_equal(numbers, wanted)
    else:
        np.testing.assert_array_equal(numbers.astype(np.float32), wanted.astype(np.float32))
        assert {number for _, name, number in found if name == "train/learning_rate"} == {0.0001}
        assert {number for _, name, number in found if name == "train/completions/clipped_ratio"} == {0.1}
    assert file.warnings == ()
    assert file.begun > 1.7e9


def test_all_numeric_types_of_tensors_are_read() -> None:
    found = listed(read_scalars(next((DATA / "kinds").iterdir())))
    for step in range(1, 13):
        number = 0.25 + step / 64
        assert [one[1:] for one in found if one[0] == step] == [
            ("train/reward", number),
            ("train/loss", 0.1),
            ("content", number),
            ("train/kl", round(0.001 * step, 3)),
            ("half", 0.0999755859375),
            ("bfloat16", 0.099609375),
            ("bfloat16_content", 0.099609375),
            ("int32", -step),
            ("int64", step << 40),
            ("uint64", 2.0**63),
        ]


def test_texts_that_are_wanted_are_kept() -> None:
    path = next((DATA / "simple").iterdir())
    assert read_scalars(path).texts == {}
    texts = read_scalars(path, frozenset({"args/text_summary"})).texts
    assert texts.keys() == {"args/text_summary"}
    assert '"max_steps": 12' in texts["args/text_summary"]


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.parametrize("step", [0, 1, 127, 128, 16384, 10**12, 2**63 - 1, -1, -(2**63)])
def test_steps_of_every_size_are_read(step: int, count: int, tmp_path: Path) -> None:
    assert read(tmp_path, *[scalar("a", 0.5, step)] * count) == [(step, "a", 0.5)] * count


@pytest.mark.parametrize("count", [1, 50])
def test_what_is_not_said_is_zero(count: int, tmp_path: Path) -> None:
    record = frame(event(field(5, value("a", 0.5)), wall_time=None))
    file = read_scalars(write(tmp_path, record * count))
    assert listed(file) == [(0, "a", 0.5)] * count
    assert file.begun == 0.0


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.parametrize(
    "record",
    [
        tensor(7, field(8, b"0.5")),
        tensor(1, field(5, struct.pack("<2f", 1, 2))),
        tensor(1, field(5, struct.pack("<f", 1)), shape=field(2, field(1, 2))),
        tensor(1, field(5, struct.pack("<f", 1)), shape=field(2, field(1, 0))),
        tensor(1, field(5, struct.pack("<f", 1)), field(5, struct.pack("<f", 1))),
        tensor(1, field(5, b"")),
        tensor(1),
        tensor(2, field(4, b"1234")),
        tensor(8, field(9, struct.pack("<2f", 1, 2))),
        tensor(10, field(11, b"\1")),
        tensor(19, field(13, b"\1\1")),
        tensor(1, field(5, struct.pack("<f", 1)), plugin=b"histograms"),
        frame(event(field(5, field(1, field(1, b"picture") + field(4, b"png"))), step=1)),
        frame(event(field(5, field(1, field(1, b"t"))), step=1)),
        frame(event(field(4, b"graph"), step=1)),
        frame(event(step=1)),
        text("note", "0.5"),
    ],
)
def test_what_is_no_scalar_is_left_out(record: bytes, count: int, tmp_path: Path) -> None:
    assert read(tmp_path, record * count, scalar("a", 0.5, 1)) == [(1, "a", 0.5)]


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.parametrize(
    ("record", "number"),
    [
        (tensor(1, field(5, struct.pack("<f", 0.1)), plugin=b"scalars"), 0.1),
        (tensor(1, field(5, struct.pack("<f", 0.1)), shape=field(2, field(1, 1))), 0.1),
        (tensor(1, b"\x2d" + struct.pack("<f", 0.1)), 0.1),
        (tensor(1, field(4, struct.pack("<f", 0.1))), 0.1),
        (tensor(2, b"\x31" + struct.pack("<d", 0.1)), 0.1),
        (tensor(4, field(7, 200)), 200.0),
        (tensor(6, field(4, b"\xff")), -1.0),
        (tensor(3, field(7, -5)), -5.0),
        (tensor(17, field(4, b"\xff\xff")), 65535.0),
        (tensor(19, field(4, struct.pack("<e", 0.5))), 0.5),
        (tensor(22, field(16, 2**32 - 1)), 2.0**32 - 1),
    ],
)
def test_one_number_in_a_tensor_is_a_scalar(record: bytes, number: float, count: int, tmp_path: Path) -> None:
    assert read(tmp_path, record * count) == [(3, "t", number)] * count


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.parametrize(
    "record",
    [
        tensor(1, field(4, b"\1\0\x80\x7f")),
        tensor(2, field(4, b"\1\0\0\0\0\0\xf0\x7f")),
        tensor(14, field(4, b"\x81\x7f")),
        tensor(19, field(4, b"\1\x7c")),
    ],
)
def test_any_kind_of_nan_is_nan(record: bytes, count: int, tmp_path: Path) -> None:
    assert [math.isnan(number) for _, _, number in read(tmp_path, record * count)] == [True] * count


@pytest.mark.parametrize("count", [1, 50])
def test_of_two_values_in_one_place_the_last_counts(count: int, tmp_path: Path) -> None:
    twice = value("a", 1.0)[2:] + b"\x15" + struct.pack("<f", 2.0)
    record = frame(event(field(2, 1), field(5, field(1, twice)), step=7))
    assert read(tmp_path, record * count) == [(1, "a", 2.0)] * count


@pytest.mark.parametrize("count", [1, 50])
def test_a_scalar_beside_a_picture_is_read(count: int, tmp_path: Path) -> None:
    picture = field(1, field(1, b"picture") + field(4, b"png"))
    record = frame(event(field(5, picture + value("a", 0.5) + value("b", 0.25)), step=1))
    assert read(tmp_path, record * count) == [(1, "a", 0.5), (1, "b", 0.25)] * count


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.parametrize("data", [b"\x0f", b"\x2a\x05\x0a", b"\xff" * 11, event(field(5, value("n" * 5000, 1.0)))])
def test_records_that_are_no_events_are_left_out_and_told(data: bytes, count: int, tmp_path: Path) -> None:
    file = read_scalars(write(tmp_path, VERSION + frame(data) * count + scalar("a", 0.5, 1)))
    assert listed(file) == [(1, "a", 0.5)]
    assert file.warnings == (f"{count} record{'s' * (count > 1)} left out since they are no events",)


def test_names_need_not_be_text(tmp_path: Path) -> None:
    names = ["", "é", "a\nb"]
    found = read(tmp_path, *(scalar(name, 0.5, 1) for name in names), scalar(b"\xff", 0.5, 1))
    assert [one[1] for one in found] == [*names, "\\xff"]


def test_names_stand_in_the_order_in_which_they_came_up(tmp_path: Path) -> None:
    names = [f"{'long' * (place % 3)}{place}" for place in range(40)]
    records = [scalar(name, place / 64, step) for step in range(30) for place, name in enumerate(names)]
    assert read_scalars(write(tmp_path, b"".join(records))).names == tuple(names)


@st.composite
def logs(draw: st.DrawFn) -> list[Scalar]:
    names = draw(st.lists(st.text(max_size=12), min_size=1, max_size=12, unique=True))
    count = draw(st.integers(0, 60))
    numbers = st.floats(width=32)
    return [(draw(st.integers(-3, 300)), draw(st.sampled_from(names)), draw(numbers)) for _ in range(count)] * draw(
        st.integers(1, 4)
    )


@given(logs())
@settings(max_examples=60, deadline=None)
def test_what_was_logged_is_read(tmp_path_factory: pytest.TempPathFactory, written: list[Scalar]) -> None:
    records = [scalar(name, number, step, float(place)) for place, (step, name, number) in enumerate(written)]
    found = read(tmp_path_factory.mktemp("log"), *records)
    assert [one[:2] for one in found] == [one[:2] for one in written]
    wanted = np.array([one[2] for one in written], dtype=np.float32)
    np.testing.assert_array_equal(np.array([one[2] for one in found], dtype=np.float32), wanted)


def test_a_thousand_series_with_names_of_one_length_are_kept_apart(tmp_path: Path) -> None:
    written = [(step, f"layer.{layer:04d}", layer / 1024) for step in range(3) for layer in range(1000)]
    assert read(tmp_path, *(scalar(name, number, step) for step, name, number in written)) == written


@pytest.mark.parametrize(("what", "most"), [("_MOST_LAYOUTS", 1), ("_MOST_REMEMBERED", 3), ("_FEW", 10**6)])
def test_bounds_change_nothing_in_what_is_read(
    what: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = [(step, name, step / 512) for step in range(300) for name in ("aa", "bb", "c", "ddd")]
    data = [scalar(name, number, step) for step, name, number in written]
    assert read(tmp_path, *data) == written
    monkeypatch.setattr(tensorboard_scalars, what, most)
    assert read(tmp_path, *data) == written


def test_too_many_series_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorboard_scalars, "MAX_KEYS", 20)
    assert len(read(tmp_path, *(scalar(f"{name}", 0.5, 1) for name in range(20)))) == 20
    with pytest.raises(InputError, match="more than 20 series"):
        read(tmp_path, *(scalar(f"{name}", 0.5, 1) for name in range(21)))


def test_reading_may_end_after_the_first_step(tmp_path: Path) -> None:
    data = log(steps(1, 40_000))
    whole, begun = (read_scalars(write(tmp_path, data), beginning=beginning) for beginning in (False, True))
    assert 2 < len(begun.steps) < len(whole.steps) == 80_000
    assert listed(begun) == listed(whole)[: len(begun.steps)]


@pytest.mark.parametrize("data", [b"a,b\n1,2\n", bytes(5000), VERSION[:20], b"\x1f\x8b" + bytes(100)])
def test_a_file_without_any_record_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no event file"):
        read_scalars(write(tmp_path, data))


def test_every_flipped_bit_is_told_and_no_number_changes(tmp_path: Path) -> None:
    records = [VERSION, scalar("loss", 0.3, 1), scalar("train/reward", 0.3, 128)]
    whole = listed(read_scalars(write(tmp_path, b"".join(records))))
    assert len(whole) == 2
    for number, record in enumerate(records):
        kept = whole if record == VERSION else whole[: number - 1] + whole[number:]
        for place in range(len(record)):
            for bit in range(8):
                flipped = bytearray(record)
                flipped[place] ^= 1 << bit
                damaged = b"".join([*records[:number], flipped, *records[number + 1 :]])
                file = read_scalars(write(tmp_path, damaged))
                assert listed(file) == kept
                assert file.warnings
