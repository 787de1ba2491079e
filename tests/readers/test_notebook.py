"""The outputs of notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.errors import InputError, NotARunError
from rlchecks.readers import find_runs, notebook, read_run
from rlchecks.readers.notebook import NotebookReader
from rlchecks.readers.notebook_tables import tables_in
from rlchecks.run import RunLog
from tests.readers.consoles import bar, printed, rows_of

Write = Callable[[str, str | bytes], Path]

DATA = Path(__file__).parent / "data" / "console"


def document(*cells: Sequence[Mapping[str, object]]) -> str:
    """A notebook of cells with these outputs."""
    made = [{"cell_type": "markdown", "source": ["# {'loss': 9, 'reward': 9, 'epoch': 9}"]}]
    made += [{"cell_type": "code", "source": ["train()"], "outputs": list(outputs)} for outputs in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def stream(text: str | list[str], name: str = "stdout") -> dict[str, object]:
    return {"output_type": "stream", "name": name, "text": text}


def shown(html: str | list[str], plain: str = "<IPython.core.display.HTML object>") -> dict[str, object]:
    return {"output_type": "display_data", "data": {"text/html": html, "text/plain": [plain]}, "metadata": {}}


def table(heading: Sequence[str], rows: Sequence[Sequence[object]], planned: int = 9) -> str:
    head = "".join(f"<th>{name}</th>" for name in heading)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    progress = f"<progress value='3' max='{planned}' style='width:300px'></progress>[3/{planned} 00:01]"
    style = '<table border="1" class="dataframe">'
    return f"<div>{progress}</div>{style}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>"


def steps(run: RunLog) -> list[int]:
    return list(run.training_steps["step"].to_pylist())


def rewards(run: RunLog) -> list[float | None]:
    return list(run.training_steps["reward"].to_pylist())


def test_rows_printed_in_cells_are_read_in_order(write: Write) -> None:
    rows = rows_of(6)
    path = write(
        "a.ipynb",
        document(
            [stream("!pip install trl\n")],
            [
                stream(printed(rows[:2]).splitlines(keepends=True)),
                stream(f"\r{bar(2, 6)}", "stderr"),
                stream(printed(rows[2:])),
            ],
        ),
    )
    run = read_run(path)
    assert rewards(run) == [row["reward"] for row in rows]
    assert [one.bytes for one in run.inputs] == [path.stat().st_size]


def test_a_row_that_an_error_stream_cut_is_joined(write: Write) -> None:
    rows = rows_of(2)
    text = repr(rows[0])
    outputs = [stream(text[:100]), stream(f"\r{bar(1, 2)}", "stderr"), stream(f"{text[100:]}\n{rows[1]!r}")]
    assert rewards(read_run(write("a.ipynb", document(outputs)))) == [row["reward"] for row in rows]


def test_results_of_cells_are_read_but_not_what_train_returns(write: Write) -> None:
    rows = rows_of(3)
    result = "TrainOutput(global_step=3, training_loss=0.1, metrics={'train_runtime': 9.5, 'epoch': 0.5})"
    outputs = [
        *({"output_type": "execute_result", "data": {"text/plain": repr(row)}} for row in rows),
        {"output_type": "execute_result", "data": {"text/plain": [result]}},
        {"output_type": "error", "ename": "X", "evalue": repr(rows[0]), "traceback": [repr(rows[0])]},
    ]
    run = read_run(write("a.ipynb", document(outputs)))
    assert steps(run) == [1, 2, 3]


def test_the_table_of_transformers_is_read() -> None:
    run = read_run(DATA / "callback.ipynb")
    assert steps(run) == [6, 12, 18, 24]
    assert run.planned_steps == 24
    assert run.training_steps["loss"].to_pylist() == [-0.004, 0.002, 0.008, 0.014]
    assert run.training_steps["reward"].null_count == 4
    assert run.validation["step"].to_pylist() == [6, 12, 18, 24]
    assert run.validation["score"].to_pylist() == [0.406, 0.412, 0.418, 0.424]
    assert [row["mean_length"] for row in run.steps.to_pylist() if row["split"] == "eval"] == [99.5] * 4


def test_the_table_of_unsloth_is_read() -> None:
    run = read_run(DATA / "unsloth.ipynb")
    assert steps(run) == list(range(2, 25, 2))
    assert rewards(run) == pytest.approx([0.1 + step / 77 for step in range(2, 25, 2)], abs=6e-7)
    assert run.graders == ("accuracy_reward",)
    assert run.training_steps["mean_length"].to_pylist() == pytest.approx([100 + step / 3 for step in range(2, 25, 2)])
    assert run.facts["printed_numbers"] == "rounded to 6 decimals (inferred)"
    # The table hides keys, so that those which it lacks tell nothing about the version.
    assert run.facts["reward_std_semantics"] == "unknown"
    assert "trl_keys" not in run.facts
    assert "zero_std_fraction" in run.facts["metrics_not_loggable"].split(",")


def test_headings_of_evaluations_are_not_those_of_training(write: Write) -> None:
    heading = ["Step", "Training Loss", "Validation Loss", "Reward", "Rewards/f Name/mean", "Kl"]
    rows = [[10, "0.100000", "0.500000", "0.250000", "0.250000", "No Log"], [20, "No log", "0.5", "nan", "0.3", ""]]
    run = read_run(write("a.ipynb", document([shown(table(heading, rows))])))
    assert run.training_steps.select(["step", "reward", "loss"]).to_pylist() == [
        {"step": 10, "reward": None, "loss": 0.1}
    ]
    assert [(row["grader"], row["step"]) for row in run.validation.to_pylist()][:2] == [(None, 10), ("f_name", 10)]


def test_epochs_take_the_place_of_steps(write: Write) -> None:
    rows = [[1, "0.5", "0.5", "0.25"], [2, "0.4", "0.5", "0.5"]]
    run = read_run(
        write("a.ipynb", document([shown(table(["Epoch", "Training Loss", "Validation Loss", "Reward"], rows))]))
    )
    assert run.validation["score"].to_pylist() == [0.25, 0.5]
    assert run.training_steps["epoch"].to_pylist() == [1.0, 2.0]


def test_several_trainings_of_a_notebook_are_runs(write: Write) -> None:
    one = table(["Step", "Training Loss", "reward"], [[1, "0.5", "0.1"], [2, "0.5", "0.2"]])
    other = table(["Step", "Training Loss", "reward"], [[1, "0.5", "0.3"], [2, "0.5", "0.4"], [3, "0.5", "0.5"]])
    path = write("a.ipynb", document([shown(one)], [shown(other)], [stream(printed(rows_of(4)))]))
    assert [str(source) for source in find_runs(path).sources] == [f"{path}#{part}" for part in "123"]
    assert [rewards(read_run(f"{path}#{part}"))[0] for part in "12"] == [0.1, 0.3]
    assert len(steps(read_run(f"{path}#3"))) == 4
    with pytest.raises(NotARunError, match="3 runs"):
        read_run(path)


def test_a_table_that_goes_on_in_the_next_cell_is_one_run(write: Write) -> None:
    one = table(["Step", "Training Loss", "reward"], [[1, "0.5", "0.1"], [2, "0.5", "0.2"]])
    other = table(["Step", "Training Loss", "reward"], [[3, "0.5", "0.3"]])
    assert rewards(read_run(write("a.ipynb", document([shown(one)], [shown(other)])))) == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_earlier_state_of_a_table_counts_once(order: tuple[int, int], write: Write) -> None:
    rows = [[1, "0.5", "0.1"], [2, "0.5", "0.2"], [3, "0.5", "0.3"]]
    shows = [shown(table(["Step", "Training Loss", "reward"], rows[:count])) for count in (2, 3)]
    assert rewards(read_run(write("a.ipynb", document([shows[place] for place in order])))) == [0.1, 0.2, 0.3]


def test_other_tables_are_none_of_ours(write: Write) -> None:
    html = table(["", "reward", "step"], [[0, 1, 2]]) + table(["Step", "reward"], [[1, 0.5]])
    assert list(tables_in(html)) == []
    with pytest.raises(NotARunError, match="found"):
        read_run(write("a.ipynb", document([shown(html)])))


def test_rows_of_another_length_are_left_out_and_counted(write: Write) -> None:
    html = table(["Step", "Training Loss", "reward"], [[1, "0.5", "0.1"], [2, "0.5"], [3, "0.5", "0.3"]])
    run = read_run(write("a.ipynb", document([shown(html)])))
    assert steps(run) == [1, 3]
    assert "1 row cut apart or mixed with other output: left out" in run.warnings


def test_html_is_text_and_never_more(write: Write) -> None:
    heading = ["Step", "Training Loss", "reward", "<script>alert(1)</script>&lt;x&gt;", "=1+1", "../../etc"]
    run = read_run(
        write("a.ipynb", document([shown(table(heading, [[1, "0.5", "0.1", "<img onerror=x>9", "1", "2"]]))]))
    )
    assert rewards(run) == [0.1]
    # Tags inside of a cell are no part of its text that is believed to be a number.
    assert "=1+1" in run.unmapped


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[1]", "found"),
        ('{"cells": 5}', "found a notebook without a logged step in its outputs; looked for a notebook"),
        (
            '{"cells": [5, {"outputs": 5}, {"outputs": [5, {"data": 5}, {"output_type": "stream", "text": {}}]}]}',
            "found",
        ),
        (document([stream("hello\n")]), "found"),
        ("", "found an empty file"),
    ],
)
def test_what_is_no_training_is_refused(content: str, told: str, write: Write) -> None:
    with pytest.raises(NotARunError, match=told):
        read_run(write("a.ipynb", content))


def test_damage_is_an_error_that_says_where(write: Write) -> None:
    text = document([stream(printed(rows_of(3)))])
    with pytest.raises(InputError, match=r"line 1, column \d+: no valid JSON"):
        read_run(write("a.ipynb", text[:-30]))
    with pytest.raises(InputError, match=r"not a notebook|no notebook of format 4"):
        read_run(write("a.ipynb", text.replace('"cells"', '"sells"')))
    with pytest.raises(InputError, match="nested too deeply"):
        read_run(write("a.ipynb", '{"reward": "\'reward\'", "a": ' + "[" * 100_000))
    run = read_run(write("a.ipynb", text.replace('"metadata": {}', '"metadata": {}, "nbformat": 4')))
    assert "1 object with a key given twice: the last one counts" in run.warnings


def test_a_large_notebook_is_known_by_the_names_in_it(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "LOOKED_INTO", 10)
    reader = NotebookReader()
    assert reader.detect(write("a.ipynb", document([stream(printed(rows_of(3)))])), b"{")
    assert not reader.detect(write("b.ipynb", '{"cells": []}'), b"{")
    assert not reader.detect(write("c.json", document([stream(printed(rows_of(3)))])), b"{")


@given(st.text(st.sampled_from("<>/tablerdhSpog'=\" \n0123.&;"), max_size=200))
def test_no_html_makes_it_fail(text: str) -> None:
    list(tables_in("<table><tr><th>Step</th><th>Training Loss</th></tr>" + text))


def test_long_html_takes_time_in_proportion() -> None:
    for text in ("<" * 10**6, "<td>" * 10**6, "</td>" * 10**6, "<table>" * 10**6, "<td>" + "x" * 10**7, "<a" * 10**6):
        assert list(tables_in(text)) == []
