from __future__ import annotations

from collections.abc import Callable

import pytest

from rlchecks.heldout import Comparison, ComparisonRequest, HeldoutRows, compare
from rlchecks.heldout.overlap_document import MOST

TEMPLATE = "Read the following sum with great care and then write nothing but the result as a number: {}"
HOSTILE = "<script>alert(1)</script>\x1b[31m"


@pytest.fixture
def compared(make_rows: Callable[..., HeldoutRows]) -> Callable[..., Comparison]:
    """Compare 200 questions; the first 50, all gained, have the given prompts."""

    def compared(prompts: list[str], training: list[str], **asked: object) -> Comparison:
        texts = prompts + [f"{TEMPLATE.format(n)} plus {n}" for n in range(len(prompts), 200)]
        rows = [
            {"question_id": f"q{n:03}", "checkpoint": side, "judge": "exact", "score": float(score), "prompt": texts[n]}
            for n in range(200)
            for side, score in (("base", n % 10 == 0), ("new", n < 50 or n % 5 == 0))
        ]
        request = ComparisonRequest(baseline="base", candidate="new", training_prompts=training, **asked)
        return compare(make_rows(rows), request)

    return compared


def test_what_was_a_training_prompt_is_shown_left_out_and_the_result_given_with_it(
    compared: Callable[..., Comparison],
) -> None:
    prompts = [f"{HOSTILE} question number {n} with some words of its own {n * 7}" for n in range(50)]
    training = [f"Please: {text} Thanks." for text in prompts]
    found = compared(prompts, training, training_prompts_share=1.0)
    document = found.document
    overlap = document["overlap"]
    assert (overlap["questions"], overlap["of"], overlap["share_seen"]) == (50, 200, 1.0)
    assert sum(overlap["kinds"].values()) == 50
    assert len(overlap["examples"]) == MOST
    first = overlap["examples"][0]
    assert (first["question_id"], first["prompt"], first["training_prompt"]) == ("q000", prompts[0], training[0])
    assert first["matched"].endswith("question number 0 with some words of its own 0")
    # Without them 15 of 150 gained, with them 45 more.
    assert document["n_questions"] == 150
    assert document["difference"] == pytest.approx(15 / 150)
    assert document["with_overlap"]["n_questions"] == 200
    assert document["with_overlap"]["difference"] == pytest.approx(60 / 200)
    assert document["with_overlap"]["ci_lower"] > document["ci_lower"]
    assert found.evidence["overlap_questions"] == 50
    assert found.evidence["overlap_share_seen"] == 1.0


def test_a_clean_set_has_no_second_result(compared: Callable[..., Comparison]) -> None:
    document = compared([], [TEMPLATE.format(n) + f" plus {n}" for n in range(500, 600)]).document
    assert document["overlap"]["questions"] == 0
    assert document["overlap"]["examples"] == []
    assert document["with_overlap"] is None
    assert document["n_questions"] == 200


def test_if_everything_was_a_training_prompt_nothing_is_left(compared: Callable[..., Comparison]) -> None:
    everything = [f"{TEMPLATE.format(n)} plus {n}" for n in range(200)]
    found = compared([], everything)
    assert found.evidence["n_questions"] == 0
    assert found.document["difference"] is None
    assert found.document["with_overlap"]["n_questions"] == 200


def test_long_texts_are_cut(compared: Callable[..., Comparison]) -> None:
    long = "word " * 400 + "end"
    example = compared([long], [f"{long} and more"]).document["overlap"]["examples"][0]
    assert all(len(example[name]) <= 501 for name in ("prompt", "training_prompt", "matched"))


def test_without_training_prompts_nothing_is_said(make_rows: Callable[..., HeldoutRows]) -> None:
    rows = make_rows(
        [{"question_id": "a", "checkpoint": side, "judge": "exact", "score": 1.0} for side in ("base", "new")]
    )
    document = compare(rows, ComparisonRequest(baseline="base", candidate="new")).document
    assert document["overlap"] is None
    assert document["with_overlap"] is None
