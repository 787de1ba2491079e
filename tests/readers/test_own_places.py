from __future__ import annotations

import pytest

from rlchecks.readers.own_places import is_own


@pytest.mark.parametrize(
    "place",
    [
        *("", "runs", "logs", "wandb", "wandb/offline-run-20260101_000001-a/files", "checkpoint-10"),
        *("mlruns/0/0f3a", "runs/Jul27_10-00-00_host", "tensorboard_log/project/experiment", "rollouts/validation"),
    ],
)
def test_what_trainers_and_trackers_make_in_a_run_directory_is_the_runs_own(place: str) -> None:
    assert is_own([name for name in place.split("/") if name])


@pytest.mark.parametrize("place", ["expA", "runs/expA", "outputs/seed2", "checkpoint-5/lr1", "lr1/runs", "my_wandb"])
def test_a_directory_with_a_name_of_its_own_is_not(place: str) -> None:
    assert not is_own(place.split("/"))
