from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

import pytest

import rlchecks


@pytest.mark.parametrize("name", rlchecks.__all__)
def test_every_public_name_can_be_loaded(name: str) -> None:
    assert getattr(rlchecks, name) is not None
    assert name in dir(rlchecks)


def test_read_run_is_the_readers_own() -> None:
    assert rlchecks.read_run is import_module("rlchecks.readers").read_run
    assert next(iter(inspect.signature(rlchecks.read_run).parameters)) == "path"


def test_archive_takes_a_uri() -> None:
    assert next(iter(inspect.signature(rlchecks.Archive).parameters)) == "uri"


def test_steps_are_prefect_tasks() -> None:
    from prefect import Task

    assert any(isinstance(value, Task) for value in vars(rlchecks.steps).values())


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'loss'"):
        rlchecks.loss  # noqa: B018


def test_installed_version_is_the_package_version() -> None:
    try:
        installed = version("rlchecks")
    except PackageNotFoundError:
        pytest.skip("rlchecks is on the path but not installed")
    assert installed == rlchecks.__version__


def test_flows_and_suites_have_one_import_path() -> None:
    assert Path(import_module("rlchecks.flows").__file__ or "").name == "__init__.py"
    assert (Path(rlchecks.__file__).parent / "expectations" / "promotion.json").is_file()
    for name in ("flows", "expectations"):
        assert "rlchecks" not in packages_distributions().get(name, [])
