from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rlchecks.readers.sqlite_database as sqlite_database
import rlchecks.readers.sqlite_files as sqlite_files
from rlchecks.errors import InputError
from rlchecks.readers import read_run
from rlchecks.readers.sqlite import glance, query, recall
from rlchecks.readers.sqlite_database import Database
from rlchecks.readers.sqlite_log import is_cut_short

DATA = Path(__file__).parent / "data"
JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
# Would take years.
SLOW = "length(replace(hex(zeroblob(30000000)), '0', '11'))"
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS a, x AS b FROM c"

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a database with these statements; ``old``: so long ago that its time tells whether it changed."""

    def write(*statements: str, name: str = "x.db", old: bool = True) -> Path:
        path = tmp_path / name
        with sqlite3.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()
        if old:
            os.utime(path, (1e9, 1e9))
        return path

    return write


TABLE = "CREATE TABLE t (a TEXT, b REAL)"
ROWS = "INSERT INTO t VALUES ('one', 1.0), ('two', 2.0), ('one', 3.0)"


def rows(database: Database, **options: Any) -> list[tuple[Any, ...]]:
    return [row for chunk in database.select("t", ["a", "b"], **options) for row in chunk]


def files_in(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(directory.iterdir())}


def test_rows_are_read_and_nothing_is_left_behind(make: Make, tmp_path: Path) -> None:
    path = make(TABLE, ROWS)
    before = files_in(tmp_path)
    assert query(path, rows) == [(b"one", 1.0), (b"two", 2.0), (b"one", 3.0)]
    assert query(path, lambda database: rows(database, where=("a", "one"))) == [(b"one", 1.0), (b"one", 3.0)]
    assert query(path, lambda database: rows(database, in_order=True))[0] == (b"one", 1.0)
    assert files_in(tmp_path) == before


def test_a_column_that_a_table_lacks_is_none_in_all_rows_and_not_a_word(make: Make) -> None:
    path = make("CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('one')")
    assert query(path, rows) == [(b"one", None)]


def test_the_inputs_are_the_files_as_they_are(make: Make) -> None:
    path = make(TABLE, ROWS)
    (source,) = query(path, lambda database: database.inputs)
    data = path.read_bytes()
    assert (source.path, source.sha256, source.bytes) == (str(path), hashlib.sha256(data).hexdigest(), len(data))


def test_a_database_is_hashed_and_checked_once_for_all_who_read_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(TABLE, ROWS)
    hashed: list[str] = []
    hash_file = sqlite_database.hashed
    monkeypatch.setattr(sqlite_database, "hashed", lambda file: hashed.append(file) or hash_file(file))
    looked: list[int] = []
    for _ in range(3):
        assert query(path, lambda database: len(database.inputs)) == 1
        assert recall(path, "looked", lambda database: looked.append(1) or len(looked)) == 1
    assert len(hashed) == len(looked) == 1


def test_what_was_written_just_now_is_looked_at_again(make: Make) -> None:
    path = make(TABLE, ROWS, old=False)
    assert recall(path, "rows", lambda database: len(rows(database))) == 3
    make(ROWS, old=False)
    assert recall(path, "rows", lambda database: len(rows(database))) == 6


def test_views_virtual_tables_and_computed_columns_are_no_tables(make: Make) -> None:
    for name, statement in {
        "view.db": f"CREATE VIEW t AS {ENDLESS}",
        "virtual.db": "CREATE VIRTUAL TABLE t USING fts5(a, b)",
        "computed.db": f"CREATE TABLE t (a TEXT, b REAL GENERATED ALWAYS AS ({SLOW}))",
    }.items():
        assert query(make(statement, name=name), lambda database: database.columns("t")) == frozenset(), name


def test_no_code_of_the_schema_is_run(make: Make) -> None:
    values = ", ".join("('one', 1.0)" for _ in range(100))
    indexed = make(TABLE, f"INSERT INTO t VALUES {values}", name="indexed.db")
    part = make(TABLE, f"INSERT INTO t VALUES {values}", name="part.db")
    # Written behind SQLite's back, which would compute the expressions to check or fill them.
    for path, kind, statement in [
        (indexed, "index", f"CREATE INDEX i ON t ({SLOW})"),
        (part, "index", f"CREATE INDEX i ON t (a) WHERE {SLOW} > 0"),
    ]:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE INDEX i ON t (b)")
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE type = ?", (statement, kind))
        connection.close()
    checked = make(f"CREATE TABLE t (a TEXT, b REAL CHECK ({SLOW} IS NULL OR 1))", name="checked.db")
    with sqlite3.connect(checked) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(f"INSERT INTO t VALUES {values}")
    connection.close()
    for path in (indexed, part, checked):

        def work(database: Database) -> int:
            database.require("t", ["a"])
            return len(rows(database, where=("a", "one")))

        assert query(path, work) == 100


def test_missing_columns_are_named(make: Make) -> None:
    path = make("CREATE TABLE t (a TEXT)")
    with pytest.raises(InputError, match=r"x\.db: its table 't' has no column 'b', 'c'"):
        query(path, lambda database: database.require("t", ["a", "b", "c"]))


def test_a_table_whose_index_says_something_else_is_damaged(make: Make) -> None:
    path = make(TABLE, ROWS, "CREATE INDEX i ON t (a)")
    data = bytearray(path.read_bytes())
    # The index was made last, in the last page.
    at = data.rindex(b"two")
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="no readable SQLite database"):
        query(path, lambda database: database.require("t", ["a"]))


def test_too_large_values_are_an_error(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlchecks.readers.sqlite.MAX_VALUE", 100_000)
    path = make(TABLE, "INSERT INTO t VALUES (zeroblob(200000), 1)")
    with pytest.raises(InputError, match="too big"):
        query(path, rows)


def test_work_without_end_is_stopped(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlchecks.readers.sqlite._OPERATIONS", 1_000_000)
    path = make(TABLE)

    def work(database: Database) -> object:
        return database._connection.execute(f"SELECT count(*) FROM ({ENDLESS})").fetchall()

    with pytest.raises(InputError, match="interrupted"):
        query(path, work)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"x" * 5000])
def test_what_is_no_database_is_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(InputError):
        query(path, lambda database: database.require("t", ["a"]))


def test_names_that_are_no_utf8_are_an_error(make: Make) -> None:
    path = make("CREATE TABLE abc (a)")
    data = path.read_bytes()
    assert b"tableabcabc" in data
    path.write_bytes(data.replace(b"tableabc", b"tablea\xffc").replace(b"CREATE TABLE", b"CREATE TXBLE"))
    with pytest.raises(InputError, match="a name that is no UTF-8"):
        query(path, rows)


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.db")
    with pytest.raises(InputError, match="no regular file"):
        query(tmp_path / "x.db", rows)


def test_a_pipe_or_directory_beside_is_nothing(make: Make, tmp_path: Path) -> None:
    path = make(TABLE, ROWS)
    os.mkfifo(tmp_path / "x.db-wal")
    (tmp_path / "x.db-journal").mkdir()
    assert len(query(path, rows)) == 3


def test_names_with_all_kinds_of_letters(make: Make) -> None:
    for name in ("a?mode=rw#x.db", "ä %41.db", os.fsdecode(b"\xff.db")):
        assert len(query(make(TABLE, ROWS, name=name), rows)) == 3, name


def test_links_lead_to_the_log_beside_their_target(tmp_path: Path) -> None:
    path = killed(tmp_path / "there")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    assert read_run(link).training_steps.num_rows == read_run(path).training_steps.num_rows == 5


def killed(directory: Path) -> Path:
    """A project of Trackio whose last rows are in the write-ahead log only."""
    directory.mkdir()
    with tarfile.open(DATA / "trackio" / "killed.tar.gz") as archive:
        archive.extractall(directory, filter="data")
    return directory / "trackio" / "toyadd.db"


def test_a_write_ahead_log_is_read_from_a_copy(tmp_path: Path) -> None:
    path = killed(tmp_path / "x")
    before = files_in(path.parent)
    inputs = query(path, lambda database: database.inputs)
    count = query(path, lambda database: sum(map(len, database.select("metrics", ["id"]))))
    assert files_in(path.parent) == before
    assert {(Path(one.path).name, one.sha256) for one in inputs} == {
        (name, hashlib.sha256(before[name][0]).hexdigest()) for name in ("toyadd.db", "toyadd.db-wal")
    }
    os.unlink(f"{path}-wal")
    assert query(path, lambda database: sum(map(len, database.select("metrics", ["id"])))) < count


def test_damage_in_a_write_ahead_log_is_never_silent(tmp_path: Path) -> None:
    path = killed(tmp_path / "x")
    log = Path(f"{path}-wal")
    data = log.read_bytes()
    dice = random.Random(20261130)
    for _ in range(60):
        flipped = bytearray(data)
        flipped[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        log.write_bytes(flipped)
        with pytest.raises(InputError, match="write-ahead log is not whole"):
            query(path, lambda database: database.columns("metrics"))
    whole = query_count(path, log, data)
    assert {query_count(path, log, data[:length]) for length in range(100, len(data), 4111)} == {whole - 8}


def query_count(path: Path, log: Path, data: bytes) -> int:
    log.write_bytes(data)
    return query(path, lambda database: sum(map(len, database.select("metrics", ["id"]))))


def test_frames_of_the_time_before_the_last_checkpoint_are_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(TABLE)
    writer.execute("INSERT INTO t VALUES (zeroblob(100000), 0)")
    writer.execute("PRAGMA wal_checkpoint(RESTART)")
    writer.execute(ROWS)
    log = tmp_path / "x.db-wal"
    assert log.stat().st_size > 100_000
    assert len(query(path, rows)) == 4
    assert is_cut_short(log, 0)
    writer.close()


def test_tables_that_are_in_the_log_only_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute(TABLE)
    assert glance(path, "has t", lambda database: bool(database.columns("t")))
    writer.close()


def test_a_database_of_others_is_not_copied_to_see_that_it_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = killed(tmp_path / "x")
    monkeypatch.setattr(sqlite_files.shutil, "copyfile", None)
    assert not glance(path, "has t", lambda database: bool(database.columns("t")))


KILL = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN")
connection.execute("UPDATE t SET b = -1")
connection.executemany("INSERT INTO t VALUES (?, 0)", [("x" * 1000,)] * 500)
os._exit(1)
"""


def test_an_unfinished_transaction_is_rolled_back_on_a_copy(make: Make, tmp_path: Path) -> None:
    path = make(TABLE, ROWS)
    subprocess.run([sys.executable, "-c", KILL, str(path)], check=False)
    before = files_in(tmp_path)
    assert "x.db-journal" in before
    assert query(path, rows) == [(b"one", 1.0), (b"two", 2.0), (b"one", 3.0)]
    assert len(query(path, lambda database: database.inputs)) == 2
    assert files_in(tmp_path) == before


def test_a_journal_that_names_another_file_is_refused(make: Make, tmp_path: Path) -> None:
    path = make(TABLE, ROWS)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    name = str(victim).encode()
    header = JOURNAL_MAGIC + struct.pack(">IIIII", 0, 1, 2, 512, 4096)
    end = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC
    (tmp_path / "x.db-journal").write_bytes(header.ljust(512, b"\0") + end)
    with pytest.raises(InputError, match="transaction over several databases"):
        query(path, rows)
    assert victim.read_bytes() == b"precious"


def test_what_is_written_meanwhile_is_read_again(make: Make) -> None:
    path = make(TABLE, ROWS)
    writes = iter([True, False])

    def work(database: Database) -> int:
        found = rows(database)
        if next(writes):
            make(ROWS)
        return len(found)

    assert query(path, work) == 6


def test_what_is_written_all_the_time_is_read_from_a_copy(make: Make) -> None:
    path = make(TABLE, ROWS)

    def work(database: Database) -> int:
        found = rows(database)
        make(ROWS)
        return len(found)

    assert query(path, work) == 9


def test_what_is_written_faster_than_it_is_copied_is_an_error(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(TABLE, ROWS)
    count = iter(range(100))
    state_of = sqlite_files.state_of

    def changing(path: Path) -> sqlite_files.State:
        return state_of(path)._replace(counter=bytes([next(count)]))

    monkeypatch.setattr("rlchecks.readers.sqlite.state_of", changing)
    monkeypatch.setattr(sqlite_files, "state_of", changing)
    with pytest.raises(InputError, match="was written while it was read"):
        query(path, rows)


def test_too_much_to_copy_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_files, "MAX_COPY", 1000)
    with pytest.raises(InputError, match="too many to copy"):
        query(killed(tmp_path / "x"), rows)


def test_few_states_are_remembered(make: Make) -> None:
    for number in range(40):
        recall(make(TABLE, name=f"{number}.db"), "any", lambda database: 1)
    assert len(sqlite_files._memos) <= 32
