"""Damaged and hostile logs give rows, or one clear error."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.errors import InputError, UsageError
from rlchecks.heldout import ComparisonRequest, compare, read_rows

LINES = {
    "mt_single.jsonl": {"question_id": 1, "model": "m", "judge": ["j", "p"], "score": 5, "turn": 1, "user_prompt": "x"},
    "mt_pair.jsonl": {
        "question_id": 1,
        "model_1": "m",
        "model_2": "n",
        "judge": ["j", "p"],
        "g1_winner": "tie",
        "g2_winner": "tie",
        "turn": 1,
    },
    "samples_x_2026-01-02T03-04-05.jsonl": {
        "doc_id": 1,
        "doc": {},
        "filtered_resps": ["a"],
        "resps": [["a"]],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1,
        "arguments": {"gen_args_0": {"arg_0": "p"}},
        "doc_hash": "h",
        "target": "t",
    },
    "annotations.json": {
        "instruction": "i",
        "output_1": "a",
        "output_2": "b",
        "generator_1": "r",
        "generator_2": "m",
        "annotator": "j",
        "preference": 2,
        "dataset": "d",
    },
    "per_instance_stats.json": {
        "instance_id": "i",
        "train_trial_index": 0,
        "perturbation": {"name": "p"},
        "stats": [{"name": {"name": "em", "split": "test"}, "count": 1, "mean": 1.0}],
    },
    "result.json": {
        "input": "i",
        "output_1": "a",
        "output_2": "b",
        "label": 1,
        "results": [{"swap = False": {"winner": "1"}, "swap = True": {"winner": "1"}}],
    },
    "pandalm.json": {"idx": 1, "gpt_result": "1", "gpt_reason": "r", "response1": "a"},
    "results.jsonl": {"example_id": 1, "task": "t", "prompt": "p", "completion": "c", "reward": 1.0, "answer": "a"},
    "skyrl.jsonl": {"input_prompt": "p", "output_response": "r", "score": [1.0], "data_source": "d"},
    "eval_samples.jsonl": {"id": "a", "prompt": "p", "raw_generation": "g", "correct": True, "truncated": False},
}


def read(path: Path) -> int:
    """Rows that were read; whatever is wrong is one sentence."""
    try:
        rows = read_rows([path])
    except (InputError, UsageError) as error:
        sentence = str(error)
        assert sentence.endswith(".")
        assert "\n" not in sentence
        assert "\x1b" not in sentence
        assert len(sentence) < 1500
        return 0
    rows.table.validate(full=True)
    for said in rows.warnings:
        assert "\n" not in said
        assert "\x1b" not in said
    names = sorted(set(rows.table["checkpoint"].to_pylist()))
    with suppress(InputError, UsageError):
        compare(rows, ComparisonRequest(baseline=names[0], candidate=names[-1], graders_known=True))
    return len(rows.table)


@pytest.mark.parametrize("name", ["inspect_ai/parts/log.eval", "inspect_ai/json/log.json"])
def test_real_logs_cut_anywhere_never_give_rows(logs: Path, tmp_path: Path, name: str) -> None:
    data = (logs / name).read_bytes()
    path = tmp_path / Path(name).name
    for length in [*range(0, len(data), 97), *range(len(data) - 25, len(data))]:
        path.write_bytes(data[:length].rstrip())
        assert read(path) == 0


def test_an_archive_with_a_flipped_bit_gives_the_same_rows_or_none(logs: Path, tmp_path: Path) -> None:
    data = (logs / "inspect_ai/parts/log.eval").read_bytes()
    path = tmp_path / "log.eval"
    path.write_bytes(data)
    columns = ["question_id", "checkpoint", "judge", "score", "epoch", "answer", "prompt"]
    whole = read_rows([path]).table.select(columns).to_pylist()
    chance = random.Random(1)
    for _ in range(400):
        changed = bytearray(data)
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        try:
            rows = read_rows([path])
        except InputError:
            continue
        # A member whose name was hit in the directory is no sample any more; its answers are missing, not changed.
        given = [row for row in rows.table.select(columns).to_pylist() if row["answer"] is not None]
        assert all(row in whole for row in given)


@pytest.mark.parametrize("name", LINES)
def test_every_key_may_be_missing_or_anything(write: Callable[..., Path], name: str) -> None:
    whole = LINES[name]
    assert read(write(name, [whole, whole])) > 0
    hostile: list[Any] = [
        None,
        True,
        -1,
        10**400,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "\x1b[31m\n\x00",
        "../../etc/passwd",
        "\ud800",
        "x" * 100_000,
        [],
        {},
        [[[[]]]],
        [None],
        {"a": None},
        "=cmd|' /C calc'!A0",
    ]
    for key in whole:
        read(write(name, [whole, {one: value for one, value in whole.items() if one != key}]))
        for value in hostile:
            read(write(name, [whole, whole | {key: value}]))
            read(write(name, [whole | {key: value}]))


@pytest.mark.parametrize("name", LINES)
def test_deep_nesting_is_one_error(write: Callable[..., Path], name: str) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    text = json.dumps(LINES[name])[:-1] + f', "deep": {deep}}}'
    assert read(write(name, f"[{text}]" if name.endswith(".json") else text)) == 0
    assert read(write(name, deep)) == 0


@pytest.mark.parametrize("name", LINES)
def test_other_encodings_and_torn_text_are_one_error(write: Callable[..., Path], name: str) -> None:
    rows = [LINES[name]] * 2
    text = json.dumps(rows) if name.endswith(".json") else "".join(json.dumps(row) + "\n" for row in rows)
    assert read(write(name, text.encode("utf-16"))) == 0
    assert read(write(name, text.encode()[:-3])) == 0
    assert read(write(name, text.encode().replace(b'"', b'"\xff', 3))) == 0
    assert read(write(name, b"\xef\xbb\xbf" + text.encode())) > 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(LINES)), data=st.data())
def test_any_json_of_the_right_keys_is_survived(tmp_path: Path, name: str, data: Any) -> None:
    leaf = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    anything = st.recursive(
        leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    )
    rows = [{key: data.draw(anything) for key in LINES[name]} for _ in range(2)]
    path = tmp_path / name
    text = json.dumps(rows) if name.endswith(".json") else "".join(json.dumps(row) + "\n" for row in rows)
    path.write_text(text)
    read(path)
