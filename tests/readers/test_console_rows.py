"""Which printed dictionaries are logged rows, and lines of other trainers than Hugging Face's."""

from __future__ import annotations

import pprint

import pytest

from rlchecks.readers import console_torchtune, console_verl
from rlchecks.readers.console_found import Scan
from tests.readers.consoles import found_in, rows_in, wrap

VERL = {
    "actor/pg_loss": -0.0008,
    "actor/lr": 1e-06,
    "critic/score/mean": 0.53125,
    "response_length/mean": 212.25,
    "response_length/clip_ratio": 0.015625,
    "val-core/openai/gsm8k/acc/mean@1": 0.25,
    "perf/throughput": 1234.5,
}


def verl_line(step: int, row: dict[str, float], form: str = "{}") -> str:
    return " - ".join([f"step:{step}", *(f"{key}:{form.format(value)}" for key, value in row.items())])


def steps_of(found: Scan) -> list[tuple[str, int | None, str]]:
    return [(entry.kind, entry.step, entry.name) for entry in found.entries]


@pytest.mark.parametrize(
    ("text", "kind", "step"),
    [
        ("{'loss': 0.1, 'reward': 0.5, 'epoch': 0.1}", "trainer", None),
        ("{'loss': '0.1', 'epoch': '0.1'}", "trainer", None),
        ("{'train_runtime': 12.5, 'train_loss': 0.1, 'epoch': 1.0}", "trainer", None),
        ("{'eval_reward': 0.5, 'epoch': 1.0}", "trainer", None),
        ("{'objective/kl': 0.5, 'objective/scores': 1.0, 'episode': 8, 'epoch': 1.0}", "trainer", None),
        ("{'loss': 0.1, 'epoch': 0.1, 'global_step/max_steps': '10/438', 'memory(GiB)': 60}", "trainer", 10),
        ("{'loss': 0.1, 'epoch': 0.1, 'iteration': '10/438'}", "trainer", 10),
        ("{'loss': 0.1, 'epoch': 0.1, 'step': 7}", "trainer", 7),
        ("{'step': 5, 'reward': 0.5}", "counted", 5),
        ('{"step": 5, "loss": 0.5, "note": null, "ok": true}', "counted", 5),
        ("{'global_step': 5, 'kl': 0.5}", "counted", 5),
        ("{'loss': 0.1, 'reward': 0.5}", "plain", None),
        ("INFO trainer.py:12 >> {'loss': 0.1, 'reward': 0.5, 'epoch': 0.1} (rank 0)", "trainer", None),
        ("✨ Global step 12: {'policy_loss': -0.5, 'reward': 0.25, 'response_length': 100.0}", "openrlhf", 12),
        ("Global step 12: {'policy_loss': -0.5, 'reward': 0.25, 'kl': None}", "openrlhf", 12),
        ("✨ Evaluation completed in 0:01:02, global_step 12, eval_metrics: {'eval_gsm8k_pass1': 0.5}", "openrlhf", 12),
        ("Eval at step 12: {'eval_gsm8k_pass1': 0.5}", "openrlhf", 12),
        (
            "[2026-08-01 10:00:00] data.py:9 - rollout 3: {'rollout/raw_reward': 0.5, 'rollout/rewards': 0.0}",
            "slime",
            3,
        ),
        ("perf 3: {'rollout/response_len/mean': 100.5, 'perf/rollout_time': 12.5}", "slime", 3),
        ("step 3: {'train/loss': 0.5, 'train/step': 3}", "slime", 3),
        ("eval 3: {'eval/aime': 0.5}", "slime", 3),
    ],
)
def test_what_a_trainer_logs_is_a_row(text: str, kind: str, step: int | None) -> None:
    found = found_in(f"{text}\n")
    assert [(entry.kind, entry.step) for entry in found.entries] == [(kind, step)]
    assert found.lost == 0


@pytest.mark.parametrize(
    "text",
    [
        "{'PASS': 8, 'FLAG': 9}",
        "{'accuracy': 0.5, 'f1': 0.3}",
        "{'reward': 0.5}",
        "{'reward': 0.5, 'answer': 7}",
        "{'step': 5, 'length': 7}",
        "{'step': 5, 'reward': 'high'}",
        "{'step': 5, 'prompt': 'q', 'completion': 'a', 'reward': 1.0}",
        "{'epoch': 3, 'accuracy': 0.5}",
        "accelerator_config={'loss': 0.1, 'epoch': 1}",
        "TrainOutput(global_step=9, metrics={'train_runtime': 9.5, 'epoch': 1.0})",
        "[{'loss': 0.1, 'epoch': 0.1, 'step': 1}, {'loss': 0.1, 'epoch': 0.2, 'step': 2}]",
        "[{'loss': 0.1, 'epoch': 0.1, 'step': 1},\n {'loss': 0.1, 'epoch': 0.2, 'step': 2}]",
        "{'best': {'loss': 0.1, 'epoch': 0.1}}",
        "log({'loss': 0.1, 'epoch': 0.1})",
        "{\n  'loss': 0.1,\n  'epoch': 0.1\n}",
        "print({'loss': loss, 'epoch': epoch})",
        "step 5: {'PASS': 8}",
        "rollout 5: {'done': 8}",
        "Global step 5: {'PASS': 8}",
        "step:5 - do this, step:6 - do that",
        "step:1 - note:7",
        "Step 5 | loss: 0.25 | reward: 0.5",
        "Step 5 |   12.3s | Reward 0.5",
    ],
)
def test_what_people_print_is_no_row(text: str) -> None:
    found = found_in(f"{text}\n")
    assert (len(found.rows), found.lost) == (0, 0)


@pytest.mark.parametrize(
    ("form", "rounded"),
    [("{:.3f}", "3 decimals"), ("{!r}", None), ("np.float64({!r})", None), ("np.float32({:.3f})", None)],
)
def test_verl_lines_of_all_versions(form: str, rounded: str | None) -> None:
    prefix = "\x1b[36m(TaskRunner pid=2842, ip=10.0.0.1)\x1b[0m "
    found = found_in("".join(f"{prefix}{verl_line(step, VERL, form)}\n" for step in (0, 1, 2)))
    assert steps_of(found) == [("verl", step, "") for step in (0, 1, 2)]
    expected = {key: float(f"{value:.3f}") if ".3f" in form else value for key, value in VERL.items()}
    assert all(dict(row) == pytest.approx(expected) for row in found.rows)
    assert {entry.rounded for entry in found.entries} == {rounded}


def test_verl_values_that_are_no_finite_numbers() -> None:
    line = "step:7 - actor/grad_norm:nan - critic/score/mean:-inf - actor/lr(1e-4):0.010 - f/ok:True - n/i:np.int64(-3)"
    assert repr(rows_in(line + "\n")) == repr(
        [
            {
                "actor/grad_norm": float("nan"),
                "critic/score/mean": float("-inf"),
                "actor/lr(1e-4)": 0.01,
                "f/ok": True,
                "n/i": -3,
            }
        ]
    )


@pytest.mark.parametrize("width", [40, 60, 77, 80, 120, 180])
def test_verl_lines_that_a_terminal_broke_are_joined(width: int) -> None:
    rows = [{**VERL, "critic/score/mean": 0.5 + step / 1000} for step in range(20)]
    text = "".join(f"(TaskRunner pid=1) {verl_line(step, row)}\n" for step, row in enumerate(rows))
    for strip in (False, True):
        found = found_in(wrap(text, width, strip=strip))
        assert [entry.step for entry in found.entries] == list(range(20))
        for row, expected in zip(found.rows, rows, strict=True):
            # The very last value may be left out, where the line ends with the terminal's.
            assert {key: expected[key] for key in row} == dict(row)
            assert len(row) >= len(expected) - 1
        assert found.lost == 0


def test_a_verl_line_that_is_mixed_with_other_text_is_given_up_and_counted() -> None:
    line = verl_line(3, VERL)
    found = found_in(f"{line[:60]}INFO hello {line[60:]}\n{verl_line(4, VERL)}\n")
    assert steps_of(found) == [("verl", 4, "")]
    assert found.lost == 1


def test_the_last_value_of_a_verl_line_without_an_end_is_left_out() -> None:
    found = found_in(f"{verl_line(3, VERL)}\n{verl_line(4, VERL)[:-2]}")
    assert [len(row) for row in found.rows] == [len(VERL), len(VERL) - 1]
    assert found.cut == 1


def test_a_verl_line_that_was_cut_loses_its_last_value() -> None:
    # A job was killed in the midst of a number, and the next line of the log begins.
    short = verl_line(4, VERL).split(" - perf/")[0][:-1]
    found = found_in(f"{verl_line(3, VERL)}\n{short}\nslurmstepd: error: CANCELLED\n")
    assert [len(row) for row in found.rows] == [len(VERL), len(VERL) - 2]
    assert found.cut == 1


def test_no_line_that_is_cut_anywhere_gives_a_wrong_number() -> None:
    line = verl_line(4, VERL)
    for stop in range(len(line)):
        for row in found_in(line[:stop]).rows:
            assert {key: VERL[key] for key in row} == dict(row)


def test_validation_before_the_first_step_counts_once() -> None:
    metrics = {key: value for key, value in VERL.items() if key.startswith("val-")} | {"timing_s/testing": 12.25}
    for text in (f"Initial validation metrics: {metrics}", f"Initial validation metrics: { {'val/a': 1.5} }"):
        block = "".join(f"(TaskRunner pid=1) {line}\n" for line in pprint.pformat(text).splitlines())
        found = found_in(block + f"(TaskRunner pid=1) {verl_line(0, metrics)}\n")
        assert [(entry.step, entry.name) for entry in found.entries] == [(None, "initial"), (0, "")]
    plain = found_in(f"Initial validation metrics: {metrics}\n")
    assert [dict(row) for row in plain.rows] == [metrics]


def test_validation_metrics_with_numpy_numbers_printed_over_many_lines() -> None:
    values = ", ".join(f"'val-core/set {number}/acc/mean@8': np.float64(0.{number}5)" for number in range(9))
    block = pprint.pformat(f"Initial validation metrics: {{{values}}}")
    assert block.startswith("(")
    (row,) = rows_in(block + "\n")
    assert row == {f"val-core/set {number}/acc/mean@8": float(f"0.{number}5") for number in range(9)}


def test_skyrl_prints_its_label_in_the_line_before() -> None:
    row = {
        "reward/avg_raw_reward": "0.5000",
        "policy/policy_lr": "0.0000",
        "trainer/global_step": 7,
        "timing/step": "12.2500",
    }
    text = "(skyrl_entrypoint pid=3) 2026-08-01 10:00:00.123 | INFO | skyrl.tracking:log:190 - Step 7: \n"
    text += "".join(f"(skyrl_entrypoint pid=3) {line}\n" for line in pprint.pformat(row).splitlines())
    found = found_in(text)
    assert steps_of(found) == [("skyrl", 7, "")]
    assert found.entries[0].rounded == "4 decimals"
    assert dict(found.rows[0])["reward/avg_raw_reward"] == 0.5


def test_torchtune_lines() -> None:
    text = "Step 4 | loss:0.25 rewards:tensor(0.5) kl_loss:tensor(1.5, device='cuda:0') note:warm-up lr:1e-05 \n"
    found = found_in(text)
    assert steps_of(found) == [("torchtune", 4, "")]
    assert dict(found.rows[0]) == {"loss": 0.25, "rewards": 0.5, "kl_loss": 1.5, "note": "warm-up", "lr": 1e-05}
    # Without a blank behind it the last value may be cut.
    assert console_torchtune.read_line("Step 4 | loss:0.25 lr:1e-0", ended=False) == (4, {"loss": 0.25}, True)
    assert found_in("Step 4 | loss:0.25 rewards: :5 \n").lost == 1


def test_nemo_rl_prints_the_step_of_the_epoch() -> None:
    text = ""
    for epoch, steps in ((1, (1, 2)), (2, (1, 2))):
        text += f"\n{'=' * 25} Epoch {epoch}/2 {'=' * 25}\n"
        for step in steps:
            text += f"\n{'=' * 25} Step {step}/2 {'=' * 25}\n▶ Generating...\n"
            text += "\n📊 Validation Results:\n    • Accuracy: 0.2500\n    • Average response length: 90.5 tokens\n"
            text += "    • Samples processed: 64\n\n  ⏱️  Validation Timing:\n    • Total validation time: 9.00s\n"
            text += f"\n📊 Training Results:\n  • Loss: -0.0123\n  • Avg Reward: 0.{epoch}{step}00\n"
            text += "  • Mean Generation Length: 100.5000\n\n⏱️  Timing:\n  • Total step time: 9.00s\n"
    found = found_in(text)
    assert [entry.step for entry in found.entries] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert dict(found.rows[6]) == {"validation/accuracy": 0.25, "validation/avg_length": 90.5}
    expected = {"train/loss": -0.0123, "train/reward": 0.22, "train/mean_gen_tokens_per_sample": 100.5}
    assert dict(found.rows[7]) == expected
    # A log that begins in a later epoch.
    resumed = f"{'=' * 25} Epoch 3/5 {'=' * 25}\n{'=' * 25} Step 7/50 {'=' * 25}\n📊 Training Results:\n  • Loss: 0.5\n"
    assert found_in(resumed).entries[0].step == 107


def test_planned_steps_that_are_printed_are_found() -> None:
    text = (
        "(main_task pid=2105103) Total training steps: 560\n  Total optimization steps = 1,000\n | Total steps = 250\n"
    )
    assert [total for _, total in found_in(text).planned] == [560, 1000, 250]


@pytest.mark.parametrize("line", ["answer = [", '  {"a": 1},', "},", "(", "see:", "x =", "'key':"])
def test_a_row_behind_a_line_that_ends_as_a_list_does_is_one(line: str) -> None:
    # Generated code is full of them.
    assert rows_in(f"{line}\n{{'loss': 1, 'epoch': 0.1}}\n") == [{"loss": 1, "epoch": 0.1}]


@pytest.mark.parametrize("width", [20, 24, 80, 500])
def test_a_list_of_rows_that_is_printed_in_the_end_is_none(width: int) -> None:
    rows = [{"loss": number / 7, "epoch": number / 10, "step": number} for number in range(1, 9)]
    for text in (repr(rows), pprint.pformat(rows), f"history: {rows}"):
        found = found_in(wrap(text + "\n{'loss': 1, 'epoch': 0.1}\n", width))
        assert [dict(row) for row in found.rows] == [{"loss": 1, "epoch": 0.1}]


def test_several_rows_in_one_line_are_all_found() -> None:
    text = "a {'loss': 1, 'epoch': 0.1} b {'loss': 2, 'epoch': 0.2} step:5 - a/b:0.5\n"
    assert [row["loss"] for row in rows_in(text)[:2]] == [1, 2]
    assert steps_of(found_in(text))[2] == ("verl", 5, "")


def test_what_is_no_line_of_theirs_is_none() -> None:
    assert console_verl.read_line("steps") is None
    assert console_torchtune.read_line("Step 4", ended=True) is None
    assert console_verl.read_initial(["no text"]) is None
