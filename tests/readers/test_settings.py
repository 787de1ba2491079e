from __future__ import annotations

from rlchecks.readers.settings import settings


def test_settings_of_both_trackers_tell_the_same() -> None:
    trackio = {"beta": 0.04, "num_generations": 8, "max_steps": 100, "eval_steps": None, "scale_rewards": True, "x": 1}
    mlflow = {"beta": "0.04", "num_generations": "8", "max_steps": "100", "eval_steps": "None", "scale_rewards": "True"}
    told = settings(trackio)
    assert told == settings(mlflow)
    assert told.facts == {"beta": "0.04", "num_generations": "8", "scale_rewards": "true"}
    assert told.planned_steps == 100


def test_a_run_that_is_planned_in_epochs_has_no_planned_steps() -> None:
    for value in (-1, "-1", 0, None, "many", 1.5, float("nan"), 10**30, [100]):
        assert settings({"max_steps": value}).planned_steps is None, value


def test_hostile_values() -> None:
    config = {"beta": "\ud800", "temperature": {"a": 1}, "loss_type": ["x"], "num_iterations": float("nan")}
    assert settings(config).facts == {"beta": "\\ud800", "num_iterations": "NaN"}
