"""Makes ``tests/readers/data/console/``: what the progress callbacks of real transformers print for a short GRPO run.

The trainers themselves need a model; their callbacks, which do all the printing, do not. They are driven here as
``Trainer`` does, with the keys that TRL 1.16 logs::

    pip install transformers==5.23.0 tqdm==4.70.1 ipython numpy
    python console.py OUT

writes ``terminal.log`` (a terminal of 100 columns), ``file.log`` (both streams in one file) and ``callback.ipynb``.
With transformers 4.51.3::

    python console.py OUT terminal-4.51.log

The table of Unsloth comes from unsloth_zoo 2026.10.9, whose ``logging_utils.py`` imports torch and nothing of it::

    python console.py OUT unsloth.ipynb path/to/unsloth_zoo/logging_utils.py
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import time
import types
from pathlib import Path

STEPS = 24
EVERY = 2


def logs(step: int, seed: int) -> dict[str, float]:
    """What TRL would log at a step; the values come back in the tests."""
    return {
        "loss": 0.001 * step - 0.01 * seed,
        "grad_norm": 0.3 + 1 / (7 + step),
        "learning_rate": 1e-6 * (1 - step / 100),
        "num_tokens": 1200.0 * step,
        "completions/mean_length": 100 + step / 3,
        "completions/min_length": 10.0,
        "completions/max_length": 256.0,
        "completions/clipped_ratio": 0.0,
        "completions/mean_terminated_length": 100 + step / 3,
        "rewards/accuracy_reward/mean": 0.1 * seed + step / 77,
        "rewards/accuracy_reward/std": 0.25,
        "reward": 0.1 * seed + step / 77,
        "reward_std": 0.25,
        "frac_reward_zero_std": 0.125,
        "kl": 0.001 * step,
        "entropy": 1.5 - step / 50,
        "clip_ratio/region_mean": 0.0,
        "step_time": 2.5,
    }


def train(callback, seed: int, first: int, steps: int, evaluate: int = 0) -> None:
    """Drive a progress callback as transformers' ``Trainer`` does."""
    from transformers.trainer_callback import TrainerControl, TrainerState
    from transformers.trainer_utils import IntervalStrategy

    arguments = types.SimpleNamespace(eval_strategy=IntervalStrategy.STEPS if evaluate else IntervalStrategy.NO)
    state = TrainerState(max_steps=STEPS, num_train_epochs=1, is_world_process_zero=True)
    control = TrainerControl()
    state.global_step, state.epoch = first, first / 230
    callback.on_train_begin(arguments, state, control)
    for step in range(first + 1, steps + 1):
        state.global_step, state.epoch = step, step / 230
        time.sleep(0.01)
        callback.on_step_end(arguments, state, control)
        if step % EVERY == 0:
            row = {**logs(step, seed), "epoch": state.epoch}
            state.log_history.append({**row, "step": step})
            callback.on_log(arguments, state, control, logs=row)
        if evaluate and step % evaluate == 0:
            for _ in range(3):
                callback.on_prediction_step(arguments, state, control, eval_dataloader=range(3))
            metrics = {"eval_loss": 0.5, "eval_runtime": 1.25, "eval_reward": 0.4 + step / 1000}
            metrics |= {"eval_completions/mean_length": 99.5, "epoch": state.epoch}
            callback.on_log(arguments, state, control, logs=dict(metrics))
            callback.on_evaluate(arguments, state, control, metrics=dict(metrics))
    if steps == STEPS:
        closing = {"train_runtime": 60.5, "train_samples_per_second": 1.5, "train_loss": 0.01, "epoch": state.epoch}
        callback.on_log(arguments, state, control, logs=closing)
        callback.on_train_end(arguments, state, control)


def on_terminal() -> None:
    """A run that is killed and resumed; then another one, with an evaluation."""
    from transformers.trainer_callback import ProgressCallback

    print("loading the model", flush=True)
    train(ProgressCallback(), 1, 0, 15)
    print("\nKilled", flush=True)
    train(ProgressCallback(), 1, 10, STEPS)
    train(ProgressCallback(), 2, 0, STEPS, evaluate=12)
    print("done", flush=True)


def in_file() -> None:
    """One run whose two streams go into one file."""
    from transformers.trainer_callback import ProgressCallback

    train(ProgressCallback(), 1, 0, STEPS)


def notebook(outputs: list[str]) -> dict[str, object]:
    """Make a notebook of outputs in HTML."""
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": []}
    shown = [{"output_type": "display_data", "metadata": {}, "data": {"text/html": [html]}} for html in outputs]
    return {"cells": [{**cell, "outputs": shown}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def show(patch: Path | None) -> dict[str, object]:
    """Take what the notebook callback displays in the end."""
    import transformers.utils.notebook as module

    last: dict[int, str] = {}

    class Handle:
        def __init__(self, number: int) -> None:
            self.number = number

        def update(self, shown) -> None:
            last[self.number] = shown.data

    def display(shown, display_id: bool = False) -> Handle:
        last[len(last)] = shown.data
        return Handle(len(last) - 1)

    module.disp.display = display
    callback = module.NotebookProgressCallback()
    if patch is not None:
        sys.modules["torch"] = types.ModuleType("torch")
        space: dict[str, object] = {"__name__": "logging_utils"}
        exec(compile(patch.read_text(), str(patch), "exec"), space)
        metrics = ["reward", "reward_std", "completions/mean_length", "completions/clipped_ratio", "kl", "none"]
        kind = type(callback)
        module.NotebookTrainingTracker.write_line = space["NotebookTrainingTracker_write_line"](metrics)
        kind.on_train_begin = space["NotebookProgressCallback_on_train_begin"](metrics)
        kind.on_log = space["NotebookProgressCallback_on_log"](metrics)
        train(callback, 1, 0, STEPS)
    else:
        train(callback, 1, 0, STEPS, evaluate=6)
    return notebook([last[number] for number in sorted(last)])


def capture(what: str) -> bytes:
    """Run a part of this script on a terminal of 100 columns."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    with subprocess.Popen([sys.executable, __file__, what], stdin=writer, stdout=writer, stderr=writer) as process:
        os.close(writer)
        text = b""
        while True:
            try:
                block = os.read(reader, 1 << 16)
            except OSError:
                break
            if not block:
                break
            text += block
        process.wait()
    return text


def main() -> None:
    os.environ["TRANSFORMERS_VERBOSITY"] = "error"
    if sys.argv[1] == "on_terminal":
        return on_terminal()
    if sys.argv[1] == "in_file":
        return in_file()
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:3] or ["terminal.log", "file.log", "callback.ipynb"]
    for name in names:
        if name.startswith("terminal"):
            (out / name).write_bytes(capture("on_terminal"))
        elif name == "file.log":
            with open(out / name, "wb") as file:
                subprocess.run([sys.executable, __file__, "in_file"], stdout=file, stderr=file, check=True)
        else:
            patch = Path(sys.argv[3]) if len(sys.argv) > 3 else None
            (out / name).write_text(json.dumps(show(patch), indent=1))
    return None


if __name__ == "__main__":
    main()
