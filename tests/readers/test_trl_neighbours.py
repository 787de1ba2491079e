from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rlchecks.readers import read_run
from rlchecks.readers.trl_neighbours import look_around

Write = Callable[[str, str | bytes], Path]

CARD = """# Model Card for run
This model was trained with GRPO, a method introduced in DeepSeekMath.
### Framework versions

- TRL: 0.15.2
- Transformers: 4.49.0
- Pytorch: 2.6.0
"""


def test_the_model_card_tells_versions_and_trainer(write: Write, tmp_path: Path) -> None:
    write("README.md", CARD)
    found = look_around([tmp_path])
    assert found.trl_version == "0.15.2"
    assert found.facts == {"transformers_version": "4.49.0", "trainer": "GRPO"}
    assert [file.path for file in found.inputs] == [str(tmp_path / "README.md")]


@pytest.mark.parametrize("name", ["requirements.txt", "wandb/run-1-a/files/requirements.txt"])
def test_a_list_of_packages_tells_versions(name: str, write: Write, tmp_path: Path) -> None:
    write(name, "torch==2.6.0\ntrl==1.16.0\ntransformers==5.24.0\n")
    found = look_around([tmp_path])
    assert (found.trl_version, found.facts) == ("1.16.0", {"transformers_version": "5.24.0"})


def test_settings_and_the_model_of_a_checkpoint_are_facts(write: Write, tmp_path: Path) -> None:
    write("training_args.json", '{"beta": 0.04, "num_generations": 8, "scale_rewards": "batch", "output_dir": "x"}')
    write("checkpoint-10/config.json", '{"transformers_version": "4.55.4", "beta": 9}')
    found = look_around([tmp_path, tmp_path / "checkpoint-10"])
    assert found.facts == {
        "beta": "0.04",
        "num_generations": "8",
        "scale_rewards": "batch",
        "transformers_version": "4.55.4",
    }


def test_the_first_place_counts_most(write: Write, tmp_path: Path) -> None:
    write("README.md", CARD)
    write("checkpoint-10/README.md", CARD.replace("0.15.2", "1.0.0").replace("4.49.0", "5.0.0"))
    found = look_around([tmp_path, tmp_path / "checkpoint-10"])
    assert (found.trl_version, found.facts["transformers_version"]) == ("0.15.2", "4.49.0")


@pytest.mark.parametrize("content", ["{", "[]", "\xff", "[" * 100_000, '{"transformers_version": {"a": 1}}', ""])
def test_unreadable_neighbours_tell_nothing(content: str, write: Write, tmp_path: Path) -> None:
    write("config.json", content)
    write("args.json", content)
    write("README.md", content)
    assert look_around([tmp_path]).facts == {}


def test_an_empty_directory_tells_nothing(tmp_path: Path) -> None:
    assert look_around([tmp_path, tmp_path]) == (None, {}, ())


def test_a_known_version_and_settings_reach_the_run(write: Write, write_state: Callable[..., Path]) -> None:
    row: dict[str, Any] = {"step": 1, "reward": 0.5, "reward_std": 0.1, "completions/mean_length": 9.0}
    state = write_state([{**row, "frac_reward_zero_std": 0.5, "entropy": 1.0, "step_time": 1.0}])
    write("run/README.md", CARD.replace("0.15.2", "0.27.1"))
    write("run/args.json", '{"beta": 0.0}')
    run = read_run(state.parent)
    assert run.framework_version == "0.27.1"
    assert run.facts["reward_std_semantics"] == "batch"
    assert run.facts["beta"] == "0.0"
    assert len(run.inputs) == 3


def test_a_version_without_end_takes_no_time_and_is_none(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("trl==1." + "1" * 900_000 + "!\n")
    assert look_around([tmp_path]).trl_version is None
