from __future__ import annotations

import rlchecks.heldout


def test_the_public_names_are_all_there_and_sorted() -> None:
    names = rlchecks.heldout.__all__
    assert all(hasattr(rlchecks.heldout, name) for name in names)
    assert names == sorted(names)
