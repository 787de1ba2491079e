from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from rlchecks.archive import Archive, query, tables, writing
from rlchecks.errors import ArchiveError
from rlchecks.schema import STEPS

VIEWS = ["completions", "evaluations", "runs", "signals", "steps", "validation", "verdicts"]


@pytest.fixture
def full(archive: Archive, worker: ModuleType) -> Archive:
    """An archive with two runs and a row in every table."""
    for run_id in ("a", "b"):
        archive.write_run(worker.make_run(run_id, 3))
    archive.write_evaluations("a", worker.evaluations("a", "s"))
    archive.write_signals("a", pa.table({"run_id": ["a"], "reward_gain": [0.5]}))
    archive.write_verdict(worker.verdict("a", "1"))
    return archive


def fingerprint(root: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in root.rglob("*") if path.is_file()}


def test_every_table_is_a_view(full: Archive) -> None:
    assert full.sql("SHOW TABLES")["name"].to_pylist() == VIEWS
    counts = {name: full.sql(f"SELECT count(*) AS n FROM {name}")["n"][0].as_py() for name in VIEWS}
    assert counts == {
        "completions": 6, "evaluations": 3, "runs": 2, "signals": 1, "steps": 6, "validation": 6, "verdicts": 1,
    }  # fmt: skip


def test_an_archive_that_is_not_there_is_no_empty_one(archive: Archive) -> None:
    with pytest.raises(ArchiveError, match=f"There is no archive at {archive.root}"):
        archive.sql("SELECT * FROM runs")
    assert not Path(archive.root).exists()


def test_two_result_columns_of_one_name_are_refused(full: Archive) -> None:
    for statement in (
        "SELECT run_id, step AS run_id FROM steps",
        "SELECT * FROM steps s JOIN runs r ON s.run_id = r.run_id",
    ):
        with pytest.raises(ArchiveError, match=r"named 'run_id'.*with AS"):
            full.sql(statement)
    assert full.sql("SELECT run_id, step AS RUN_ID FROM steps").num_columns == 2


def test_views_of_an_empty_archive_are_typed(archive: Archive) -> None:
    Path(archive.root).mkdir()
    for name in VIEWS:
        table = archive.sql(f"SELECT * FROM {name}")
        assert table.num_rows == 0
        assert table.schema.names == tables.schema_of(name).names
        assert [field.type for field in table.schema] == [field.type for field in tables.schema_of(name)]


def test_views_are_joined_and_maps_are_maps(full: Archive) -> None:
    result = full.sql(
        "SELECT s.run_id, avg(reward) AS reward, max(extra['reward/exact']) AS best, "
        "any_value(r.facts['beta']) AS beta FROM STEPS s JOIN main.runs r USING (run_id) GROUP BY 1 ORDER BY 1"
    )
    assert result.to_pylist() == [
        {"run_id": run_id, "reward": pytest.approx(0.26), "best": pytest.approx(0.27), "beta": "0.04"}
        for run_id in ("a", "b")
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1 AS x;",
        "FROM range(1) t(x)",
        "VALUES (1)",
        "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 1) SELECT * FROM n",
        "SELECT 1 UNION SELECT 1 -- comment",
        "SELECT unnest([1])",
        "SELECT max(x) FROM generate_series(3) t(x), unnest([1]) u(y)",
        "SELECT value FROM json_each('[1]')",
    ],
)
def test_what_only_computes_can_be_asked(full: Archive, statement: str) -> None:
    assert full.sql(statement).num_rows == 1


OUTSIDE = [
    "COPY (SELECT 1) TO '{root}/x.parquet'",
    "COPY (SELECT 1) TO '{outside}'",
    "COPY steps FROM '{steps}'",
    # A SELECT to DuckDB's parser, and it may write whatever file may be read.
    "WITH x AS (COPY (SELECT 1) TO '{steps}' (FORMAT parquet, USE_TMP_FILE false)) SELECT * FROM x",
    "WITH x AS (COPY (SELECT 1) TO '{outside}') SELECT * FROM x",
    "SELECT (WITH x AS (COPY (SELECT 1) TO '{steps}' (FORMAT parquet, USE_TMP_FILE false)) SELECT count(*) FROM x)",
    "WITH x AS (INSERT INTO typed.steps SELECT * FROM steps RETURNING *) SELECT * FROM x",
    "WITH x AS (DELETE FROM typed.steps RETURNING *) SELECT * FROM x",
    "ATTACH '{outside}' AS other",
    "ATTACH ':memory:' AS other",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "SET threads = 1",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT 1",
    "PREPARE p AS SELECT 1",
    "CREATE TABLE t (x INTEGER)",
    "CREATE VIEW v AS SELECT 1",
    "DROP VIEW steps",
    "DELETE FROM steps",
    "UPDATE typed.steps SET step = 1",
    "INSERT INTO typed.steps SELECT * FROM steps",
    "EXPORT DATABASE '{outside}'",
    "IMPORT DATABASE '{outside}'",
    "CHECKPOINT",
    "VACUUM",
    "BEGIN",
    "PIVOT steps ON split USING avg(reward)",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP VIEW steps",
    "",
    "-- nothing",
    "SELECT",
    "SELECT * FROM nowhere",
    "SELECT no_such_column FROM steps",
    "SELECT '\ud800'",
    "SELECT $1",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_text('{root}/.tmp/left.tmp')",
    "SELECT * FROM read_blob('{steps}')",
    "SELECT * FROM read_parquet('{steps}')",
    "SELECT * FROM read_parquet('{root}/.tmp/left.tmp')",
    "SELECT * FROM read_parquet('{root}/steps/*.parquet')",
    "SELECT * FROM parquet_scan('{root}/steps/unlisted.parquet')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM read_duckdb('{outside}')",
    "SELECT * FROM parquet_metadata('{steps}')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM \"GLOB\"('/etc/*')",
    "SELECT * FROM main.glob('/etc/*')",
    "FROM '/etc/passwd'",
    "FROM '{root}/steps/unlisted.parquet'",
    "FROM '{root}/steps/*.parquet'",
    "FROM '{outside_csv}'",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('steps')",
    "SELECT * FROM json_execute_serialized_sql('{{}}')",
    "SELECT * FROM arrow_scan(1, 2, 3)",
    "SELECT * FROM checkpoint()",
    "SELECT * FROM enable_logging(storage = 'file', storage_path = '{outside}')",
    "SELECT * FROM enable_profiling(save_location = '{outside}')",
    "SELECT * FROM duckdb_secrets()",
    "SELECT (SELECT count(*) FROM read_text('/etc/passwd'))",
    "SELECT * FROM steps WHERE run_id IN (FROM read_text('/etc/passwd') SELECT content)",
    "SELECT * FROM steps, LATERAL (SELECT * FROM read_text(run_id))",
    "SELECT * FROM python_variable",
    "SELECT getenv('HOME')",
]  # fmt: skip


@pytest.mark.parametrize("statement", OUTSIDE)
def test_everything_else_is_refused_in_one_sentence_and_changes_nothing(
    full: Archive, tmp_path: Path, statement: str
) -> None:
    python_variable = pa.table({"secret": [1]})
    root = Path(full.root)
    (tmp_path / "outside.csv").write_text("a,b\n1,2\n")
    (root / ".tmp" / "left.tmp").write_bytes((root / "steps" / "a.1.parquet").read_bytes())
    (root / "steps" / "unlisted.parquet").write_bytes((root / "steps" / "a.1.parquet").read_bytes())
    before = fingerprint(tmp_path)
    text = statement.format(
        root=root, steps=root / "steps" / "a.1.parquet", outside=tmp_path / "new", outside_csv=tmp_path / "outside.csv"
    )
    with pytest.raises(ArchiveError) as caught:
        full.sql(text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "?", ")"))
    assert fingerprint(tmp_path) == before
    assert full.sql("SELECT count(*) AS n FROM steps")["n"].to_pylist() == [6]
    assert python_variable.num_rows == 1


def test_a_run_replaced_while_the_query_is_prepared_is_read_anew(
    full: Archive, worker: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    original: Callable[..., query.Sources] = query._sources
    calls = []

    def and_then_replace(*args: object) -> query.Sources:
        sources = original(*args)
        if not calls:
            full.write_run(worker.make_run("a", 9))
        calls.append(sources)
        return sources

    monkeypatch.setattr(query, "_sources", and_then_replace)
    assert full.sql("SELECT count(*) AS n FROM steps")["n"].to_pylist() == [12]
    assert len(calls) == 2


def test_a_listed_file_that_is_missing_stops_the_query(full: Archive) -> None:
    (Path(full.root) / "steps" / "b.1.parquet").unlink()
    with pytest.raises(ArchiveError, match=r"b\.1\.parquet"):
        full.sql("SELECT * FROM steps")


def test_a_damaged_runs_file_stops_the_query(full: Archive) -> None:
    (Path(full.root) / "runs" / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(ArchiveError, match=r"runs/b\.parquet"):
        full.sql("SELECT * FROM steps")


def test_patterns_in_the_archives_path_are_refused(tmp_path: Path, worker: ModuleType) -> None:
    archive = Archive(tmp_path / "a*")
    archive.write_run(worker.make_run())
    assert archive.steps().num_rows == 4
    with pytest.raises(ArchiveError, match=r"without \*"):
        archive.sql("SELECT * FROM steps")


def test_a_link_and_odd_characters_in_the_archives_path_are_followed(tmp_path: Path, worker: ModuleType) -> None:
    (tmp_path / "it's a=b; place").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "it's a=b; place")
    archive = Archive(tmp_path / "link" / "archive")
    archive.write_run(worker.make_run())
    steps = archive.sql("SELECT * FROM steps")
    assert steps.schema.names == STEPS.names
    assert steps.num_rows == 4


@pytest.fixture
def older_release(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let the next writes be of schema version 0, whose steps had no sampler_ratio."""
    schema = pa.schema([field for field in STEPS if field.name != "sampler_ratio"])
    monkeypatch.setitem(tables._SCHEMAS, "steps", schema)
    monkeypatch.setattr(tables, "VERSION", 0)
    monkeypatch.setattr(writing, "VERSION", 0)
    return monkeypatch


def test_files_of_an_older_schema_are_read_with_nulls(
    archive: Archive, worker: ModuleType, older_release: pytest.MonkeyPatch
) -> None:
    old = worker.make_run("old", 2)
    archive.write_run(worker.make_run("old", 2, steps=old.steps.drop_columns(["sampler_ratio"])))
    older_release.undo()
    steps = worker.table(STEPS, 1, {"run_id": "new", "split": "train", "step": [1], "sampler_ratio": 0.5})
    archive.write_run(worker.make_run("new", 1, steps=steps))
    # The runs file is new after this, the steps file still old.
    archive.write_evaluations("old", worker.evaluations("old", "s"))
    assert archive.read_run("old").steps.schema.equals(STEPS)
    assert archive.steps(["old", "new"], ["sampler_ratio"])["sampler_ratio"].to_pylist() == [None, None, 0.5]
    result = archive.sql("SELECT sampler_ratio, reward FROM steps ORDER BY run_id DESC, step")
    assert result["sampler_ratio"].to_pylist() == [None, None, 0.5]
    assert result["reward"].to_pylist()[0] == 0.25


def test_files_of_a_newer_schema_are_refused(
    archive: Archive, worker: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        newer.setattr(tables, "VERSION", 99)
        archive.write_run(worker.make_run())
    for read in (archive.runs, archive.steps, lambda: archive.sql("SELECT * FROM steps")):
        with pytest.raises(ArchiveError, match=r"schema version 99.*upgrade rlchecks"):
            read()


def test_a_failed_query_says_what_there_is_instead(full: Archive) -> None:
    with pytest.raises(ArchiveError, match=r'Candidate bindings: .*"reward".*; `describe steps` lists the columns'):
        full.sql("SELECT rewardd FROM steps")
    with pytest.raises(ArchiveError, match=r'does not exist \(Did you mean "steps"\?\)\.$'):
        full.sql("SELECT 1 FROM step")
    with pytest.raises(ArchiveError, match=r"this is 2 statements \(SELECT\)"):
        full.sql("SELECT 1; SELECT 2")
