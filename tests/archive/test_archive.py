from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlchecks.archive import Archive, Refusal, Written
from rlchecks.errors import ArchiveError, UsageError
from rlchecks.run import RunLog
from rlchecks.schema import COMPLETIONS, EVALUATIONS, RUNS, STEPS, VALIDATION, VERDICTS
from rlchecks.signals.compute import SCHEMA as SIGNALS

HOSTILE_IDS = [
    "..", ".", "/", "a/b", "../../outside", "/etc/passwd", "a:b", "C:\\x", "con", "NUL", "com1.txt", "a\x00b", "a\nb",
    "\x1b[31mred", "日本語", "é", "e\u0301", "🙂", "x" * 500, "ü" * 300, "%", "%2e", "a%2fb", "*?[a-z]",
    "'; drop table x; --", " ", "a ", "a.", ".hidden", "_meta", "-rf", "a.1", "a.1.parquet", "\u202egnp.exe",
]  # fmt: skip


def same(one: RunLog, other: RunLog) -> bool:
    tables = [(run.steps, run.completions, run.validation) for run in (one, other)]
    equal = all(
        a.schema.equals(b.schema) and a.to_pylist().__repr__() == b.to_pylist().__repr__()
        for a, b in zip(*tables, strict=True)
    )
    facts = [
        {k: v for k, v in vars(run).items() if k not in ("steps", "completions", "validation")} for run in (one, other)
    ]
    return equal and facts[0] == facts[1]


def test_an_archive_that_is_not_there_has_empty_typed_tables(archive: Archive) -> None:
    assert archive.run_ids() == []
    assert not archive.has("run")
    assert archive.runs().schema.equals(RUNS)
    assert archive.steps().schema.equals(STEPS)
    assert archive.validation().schema.equals(VALIDATION)
    assert archive.signals().schema.equals(SIGNALS)
    assert archive.verdicts().schema.equals(VERDICTS)
    assert not Path(archive.root).exists()


def test_a_run_comes_back_as_it_was_written(archive: Archive, worker: ModuleType) -> None:
    run = worker.make_run("Run 1", 5, framework_version="1.9.0", repeated_steps=2)
    assert archive.write_run(run) == Written("Run 1", True)
    assert archive.has("Run 1")
    assert archive.run_ids() == ["Run 1"]
    assert same(archive.read_run("Run 1"), run)
    (facts,) = archive.runs().to_pylist()
    assert (facts["first_step"], facts["last_step"], facts["n_steps"], facts["planned_steps"]) == (1, 5, 5, 5)
    assert {file["name"]: file["rows"] for file in facts["tables"]} == {"steps": 5, "completions": 5, "validation": 5}


def test_tables_that_a_run_lacks_are_empty_and_typed(archive: Archive, worker: ModuleType) -> None:
    run = worker.make_run("bare", 3, completions=COMPLETIONS.empty_table(), validation=VALIDATION.empty_table())
    archive.write_run(run)
    assert same(archive.read_run("bare"), run)
    assert archive.completions("bare").schema.equals(COMPLETIONS)
    assert archive.evaluations("bare").schema.equals(EVALUATIONS)
    assert not (Path(archive.root) / "completions").exists()


def test_null_nan_and_infinity_stay_what_they_are(archive: Archive, worker: ModuleType) -> None:
    values = [None, math.nan, math.inf, -math.inf, -0.0]
    extra = [None, [], [("x", math.nan)], [("x", None)], [("x", math.inf), ("y", -0.0)]]
    columns = {"run_id": "odd", "split": "train", "step": range(5), "reward": values, "extra": extra}
    archive.write_run(worker.make_run("odd", 0, steps=worker.table(STEPS, 5, columns)))
    steps = archive.steps(["odd"])
    assert repr(steps["reward"].to_pylist()) == repr(values)
    assert repr(steps["extra"].to_pylist()) == repr(extra)
    assert steps["reward"].null_count == 1


NUMBERS = st.none() | st.floats(allow_nan=True, allow_infinity=True)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["train", "eval", "summary"]),
        st.integers(-(2**63), 2**63 - 1),
        NUMBERS,
        st.none() | st.dictionaries(TEXTS, NUMBERS, max_size=3),
        st.none() | st.dictionaries(TEXTS, st.none() | TEXTS, max_size=3),
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    run_id=st.text(st.characters(codec="utf-8"), min_size=1, max_size=30),
    rows=ROWS,
    facts=st.dictionaries(TEXTS, TEXTS, max_size=3),
)
def test_any_run_survives_the_archive(
    tmp_path_factory: pytest.TempPathFactory,
    worker: ModuleType,
    run_id: str,
    rows: list[tuple[object, ...]],
    facts: dict[str, str],
) -> None:
    archive = Archive(tmp_path_factory.mktemp("archive"))
    split, step, reward, extra, texts = ([row[place] for row in rows] for place in range(5))
    maps = {"extra": [None if x is None else list(x.items()) for x in extra]}
    maps["extra_text"] = [None if x is None else list(x.items()) for x in texts]
    columns = {"run_id": run_id, "split": split, "step": step, "reward": reward, **maps}
    run = worker.make_run(run_id, 0, steps=worker.table(STEPS, len(rows), columns), facts=dict(sorted(facts.items())))
    assert archive.write_run(run).changed
    assert same(archive.read_run(run_id), run)
    assert not archive.write_run(archive.read_run(run_id)).changed


@pytest.mark.parametrize("run_id", HOSTILE_IDS)
def test_a_hostile_id_stays_inside_the_archive_and_comes_back(
    archive: Archive, worker: ModuleType, tmp_path: Path, run_id: str
) -> None:
    archive.write_run(worker.make_run(run_id))
    archive.write_evaluations(run_id, worker.evaluations(run_id, "s"))
    verdict = worker.verdict(run_id, run_id)
    archive.write_verdict(verdict)
    assert archive.run_ids() == [run_id]
    assert archive.read_run(run_id).run_id == run_id
    assert archive.verdicts(run_id)["id"].to_pylist() == [verdict["id"]]
    assert archive.sql("SELECT DISTINCT run_id FROM steps")["run_id"].to_pylist() == [run_id]
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]
    inside = list(tmp_path.rglob("*.parquet"))
    assert len(inside) == 6
    assert {path.parent.parent.name for path in inside} == {"archive"}


def test_hostile_ids_do_not_mix(archive: Archive, worker: ModuleType) -> None:
    for run_id in HOSTILE_IDS:
        archive.write_run(worker.make_run(run_id))
        archive.write_verdict(worker.verdict(run_id, "1"))
    assert sorted(archive.run_ids()) == sorted(HOSTILE_IDS)
    assert archive.steps().num_rows == 4 * len(HOSTILE_IDS)
    for run_id in HOSTILE_IDS:
        assert archive.verdicts(run_id)["run_id"].to_pylist() == [run_id]


@pytest.mark.parametrize("run_id", ["", "\ud800"])
def test_an_id_that_is_no_text_is_refused(archive: Archive, worker: ModuleType, run_id: str) -> None:
    with pytest.raises(ArchiveError, match="--run-id"):
        archive.write_run(dataclasses.replace(worker.make_run("x", 0), run_id=run_id))


def test_ids_that_differ_in_case_only_collide(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run("Run"))
    with pytest.raises(ArchiveError, match=r"'Run', which differs from 'RUN' in case only.*--run-id"):
        archive.write_run(worker.make_run("RUN"))
    assert not archive.has("RUN")
    assert archive.has("Run")
    assert archive.run_ids() == ["Run"]


def test_the_same_content_again_rewrites_nothing(archive: Archive, worker: ModuleType) -> None:
    run = worker.make_run(rows=20)
    archive.write_run(run)
    archive.write_evaluations("run", worker.evaluations("run", "s"))
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in Path(archive.root).rglob("*.parquet")}
    chunked = pa.concat_tables([run.steps.slice(0, 7), run.steps.slice(7)])
    assert archive.write_run(worker.make_run(rows=20, steps=chunked)) == Written("run", False)
    assert archive.write_run(archive.read_run("run")) == Written("run", False)
    assert not archive.write_evaluations("run", worker.evaluations("run", "s"))
    after = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in Path(archive.root).rglob("*.parquet")}
    assert before == after


def test_a_grown_log_replaces_the_run_and_its_signals_but_not_its_evaluations(
    archive: Archive, worker: ModuleType, strays
) -> None:  # type: ignore[no-untyped-def]
    archive.write_run(worker.make_run(rows=3))
    archive.write_signals("run", pa.table({"run_id": ["run"], "reward_gain": [0.1]}))
    archive.write_evaluations("run", worker.evaluations("run", "s"))
    assert archive.write_run(worker.make_run(rows=9)).changed
    assert archive.read_run("run").steps.num_rows == 9
    assert archive.signals().num_rows == 0
    assert archive.evaluations("run").num_rows == 3
    assert strays() == set()
    assert len(list((Path(archive.root) / "steps").iterdir())) == 1


def test_changed_facts_alone_keep_the_tables_files(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run(rows=3))
    (steps,) = (Path(archive.root) / "steps").iterdir()
    assert archive.write_run(worker.make_run(rows=3, warnings=("read again",))).changed
    assert list((Path(archive.root) / "steps").iterdir()) == [steps]
    assert archive.read_run("run").warnings == ("read again",)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"framework": "verl"}, "framework 'trl_grpo'.*'verl'"),
        ({"first_reward": 0.5}, "first logged row"),
    ],
)
def test_another_run_under_the_same_id_is_refused(
    archive: Archive, worker: ModuleType, other: dict[str, object], reason: str
) -> None:
    run = worker.make_run(rows=4)
    archive.write_run(run)
    with pytest.raises(ArchiveError, match=rf"{reason}.*--run-id"):
        archive.write_run(worker.make_run(rows=9, **other))
    assert same(archive.read_run("run"), run)


def test_the_same_bytes_at_the_same_place_replace_the_run_whatever_their_columns_are_taken_for(
    archive: Archive, worker: ModuleType
) -> None:
    run = worker.make_run(rows=4)
    archive.write_run(run)
    again = worker.make_run(rows=4, first_reward=0.5, inputs=run.inputs)
    with pytest.raises(ArchiveError, match="first logged row"):
        archive.write_run(worker.make_run(rows=4, first_reward=0.5, inputs=run.inputs, source="logs/run#other"))
    assert archive.write_run(again).changed
    assert same(archive.read_run("run"), again)


def with_rewards(worker: ModuleType, rewards: list[float]) -> RunLog:
    """A run of these rewards and nothing else but what all runs of a sweep share."""
    columns = {"run_id": "run", "split": "train", "step": range(len(rewards)), "reward": rewards, "learning_rate": 0.1}
    return worker.make_run("run", 0, steps=worker.table(STEPS, len(rewards), columns))  # type: ignore[no-any-return]


@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_a_run_of_a_sweep_that_begins_alike_does_not_replace_another(
    archive: Archive, worker: ModuleType, place: int
) -> None:
    run = with_rewards(worker, [0.0] * 5)
    other = [0.0] * 9
    other[place] = 0.5
    archive.write_run(run)
    with pytest.raises(ArchiveError, match=rf"same name and first row \(from step {place} .* reward\).*--run-id"):
        archive.write_run(with_rewards(worker, other))
    assert same(archive.read_run("run"), run)


def test_a_run_that_was_resumed_from_a_checkpoint_replaces_its_older_log(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(with_rewards(worker, [0.1] * 8))
    assert archive.write_run(with_rewards(worker, [0.1] * 5 + [0.2] * 6)).changed
    assert archive.read_run("run").steps["reward"].to_pylist() == [0.1] * 5 + [0.2] * 6


@pytest.mark.parametrize(
    "other",
    [
        [0.1] * 20 + [0.3] * 20,  # Ends where the archived one does.
        [0.1] * 39 + [0.3],
        [0.1] * 20 + [0.3] * 10,  # Ends before it.
        [0.1] * 19 + [0.3] * 60,  # Goes beyond it, and shares less than half of its steps.
        [0.1] * 39 + [math.nan],
    ],
)
def test_another_branch_of_a_checkpoint_does_not_replace_a_run(
    archive: Archive, worker: ModuleType, other: list[float]
) -> None:
    run = with_rewards(worker, [0.1] * 20 + [0.1] * 20)
    archive.write_run(run)
    place = next(step for step, reward in enumerate(other) if reward != 0.1)
    with pytest.raises(ArchiveError, match=rf"another run.*\(from step {place} on .* reward\).*--run-id"):
        archive.write_run(with_rewards(worker, other))
    assert same(archive.read_run("run"), run)


def test_later_rows_are_compared_in_what_both_logs_have(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(with_rewards(worker, [0.1] * 8 + [math.nan] * 2))
    again = with_rewards(worker, [0.1] * 8 + [math.nan] * 2)
    place = again.steps.schema.get_field_index("loss")
    mapped = again.steps.set_column(place, STEPS.field("loss"), pa.array([0.5] * 10))
    assert archive.write_run(dataclasses.replace(again, steps=mapped)).changed
    other = again.steps.set_column(place, STEPS.field("loss"), pa.array([0.5] * 9 + [0.6]))
    with pytest.raises(ArchiveError, match=r"from step 9 on they differ in loss"):
        archive.write_run(dataclasses.replace(again, steps=other, inputs=()))


def test_rows_of_a_log_are_compared_in_the_order_of_their_steps(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run(rows=4))
    grown = worker.make_run(rows=6)
    assert archive.write_run(dataclasses.replace(grown, steps=grown.steps.take([5, 3, 4, 1, 2, 0]))).changed


def test_an_older_copy_does_not_replace_a_longer_log(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run(rows=9))
    with pytest.raises(ArchiveError, match="up to train step 9 and this log ends at 4"):
        archive.write_run(worker.make_run(rows=4))
    assert archive.read_run("run").steps.num_rows == 9


def test_a_metric_that_a_newer_reader_names_is_no_other_run(archive: Archive, worker: ModuleType) -> None:
    run = worker.make_run(rows=3)
    archive.write_run(run)
    place = run.steps.schema.get_field_index("kl")
    renamed = run.steps.set_column(place, STEPS.field("kl"), pa.array([0.1] * 3))
    renamed = renamed.set_column(
        renamed.schema.get_field_index("extra"), STEPS.field("extra"), pa.nulls(3, STEPS.field("extra").type)
    )
    assert archive.write_run(worker.make_run(rows=3, steps=renamed)).changed


def test_first_rows_of_evaluation_do_not_make_another_run(archive: Archive, worker: ModuleType) -> None:
    run = worker.make_run(rows=3)
    archive.write_run(run)
    row = worker.table(STEPS, 1, {"run_id": "run", "split": "eval", "step": 2, "reward": 0.9})
    grown = worker.make_run(rows=4)
    steps = pa.concat_tables([row, grown.steps])
    assert archive.write_run(worker.make_run(rows=4, steps=steps)).changed


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda steps: steps.drop_columns(["step"]), "without step"),
        (lambda steps: steps.append_column("surprise", pa.array([1.0] * 4)), "'surprise'"),
        (lambda steps: steps.set_column(0, "run_id", pa.array(["other"] * 4)), "must carry its id"),
        (lambda steps: steps.set_column(0, "run_id", pa.array([None] * 4, pa.string())), "must carry its id"),
        (lambda steps: steps.set_column(4, "reward", pa.array(["high"] * 4)), "column reward should hold double"),
    ],
)
def test_tables_that_do_not_fit_are_refused(archive: Archive, worker: ModuleType, change, reason: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArchiveError, match=reason):
        archive.write_run(worker.make_run(steps=change(worker.make_run().steps)))
    assert archive.run_ids() == []


def test_many_runs_are_read_in_the_order_and_columns_asked_for(archive: Archive, worker: ModuleType) -> None:
    for run_id in ("a", "b", "c"):
        archive.write_run(worker.make_run(run_id, 2))
    steps = archive.steps(["c", "a"], ["reward", "run_id"])
    assert steps.schema.equals(pa.schema([STEPS.field("reward"), STEPS.field("run_id")]))
    assert steps["run_id"].to_pylist() == ["c", "c", "a", "a"]
    assert archive.steps([]).num_rows == 0
    assert archive.validation(["b"], ["score"])["score"].to_pylist() == [0.75, 0.75]
    with pytest.raises(UsageError, match="no column 'rewards'"):
        archive.steps(columns=["rewards"])


def test_a_run_that_is_not_there_is_named(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run("a"))
    for read in (
        archive.read_run,
        archive.completions,
        archive.evaluations,
        lambda run_id: archive.steps(["a", run_id]),
    ):
        with pytest.raises(ArchiveError, match="no run 'b'"):
            read("b")
    refused: list[Refusal] = []
    assert archive.steps(["b", "a"], refused=refused).num_rows == 4
    assert [refusal.run_id for refusal in refused] == ["b"]


def damage_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)


def damage_tail(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def replace_by_other(path: Path) -> None:
    pq.write_table(pa.table({"run_id": ["b"]}), path)


@pytest.mark.parametrize("damage", [damage_bit, damage_tail, replace_by_other, Path.unlink])
def test_a_damaged_table_is_named_never_used_and_never_skipped(archive: Archive, worker: ModuleType, damage) -> None:  # type: ignore[no-untyped-def]
    for run_id in ("a", "b", "c"):
        archive.write_run(worker.make_run(run_id))
    damage(Path(archive.root) / "steps" / "b.1.parquet")
    for read in (lambda: archive.read_run("b"), lambda: archive.steps(["b"]), archive.steps):
        with pytest.raises(ArchiveError, match=r"steps/b\.1\.parquet is damaged"):
            read()
    refused: list[Refusal] = []
    assert set(archive.steps(refused=refused)["run_id"].to_pylist()) == {"a", "c"}
    assert [refusal.run_id for refusal in refused] == ["b"]
    assert archive.read_run("a").steps.num_rows == 4
    # The same log again is the cure, and costs the run nothing else.
    archive.write_evaluations("b", worker.evaluations("b", "s"))
    with pytest.raises(ArchiveError, match=r"; ingest the run again"):
        archive.read_run("b")
    assert archive.write_run(worker.make_run("b")).changed
    assert archive.read_run("b").steps.num_rows == 4
    assert archive.evaluations("b").num_rows == 3


def test_damaged_signals_are_dropped_by_the_same_log_again(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run())
    archive.write_signals("run", pa.table({"run_id": ["run"], "reward_gain": [0.1]}))
    damage_bit(Path(archive.root) / "signals" / "run.2.parquet")
    with pytest.raises(ArchiveError, match=r"; ingest the run again"):
        archive.signals()
    assert archive.write_run(worker.make_run()).changed
    assert archive.signals().num_rows == 0
    assert not archive.write_run(worker.make_run()).changed


def test_damaged_held_out_rows_need_the_run_written_anew(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run())
    archive.write_evaluations("run", worker.evaluations("run", "s"))
    damage_bit(Path(archive.root) / "evaluations" / "run.2.parquet")
    with pytest.raises(ArchiveError, match=r"delete the run's file under runs/, ingest the run again"):
        archive.evaluations("run")
    (Path(archive.root) / "runs" / "run.parquet").unlink()
    archive.write_run(worker.make_run())
    assert archive.write_evaluations("run", worker.evaluations("run", "s"))


def test_a_directory_in_place_of_a_runs_file_is_refused(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run("a"))
    (Path(archive.root) / "runs" / "b.parquet").mkdir()
    for read in (archive.run_ids, archive.runs, archive.steps, lambda: archive.has("b")):
        with pytest.raises(ArchiveError, match=r"runs/b\.parquet cannot be read"):
            read()
    refused: list[Refusal] = []
    assert archive.run_ids(refused) == ["a"]
    assert archive.runs(refused=refused)["run_id"].to_pylist() == ["a"]
    assert [refusal.run_id for refusal in refused] == ["b", "b"]


@pytest.mark.parametrize("damage", [damage_tail, replace_by_other])
def test_a_damaged_runs_file_is_named(archive: Archive, worker: ModuleType, damage) -> None:  # type: ignore[no-untyped-def]
    for run_id in ("a", "b"):
        archive.write_run(worker.make_run(run_id))
    damage(Path(archive.root) / "runs" / "b.parquet")
    for read in (archive.run_ids, archive.runs, archive.steps, lambda: archive.read_run("b"), lambda: archive.has("b")):
        with pytest.raises(ArchiveError, match=r"runs/b\.parquet"):
            read()
    with pytest.raises(ArchiveError, match=r"runs/b\.parquet"):
        archive.write_run(worker.make_run("b"))
    refused: list[Refusal] = []
    assert archive.run_ids(refused) == ["a"]
    assert archive.runs(refused=refused)["run_id"].to_pylist() == ["a"]
    assert [refusal.run_id for refusal in refused] == ["b", "b"]


def test_a_runs_file_under_another_name_is_refused(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run("a"))
    (Path(archive.root) / "runs" / "a.parquet").rename(Path(archive.root) / "runs" / "b.parquet")
    with pytest.raises(ArchiveError, match="holds run 'a', whose file has another name"):
        archive.runs()


def test_files_that_no_run_lists_do_not_count(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run("a"))
    steps = Path(archive.root) / "steps"
    for name in ("a.2.parquet", "b.1.parquet", "a.1.parquet.tmp"):
        (steps / name).write_bytes((steps / "a.1.parquet").read_bytes())
    assert archive.steps().num_rows == 4
    assert archive.sql("SELECT * FROM steps").num_rows == 4


def test_evaluations_of_several_sources_add_up_and_one_source_is_replaced(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run())
    assert archive.write_evaluations("run", worker.evaluations("run", "b", 2))
    assert archive.write_evaluations("run", worker.evaluations("run", "a", 3))
    assert archive.evaluations("run")["source_sha256"].to_pylist() == ["a"] * 3 + ["b"] * 2
    assert archive.write_evaluations("run", worker.evaluations("run", "a", 1))
    assert not archive.write_evaluations("run", worker.evaluations("run", "b", 2))
    assert archive.evaluations("run")["source_sha256"].to_pylist() == ["a", "b", "b"]


def test_signals_are_kept_in_the_callers_schema_and_joined(archive: Archive, worker: ModuleType) -> None:
    for run_id in ("a", "b"):
        archive.write_run(worker.make_run(run_id))
    assert archive.write_signals("a", pa.table({"run_id": ["a"], "reward_gain": [math.nan], "own": [1]}))
    assert archive.write_signals("b", pa.table({"run_id": ["b"], "own": [0.5]}))
    assert not archive.write_signals("b", pa.table({"run_id": ["b"], "own": [0.5]}))
    rows = archive.signals().select(["run_id", "reward_gain", "own"]).to_pylist()
    assert repr(rows) == repr(
        [{"run_id": "a", "reward_gain": math.nan, "own": 1.0}, {"run_id": "b", "reward_gain": None, "own": 0.5}]
    )
    assert archive.signals(["b"]).num_rows == 1
    assert archive.sql("SELECT own FROM signals ORDER BY run_id")["own"].to_pylist() == [1.0, 0.5]


@pytest.mark.parametrize("run_id", ["absent", "RUN"])
def test_nothing_is_written_for_a_run_that_is_not_there(archive: Archive, worker: ModuleType, run_id: str) -> None:
    archive.write_run(worker.make_run())
    with pytest.raises(ArchiveError):
        archive.write_evaluations(run_id, worker.evaluations(run_id, "s"))
    with pytest.raises(ArchiveError):
        archive.write_signals(run_id, pa.table({"run_id": [run_id]}))
    assert archive.evaluations("run").num_rows == 0


def test_a_file_uri_is_a_local_archive(tmp_path: Path, worker: ModuleType) -> None:
    Archive(f"file://{tmp_path}/a").write_run(worker.make_run())
    assert Archive(tmp_path / "a").run_ids() == ["run"]


@pytest.mark.parametrize("uri", ["", "nosuchscheme://bucket/x"])
def test_a_uri_that_cannot_be_opened_is_refused(uri: str) -> None:
    with pytest.raises(ArchiveError):
        Archive(uri)


def test_an_archive_that_cannot_be_written_says_so(tmp_path: Path, worker: ModuleType) -> None:
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(ArchiveError, match="cannot be written"):
        Archive(tmp_path / "file" / "archive").write_run(worker.make_run())
    with pytest.raises(ArchiveError, match="cannot be written"):
        Archive(tmp_path / "file").write_run(worker.make_run())


def test_paths_and_texts_that_are_no_utf8_do_not_stop_a_run(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run(source="logs/\udcff", warnings=("\ud800",)))
    assert archive.read_run("run").source == "logs/\\udcff"
    assert not archive.write_run(worker.make_run(source="logs/\udcff", warnings=("\ud800",))).changed


def test_anybody_can_read_the_files(archive: Archive, worker: ModuleType) -> None:
    archive.write_run(worker.make_run())
    file = pq.ParquetFile(Path(archive.root) / "steps" / "run.1.parquet")
    assert file.metadata.metadata[b"rlchecks.schema_version"] == b"1"
    assert pq.read_table(Path(archive.root) / "steps").num_rows == 4
