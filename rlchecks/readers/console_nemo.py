"""NeMo-RL's printed results (NeMo-RL ``nemo_rl/algorithms/grpo.py``): a few metrics with four decimals.

::

    ========================= Step 3/100 =========================
    ...
    📊 Training Results:
      • Loss: -0.0123
      • Avg Reward: 0.4375

What is printed under a label is logged under the key given here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rlchecks.readers.console_literal import NUMBER, number_of

_HEADING = re.compile(r"={5,} (?P<what>Step|Epoch) (?P<count>\d{1,13})/(?P<total>\d{1,13}) ={5,}")
_BULLET = re.compile(rf"\s*•\s*(?P<label>[^:]{{1,80}}): (?P<number>{NUMBER})(?: tokens)?\s*\Z")
_KEYS = {
    "Training": {
        "Loss": "train/loss",
        "Generation KL Error": "train/gen_kl_error",
        "Avg Reward": "train/reward",
        # With dynamic sampling the reward is that of all samples.
        "Avg Total Reward": "train/reward",
        "Avg Filtered Reward": "train/filtered_reward",
        "Mean Generation Length": "train/mean_gen_tokens_per_sample",
    },
    "Validation": {"Accuracy": "validation/accuracy", "Average response length": "validation/avg_length"},
}


@dataclass
class Nemo:
    """What the headings told so far; the printed step begins anew in each epoch.

    Attributes:
        step: the step in all, 0 before the first.
        planned: steps planned, if the log is in its first epoch.
        epoch: the epoch, from 1.
        before: steps before this epoch; None if its predecessors are not in the log.
    """

    step: int = 0
    planned: int | None = None
    epoch: int = 1
    before: int | None = 0

    def heading(self, text: str) -> None:
        """Take note of a heading."""
        found = _HEADING.search(text)
        if found is None:
            return
        count, total = int(found["count"]), int(found["total"])
        if found["what"] == "Epoch":
            follows = count == self.epoch + 1 and self.step
            self.before = self.step if follows else 0 if count == 1 else None
            self.epoch = count
        else:
            before = (self.epoch - 1) * total if self.before is None else self.before
            self.step = before + count
            self.planned = total if self.epoch == 1 else None


def results(title: str, lines: Iterable[str]) -> dict[str, object]:
    """Read the metrics below a title.

    Args:
        title: the line ``Training Results:`` or ``Validation Results:``.
        lines: the lines below it.
    """
    keys = _KEYS["Training" if "Training" in title else "Validation"]
    bullets = [bullet for line in lines if (bullet := _BULLET.fullmatch(line))]
    return {keys[bullet["label"]]: number_of(bullet["number"]) for bullet in bullets if bullet["label"] in keys}


def is_bullet(line: str) -> bool:
    """Whether a line is one of a list of results."""
    return line.lstrip().startswith("•")
