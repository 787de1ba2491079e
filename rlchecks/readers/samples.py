"""Rows that are answers, not steps: the files of rollouts and evaluations that frameworks write."""

from __future__ import annotations

from collections.abc import Iterable

_KNOWN = (
    # PrimeIntellect-ai/verifiers, results.jsonl and, in prime-rl up to 0.6, train_rollouts.jsonl.
    (frozenset({"example_id", "prompt", "completion", "reward"}), "answers that verifiers evaluated"),
    # NovaSky-AI/SkyRL skyrl/train/evaluate.py, dumped_evals.
    (frozenset({"input_prompt", "output_response", "score"}), "answers that SkyRL evaluated"),
    # NVIDIA-NeMo/RL nemo_rl/algorithms/grpo.py, train_data_step<N>.jsonl and val_data_step<N>.jsonl.
    (frozenset({"content", "rewards", "idx"}), "answers that NeMo-RL dumped at one step"),
    # verl-project/verl verl/trainer/ppo/ray_trainer.py; the directory of them is a run.
    (frozenset({"input", "output", "score", "step"}), "answers that verl dumped at one step"),
)


def answers(keys: Iterable[str]) -> str | None:
    """Say which answers rows with these keys are; None if no such framework is known."""
    present = frozenset(keys)
    kind = next((what for known, what in _KNOWN if known <= present), None)
    return None if kind is None else f"{kind}, one a row, not the steps of a training run"
