from __future__ import annotations

import numpy as np
import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout.scale import scale_of
from rlchecks.heldout.scorer import Scorer


@pytest.mark.parametrize("scores", [[1e308, -1e308], [1.79e308, 1.0], [1.7e308, 1.7e308, -1.0]])
def test_scores_too_far_apart_to_compute_with_are_refused(scores: list[float]) -> None:
    with pytest.raises(UsageError, match="reach too far"):
        scale_of(Scorer("huge"), np.array(scores))


def test_a_declared_range_that_no_number_can_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="reach too far"):
        scale_of(Scorer("huge", -1.7e308, 1.7e308), np.array([0.0, 1.0]))


def test_large_scores_that_can_be_computed_with_are_taken() -> None:
    scale = scale_of(Scorer("large"), np.array([1e290, 2e290]))
    assert np.isfinite(scale.unit(np.array([1e290, 2e290]))).all()


def test_a_range_too_wide_is_refused_without_any_score() -> None:
    with pytest.raises(UsageError, match="reach too far"):
        scale_of(Scorer("huge", -1.7e308, 1.7e308), np.array([np.nan]))
