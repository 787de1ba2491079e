"""Make the event files in ``../tensorboard`` with the real packages.

The committed ones were made with tensorboard 2.21.0, torch 2.14.1 and tensorboardX 2.6.5, and Python 3.11:

    pip install tensorboard==2.21.0 torch==2.14.1 tensorboardX==2.6.5
    python -P tests/readers/data/make/tensorboard.py OUTPUT

(``-P``, since this file has the name of a package.) Only the names of the files are changed, so that none holds the
name of the machine. The directories:

- ``simple``: torch's SummaryWriter as transformers uses it, with the arguments as text; values in ``simple_value``.
- ``new_style``: the same scalars with ``new_style=True``, as torchtune logs them; ``double``: with
  ``double_precision=True`` as well; ``tensorboardx``: by tensorboardX, with histograms and pictures in between.
- ``kinds``: summaries of tensorboard's own library as TensorFlow 2 writes them, scalars of other types, several
  scalars in one event, and what is no scalar.
- ``runs``: two starts of one run, with a directory of ``add_hparams`` in the first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import tensorboardX
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from torch.utils.tensorboard import SummaryWriter

STEPS = 12
BEGUN = 1796047968
ARGUMENTS = {
    "output_dir": "out",
    "max_steps": STEPS,
    "logging_steps": 1,
    "beta": 0.04,
    "num_generations": 8,
    "max_completion_length": 64,
    "scale_rewards": "group",
    "loss_type": "dapo",
    "eval_steps": None,
    "report_to": ["tensorboard"],
}
MODEL = {"architectures": ["LlamaForCausalLM"], "transformers_version": "5.24.0", "vocab_size": 52}


def metrics(step: int) -> dict[str, float]:
    """The keys of TRL's GRPO trainer as Hugging Face's callback passes them on."""
    return {
        "train/loss": -0.0179 / step,
        "train/grad_norm": 0.5 / step,
        "train/learning_rate": 0.0001,
        "train/num_tokens": 150.0 * step,
        "train/completions/mean_length": 14 + step / 32,
        "train/completions/clipped_ratio": 0.1,
        "train/rewards/accuracy_reward/mean": 0.25 + step / 64,
        "train/reward": 0.25 + step / 64,
        "train/reward_std": 1 / (3 + step),
        "train/frac_reward_zero_std": 0.0,
        "train/kl": 0.001 * step if step % 5 else float("nan"),
        "train/epoch": step / 300,
    }


def log(writer: SummaryWriter, first: int, last: int, **style: bool) -> None:
    for step in range(first, last + 1):
        for key, value in metrics(step).items():
            writer.add_scalar(key, value, step, **style)


def start(writer: SummaryWriter) -> None:
    """What transformers writes before it trains."""
    writer.add_text("args", json.dumps(ARGUMENTS, indent=2))
    writer.add_text("model_config", json.dumps(MODEL, indent=2))


def simple(place: Path) -> None:
    with SummaryWriter(str(place)) as writer:
        start(writer)
        log(writer, 1, STEPS)


def new_style(place: Path) -> None:
    with SummaryWriter(str(place)) as writer:
        log(writer, 1, STEPS, new_style=True)


def double(place: Path) -> None:
    with SummaryWriter(str(place)) as writer:
        log(writer, 1, STEPS, new_style=True, double_precision=True)


def tensorboardx(place: Path) -> None:
    noise = np.random.default_rng(1)
    with tensorboardX.SummaryWriter(str(place)) as writer:
        for step in range(1, STEPS + 1):
            for key, value in metrics(step).items():
                writer.add_scalar(key, value, step)
            if step % 4 == 0:
                writer.add_histogram("weights", noise.normal(size=50), step, bins=10)
                writer.add_image("picture", noise.random((3, 8, 8)), step)


def tensor(kind: int, **values: object) -> tensor_pb2.TensorProto:
    return tensor_pb2.TensorProto(dtype=kind, tensor_shape=tensor_shape_pb2.TensorShapeProto(), **values)


def kinds(place: Path) -> None:
    writer = EventFileWriter(str(place))
    value = summary_pb2.Summary.Value
    half = int(np.array(0.1, np.float16).view(np.uint16))
    brain = int(np.array(0.1, np.float32).view(np.uint32)) >> 16
    for step in range(1, STEPS + 1):
        number = 0.25 + step / 64
        several = [
            value(tag="train/reward", simple_value=number),
            value(tag="train/loss", tensor=tensor(1, float_val=[0.1])),
            value(tag="content", tensor=tensor(2, tensor_content=np.array(number).tobytes())),
        ]
        tensors = {
            "half": tensor(19, half_val=[half]),
            "bfloat16": tensor(14, half_val=[brain]),
            "bfloat16_content": tensor(14, tensor_content=brain.to_bytes(2, "little")),
            "int32": tensor(3, int_val=[-step]),
            "int64": tensor(9, int64_val=[step << 40]),
            "uint64": tensor(23, uint64_val=[2**63]),
            "true": tensor(10, bool_val=[True]),
            "nothing": tensor(1),
            "vector": tensor_pb2.TensorProto(
                dtype=1,
                tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=2)]),
                float_val=[0.5, 0.5],
            ),
        }
        summaries = [
            summary_pb2.Summary(value=several),
            scalar_pb("train/kl", 0.001 * step),
            histogram_pb("spread", np.arange(20.0), buckets=4),
            *(summary_pb2.Summary(value=[value(tag=tag, tensor=one)]) for tag, one in tensors.items()),
        ]
        for summary in summaries:
            writer.add_event(event_pb2.Event(wall_time=BEGUN + step, step=step, summary=summary))
    writer.close()


def runs(place: Path) -> None:
    with SummaryWriter(str(place / "Nov30_14-12-48_host")) as writer:
        start(writer)
        writer.add_hparams({"beta": 0.04, "loss_type": "dapo"}, metric_dict={}, run_name=f"{BEGUN}.123")
        log(writer, 1, 9)
    with SummaryWriter(str(place / "Nov30_14-13-30_host")) as writer:
        start(writer)
        log(writer, 7, STEPS)


def rename(output: Path) -> None:
    for number, path in enumerate(sorted(output.rglob("events.out.tfevents.*"), key=lambda path: path.stat().st_mtime)):
        path.rename(path.with_name(f"events.out.tfevents.{BEGUN + number}.host.1.0"))


def main() -> None:
    output = Path(sys.argv[1])
    for make in (simple, new_style, double, tensorboardx, kinds, runs):
        make(output / make.__name__)
    rename(output)


if __name__ == "__main__":
    main()
