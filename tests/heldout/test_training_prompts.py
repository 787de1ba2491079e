from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rlchecks.errors import InputError
from rlchecks.heldout.prompts import asked
from rlchecks.heldout.training_prompts import read_training_prompts

CHAT = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "why?"}]


def test_every_format_is_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"prompt": [CHAT, None], "answer": ["a", "b"]}), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"Question": "two", "x": 1}\n\n{"problem": "three"}\n')
    (tmp_path / "c.json").write_text('[{"instruction": "four"}, "five", [{"role": "user", "content": "six"}]]')
    (tmp_path / "d.csv").write_text('id,question\n1,"sev\nen"\n2,\n')
    (tmp_path / "e.txt").write_text("eight\n\nnine\n")
    (tmp_path / "ignored.md").write_text("no")
    found = read_training_prompts([tmp_path])
    assert {asked(prompt) for prompt in found.prompts} == {
        "why?", "two", "three", "four", "five", "six", "sev\nen", "eight", "nine",
    }  # fmt: skip
    assert [Path(file.path).name for file in found.inputs] == ["a.parquet", "b.jsonl", "c.json", "d.csv", "e.txt"]
    assert read_training_prompts([]) == (frozenset(), ())


def test_of_several_columns_with_prompts_all_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"prompt": "with a template: one", "question": "one"}\n')
    assert read_training_prompts([tmp_path / "a.jsonl"]).prompts == {"with a template: one", "one"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "id,text\n1,x\n", "no column holds prompts .found: 'id', 'text'.; name one of the columns prompt"),
        ("a.jsonl", '{"prompt": "x"}\n{"q": 1}\n', "line 2: no column holds prompts"),
        ("a.jsonl", '{"prompt": "x"\n', "line 1: this is no complete JSON"),
        ("a.json", "[1]", r"\[0\]: expected an object, a text or messages"),
        ("a.txt", " \n", "there is no prompt"),
        ("a.csv", 'prompt\n"x\n', "the CSV is not readable"),
        ("a.parquet", "PAR1 damaged", "the Parquet file is not readable"),
        ("a.txt", "\x1f\x8b", "no prompt|not UTF-8|gzip"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=said):
        read_training_prompts([tmp_path / name])


def test_a_missing_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file or directory"):
        read_training_prompts([tmp_path / "none"])
    with pytest.raises(InputError, match="has no file that ends in"):
        read_training_prompts([tmp_path])
