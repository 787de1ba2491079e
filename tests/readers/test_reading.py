from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rlchecks.errors import InputError, NotARunError, UsageError
from rlchecks.readers import find_runs, read_run

Write = Callable[[str, str | bytes], Path]
CSV = "step,reward\n1,0.5\n"


def test_a_directory_with_one_log_is_that_run(write: Write, tmp_path: Path) -> None:
    write("run/metrics.csv", CSV)
    write("run/eval/base.jsonl", '{"question_id": 1, "checkpoint": "b", "judge": "j", "score": 1}\n')
    assert read_run(tmp_path / "run").source == str(tmp_path / "run" / "metrics.csv")


def test_a_directory_with_several_runs_names_them(write: Write, tmp_path: Path) -> None:
    write("run/a.csv", CSV)
    write("run/b.csv", CSV + "2,0.6\n3,0.9\n".replace("0.6", "0.7"))
    write("run/c.csv", CSV.replace("0.5", "0.4"))
    with pytest.raises(NotARunError, match=r"2 runs \('b\.csv', 'c\.csv'\), expected one; name one of them"):
        read_run(tmp_path / "run")


def test_a_directory_without_runs_says_what_was_looked_for(write: Write, tmp_path: Path) -> None:
    sentence = r"no training log in it; looked for the formats .*trl.* more that docs/formats"
    with pytest.raises(NotARunError, match=sentence):
        read_run(tmp_path)
    write("sft.jsonl", '{"step": 1, "loss": 1}\n')
    with pytest.raises(NotARunError, match=r"no run in it; .*sft\.jsonl: no training log that is known"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.bin", b"\x00\x01\x02\xff\xfe" * 50, r"found binary data that begins with"),
        ("a.safetensors", bytes(range(128, 256)) * 20, r"found binary data that begins with"),
        ("a.md", b"\n\n# Title\x1b[31m\n", r"found text that begins with '# Title\\x1b\[31m'"),
        ("a.csv", b"", "found an empty file"),
        ("a.txt", b"\n\n", "found blank lines"),
        ("a.csv", b"x,y\n1,2\n", "found rows with 'x', 'y'"),
        ("a.log", b"GRPOTrainer started\n", "found console output of a training run without a logged step"),
    ],
)
def test_an_unknown_file_is_described(name: str, content: bytes, found: str, write: Write) -> None:
    with pytest.raises(NotARunError, match=found) as caught:
        read_run(write(name, content))
    assert "looked for " in str(caught.value)


@pytest.mark.parametrize("path", ["absent", "nul\0l", "a/b/c.csv"])
def test_what_is_not_there_is_an_input_error(path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or directory"):
        read_run(tmp_path / path)


@pytest.mark.parametrize("read", [read_run, find_runs])
def test_a_name_that_no_file_system_takes_is_an_input_error(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / ("x" * 300))


@pytest.mark.parametrize(("name", "encoding"), [("a.csv", "utf-16"), ("a.csv", "utf-16-le"), ("a.log", "utf-16")])
def test_a_log_in_another_encoding_says_what_to_do(name: str, encoding: str, write: Write) -> None:
    with pytest.raises(InputError, match=r"the text is UTF-16, expected UTF-8; save it as UTF-8"):
        read_run(write(name, CSV.encode(encoding)))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "trainer_state.json", "a.parquet"])
def test_a_compressed_log_says_what_to_do(name: str, write: Write) -> None:
    with pytest.raises(InputError, match=r"the file is compressed with gzip; decompress it first"):
        read_run(write(name, gzip.compress(CSV.encode())))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InputError, match="no regular file"):
        read_run(tmp_path / "a.csv")


def test_the_run_id_can_be_given_and_is_checked(write: Write) -> None:
    path = write("a.csv", CSV)
    run = read_run(str(path), run_id="Exp 7")
    assert run.run_id == "Exp 7"
    assert run.steps["run_id"].to_pylist() == ["Exp 7"]
    with pytest.raises(UsageError):
        read_run(path, run_id=" ")


def test_names_that_are_no_utf8_and_names_that_a_terminal_obeys_are_written_out(tmp_path: Path) -> None:
    for name in (b"\xff\x1b[31m.csv", b"a\nb.csv"):
        path = Path(os.fsdecode(bytes(tmp_path) + b"/" + name))
        path.write_text(CSV)
        read_run(path).source.encode()
        path.write_text("x\n1\n")
        with pytest.raises(NotARunError) as caught:
            read_run(path)
        assert str(caught.value).isprintable()
        str(caught.value).encode()


def test_readers_load_no_pandas() -> None:
    program = (
        "import sys\nfrom rlchecks.readers.registry import readers\nreaders()\n"
        "print(*{'pandas', 'prefect', 'great_expectations', 'duckdb', 'altair', 'scipy'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
