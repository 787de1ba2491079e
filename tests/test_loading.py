"""Loading without the garbage collector."""

from __future__ import annotations

import gc

import pytest

from rlchecks.loading import uncollected


@pytest.fixture(autouse=True)
def _unfrozen() -> object:
    yield
    gc.unfreeze()
    gc.enable()


def test_the_collector_is_off_inside_and_as_before_afterwards() -> None:
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()


def test_it_is_on_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="no"), uncollected():
        raise ValueError("no")
    assert gc.isenabled()


def test_what_was_loaded_is_not_looked_at_again() -> None:
    before = gc.get_freeze_count()
    with uncollected():
        pass
    assert gc.get_freeze_count() > before
