from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.checkpoint import candidate_checkpoint, checkpoint_identity
from rlchecks.errors import InputError

FILES = {"config.json": b"{}", "model.safetensors": b"weights", "optimizer/state.bin": b"", "a\nb\udcff": b"x"}


def make(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def test_the_hash_is_the_published_formula(tmp_path: Path) -> None:
    identity = checkpoint_identity(make(tmp_path / "c", FILES))
    expected = hashlib.sha256()
    for name in sorted(FILES, key=os.fsencode):
        content = FILES[name]
        digest = hashlib.sha256(content).hexdigest().encode()
        expected.update(os.fsencode(name) + b"\0" + str(len(content)).encode() + b"\0" + digest + b"\0")
    assert identity.sha256 == expected.hexdigest()
    assert identity.files == 4
    assert identity.bytes == sum(len(content) for content in FILES.values())
    assert identity.uri == (tmp_path / "c").as_uri()


def test_neither_place_nor_dates_nor_order_nor_empty_directories_count(tmp_path: Path) -> None:
    one = make(tmp_path / "one", FILES)
    other = make(tmp_path / "deep" / "other", dict(reversed(FILES.items())))
    (other / "empty").mkdir()
    os.utime(other / "config.json", (0, 0))
    assert checkpoint_identity(one).sha256 == checkpoint_identity(other).sha256
    assert (
        checkpoint_identity(one).sha256
        == checkpoint_identity(str(one)).sha256
        == checkpoint_identity(one.as_uri()).sha256
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.dictionaries(
            st.text("ab/", min_size=1, max_size=4).filter(lambda name: all(name.split("/"))),
            st.binary(max_size=2),
            min_size=1,
            max_size=3,
        ),
        min_size=2,
        max_size=2,
    )
)
def test_hashes_are_equal_exactly_if_names_and_contents_are(
    tmp_path_factory: pytest.TempPathFactory, trees: list[dict[str, bytes]]
) -> None:
    hashes = []
    for tree in trees:
        for name in tree:
            if any(other.startswith(f"{name}/") for other in tree):
                return
        hashes.append(checkpoint_identity(make(tmp_path_factory.mktemp("c"), tree)).sha256)
    assert (hashes[0] == hashes[1]) == (trees[0] == trees[1])


def test_one_file_is_a_checkpoint_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, {"a.gguf": b"weights", "b.gguf": b"weights", "c/a.gguf": b"weights"})
    one = checkpoint_identity(tmp_path / "a.gguf")
    assert (one.files, one.bytes) == (1, 7)
    assert one.sha256 == checkpoint_identity(tmp_path / "b.gguf").sha256
    assert one.sha256 != checkpoint_identity(tmp_path / "c").sha256


@pytest.mark.parametrize("target", ["model.safetensors", "../outside", "nowhere", "optimizer"])
def test_a_link_inside_is_refused(tmp_path: Path, target: str) -> None:
    root = make(tmp_path / "c", FILES)
    make(tmp_path, {"outside": b"secret"})
    (root / "optimizer" / "link").symlink_to(root / target)
    with pytest.raises(InputError, match="link inside a checkpoint"):
        checkpoint_identity(root)


def test_a_link_to_the_checkpoint_is_resolved(tmp_path: Path) -> None:
    root = make(tmp_path / "c", FILES)
    (tmp_path / "latest").symlink_to(root)
    assert checkpoint_identity(tmp_path / "latest") == checkpoint_identity(root)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    root = make(tmp_path / "c", FILES)
    os.mkfifo(root / "pipe")
    with pytest.raises(InputError, match="files and directories only"):
        checkpoint_identity(root)


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "c", FILES)
    original = hashlib.file_digest

    def read_and_grow(file: object, name: str) -> object:
        digest = original(file, name)  # type: ignore[arg-type]
        with (root / "config.json").open("ab") as growing:
            growing.write(b" ")
        return digest

    monkeypatch.setattr(hashlib, "file_digest", read_and_grow)
    with pytest.raises(InputError, match="changed while it was read"):
        checkpoint_identity(root / "config.json")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("absent", "no checkpoint here"),
        ("a\x00b", "no checkpoint here"),
        ("empty", "holds no file"),
        ("s3://bucket/model", "only a local checkpoint"),
        ("file://elsewhere/model", "only a local checkpoint"),
    ],
)
def test_what_cannot_be_hashed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty" / "inside").mkdir(parents=True)
    with pytest.raises(InputError, match=reason):
        checkpoint_identity(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    root = make(tmp_path / "c", FILES)
    (root / "config.json").chmod(0)
    with pytest.raises(InputError, match="cannot be read"):
        checkpoint_identity(root)


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    run = make(tmp_path / "run", {"checkpoint-30/model": b"x", "file": b"x", "nested/inner/model": b"x"})
    make(tmp_path, {"outside/model": b"x"})
    (run / "link").symlink_to(tmp_path / "outside")
    (run / "checkpoint-40").symlink_to(run / "checkpoint-30")
    return run


def test_a_candidates_directory_is_found(run_dir: Path) -> None:
    assert candidate_checkpoint(run_dir, "checkpoint-30") == run_dir / "checkpoint-30"
    assert candidate_checkpoint(str(run_dir), "nested") == run_dir / "nested"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "/", "absent", "file", "link", "checkpoint-40", "nested/inner", "./checkpoint-30", "checkpoint-30/",
     "../outside", "../run/checkpoint-30", "checkpoint-30\x00", "CHECKPOINT-30", "checkpoint-30 ", "*",
     "\ud800", "x" * 5000],
)  # fmt: skip
def test_any_other_name_stands_for_nothing(run_dir: Path, name: str) -> None:
    assert candidate_checkpoint(run_dir, name) is None
    assert candidate_checkpoint(run_dir, str(run_dir / name) if "\x00" not in name else name) is None


def test_a_run_that_is_no_directory_has_no_checkpoints(run_dir: Path) -> None:
    assert candidate_checkpoint(run_dir / "file", "checkpoint-30") is None
    assert candidate_checkpoint(run_dir / "absent", "checkpoint-30") is None


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the open files cannot be counted here")
def test_hashing_leaves_no_file_open(tmp_path: Path) -> None:
    root = make(tmp_path / "c", FILES)
    before = len(os.listdir("/proc/self/fd"))
    checkpoint_identity(root)
    (root / "link").symlink_to(root)
    with pytest.raises(InputError):
        checkpoint_identity(root)
    assert len(os.listdir("/proc/self/fd")) == before
