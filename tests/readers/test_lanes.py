from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.readers.lanes import lanes

ROWS = st.lists(st.frozensets(st.integers(0, 6), max_size=3), max_size=10)


def by_definition(rows: list[frozenset[int]]) -> list[frozenset[int]]:
    """Grow each row's keys by those of rows that have one of them, until no more comes."""
    grown = list(rows)
    for _ in rows:
        grown = [frozenset().union(keys, *(other for other in grown if other & keys)) for keys in grown]
    return grown


@given(ROWS)
def test_rows_are_in_one_lane_if_keys_lead_from_one_to_the_other(rows: list[frozenset[int]]) -> None:
    metrics = [np.array([at for at, keys in enumerate(rows) if key in keys], dtype=np.int32) for key in range(7)]
    lane, of_keys = (some.tolist() for some in lanes(len(rows), metrics))
    reach = by_definition(rows)
    for one, _ in enumerate(rows):
        for other, _ in enumerate(rows):
            assert (lane[one] == lane[other]) == (reach[one] == reach[other])
    assert all(lane[at] == of_keys[key] for at, keys in enumerate(rows) for key in keys)
