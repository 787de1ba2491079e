from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout import HeldoutRows
from rlchecks.heldout.split import split_questions

Make = Callable[..., HeldoutRows]
Answers = Callable[..., list[dict[str, Any]]]


def names(rows: HeldoutRows, column: str = "question_id") -> set[str]:
    return set(rows.table[column].to_pylist())


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_every_question_is_in_one_part_and_always_in_the_same(make_rows: Make, answers: Answers, share: float) -> None:
    rows = make_rows(answers("base", [0.0] * 2000), answers("tuned", [1.0] * 2000))
    choosing, deciding = split_questions(rows, share)
    assert names(choosing) | names(deciding) == names(rows)
    assert not names(choosing) & names(deciding)
    assert len(names(choosing)) / 2000 == pytest.approx(share, abs=0.04)
    fewer = split_questions(make_rows(answers("base", [0.0] * 1000)), share)
    assert names(fewer.choosing) == {name for name in names(choosing) if name < "q1000"}


def test_clusters_stay_together(make_rows: Make, answers: Answers) -> None:
    rows = make_rows(
        answers("base", [0.0] * 200, cluster=lambda number: f"c{number // 4}"), answers("tuned", [1.0] * 200)
    )
    choosing, deciding = split_questions(rows, 0.5)
    assert not (names(choosing, "cluster") - {None}) & (names(deciding, "cluster") - {None})
    assert not names(choosing) & names(deciding)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_out_of_range_is_refused(make_rows: Make, answers: Answers, share: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        split_questions(make_rows(answers("base", [0.0] * 10)), share)


def test_one_question_cannot_be_split(make_rows: Make, answers: Answers) -> None:
    with pytest.raises(UsageError, match="1 questions cannot be split"):
        split_questions(make_rows(answers("base", [0.0])), 0.5)
