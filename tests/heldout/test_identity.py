from __future__ import annotations

import pytest

from rlchecks.errors import UsageError
from rlchecks.heldout.harness.log import JudgeFacts
from rlchecks.heldout.identity import EVALUATION_LOG, RUN_LOG, Identity, identity
from rlchecks.heldout.relation import is_model, related, same_identity, told_apart
from rlchecks.heldout.scorer import parse_scorer

P, Q = "prompt=" + "a" * 64, "prompt=" + "b" * 64


def who(text: str) -> Identity:
    return identity(parse_scorer(text))


@pytest.mark.parametrize(
    ("judge", "grader", "same", "near", "apart"),
    [
        # judge, training grader, the same for all that is known?, related?, told apart?
        ("exact", "Rewards/Exact", True, None, False),
        ("exact", "ехасt", True, None, False),  # Cyrillic letters
        ("exact", "lazy", False, False, False),
        ("exact:kind=rule", "lazy", False, False, False),
        ("exact:kind=rule", "lazy:kind=rule", False, False, False),
        ("exact:kind=rule", "lazy:kind=model", False, False, True),
        ("people:kind=human", "lazy:model=gpt-4o", False, False, True),
        (f"exact:kind=rule:{P}", f"lazy:kind=rule:{Q}", False, False, True),
        (f"exact:kind=rule:{P}", f"lazy:kind=rule:{P}", True, None, False),
        (f"exact:{P}", f"lazy:{P}", True, None, False),
        ("a:model=gpt-4o", "b:model=openai/gpt-4o-2024-08-06", True, None, False),
        (f"a:model=gpt-4o:{P}", "b:model=gpt-4o", True, None, False),
        (f"a:model=gpt-4o:{P}", f"b:model=gpt-4o:{P}", True, None, False),
        (f"a:model=gpt-4o:{P}", f"b:model=gpt-4o:{Q}", False, True, True),
        ("a:model=gpt-4o", "b:model=gpt-5", False, True, True),
        ("a:model=gpt-4o", "b:family=gpt", False, True, False),
        ("a:model=gpt-4o", "b:model=claude-3-5-sonnet", False, False, True),
        (f"a:model=gpt-4o:{P}", f"b:model=claude-3-5-sonnet:{P}", False, True, True),
        (f"a:model=gpt-4o:{P}", f"b:kind=model:{P}", True, None, False),
        # A name may say which model it is, as far as that counts against independence, and never for it.
        ("gpt-4o", "b:model=gpt-4o", True, None, False),
        ("qa@openai/gpt-4o", "b:model=gpt-4o", True, None, False),
        ("gpt-4o", "gpt-5", False, True, False),
        ("gpt-4o:kind=rule", "gpt-5:kind=rule", False, False, False),
        ("ours-a:model=ours-a", "ours-b:model=ours-b", False, False, True),
    ],
)
def test_relations(judge: str, grader: str, same: bool, near: bool | None, apart: bool) -> None:
    one, other = who(judge), who(grader)
    for left, right in ((one, other), (other, one)):
        assert (same_identity(left, right) is not None) is same
        assert told_apart(left, right) is apart
        if near is not None:
            assert (related(left, right) is not None) is near


@pytest.mark.parametrize(
    ("judge", "evaluated", "itself"),
    [
        ("tuned", "Tuned", True),
        ("a:model=Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B-Instruct", True),
        ("qa@Qwen/Qwen2.5-7B-Instruct", "Qwen2.5-7B-Instruct", True),
        ("a:model=Qwen2.5-72B-Instruct", "Qwen2.5-7B-Instruct", False),
        ("Qwen2.5-7B-Instruct-like:kind=rule", "Qwen2.5-7B-Instruct", False),
        ("exact", "checkpoint-100", False),
    ],
)
def test_the_evaluated_model_is_recognised(judge: str, evaluated: str, itself: bool) -> None:
    assert is_model(who(judge), ("base", evaluated)) == (evaluated if itself else None)


def test_a_log_that_agrees_with_the_declaration_is_what_counts() -> None:
    told = JudgeFacts("qa", "model", ("openai/gpt-4o-2024-08-06",), settings='{"template": "t"}')
    found = identity(parse_scorer("qa:model=gpt-4o"), [(EVALUATION_LOG, told)])
    document = found.document()
    assert document["model"] == "openai/gpt-4o-2024-08-06"
    assert document["family"] == "gpt"
    assert document["from"] == {
        "kind": EVALUATION_LOG, "model": EVALUATION_LOG, "family": "name", "prompt_sha256": EVALUATION_LOG,
    }  # fmt: skip
    assert identity(parse_scorer("qa")).document() == {
        "name": "qa", "kind": None, "model": None, "family": None, "prompt_sha256": None, "from": {},
    }  # fmt: skip


def test_hashes_of_different_sources_are_of_different_things() -> None:
    """The options in a log and a file that was declared are never equal, and say nothing of being different."""
    logged = identity(parse_scorer("a"), [(EVALUATION_LOG, JudgeFacts("a", "model", ("gpt-4o",), '{"template": "t"}'))])
    assert same_identity(logged, who(f"b:model=gpt-4o:{P}"))


def test_options_of_a_rule_are_no_identity() -> None:
    match, includes = (
        identity(parse_scorer(name), [(EVALUATION_LOG, JudgeFacts(name, "rule", settings="{}"))])
        for name in ("match", "includes")
    )
    assert same_identity(match, includes) is None


@pytest.mark.parametrize(
    ("declared", "told", "problem"),
    [
        ("qa:kind=rule", JudgeFacts("qa", "model", ("gpt-4o",)), "kind=rule, and its evaluation log says model"),
        ("qa:kind=human", JudgeFacts("qa", models=("gpt-4o",)), "kind=human, and its evaluation log says model"),
        ("qa:model=claude-3-5-sonnet", JudgeFacts("qa", "model", ("gpt-4o",)), "evaluation log says .*gpt-4o"),
        ("qa:family=claude", JudgeFacts("qa", "model", ("gpt-4o",)), "family=claude, and its evaluation log names"),
        ("qa", JudgeFacts("qa", "model", ("gpt-4o",), settings_differ=True), "different rubrics"),
    ],
)
def test_a_declaration_that_the_log_contradicts_is_refused(declared: str, told: JudgeFacts, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        identity(parse_scorer(declared), [(EVALUATION_LOG, told)])


def test_the_models_of_two_logs_are_both_its_models() -> None:
    told = [(EVALUATION_LOG, JudgeFacts("qa", "model", ("gpt-4o", "claude-3-5-sonnet")))]
    panel = identity(parse_scorer("qa"), told)
    assert panel.document()["model"] == "gpt-4o + claude-3-5-sonnet"
    assert same_identity(panel, who("b:model=claude-3-5-sonnet"))
    reward = identity(parse_scorer("rm"), [(RUN_LOG, JudgeFacts("rm", "model", ("org/rm",)))])
    assert reward.document()["from"] == {"kind": RUN_LOG, "model": RUN_LOG}


def test_logs_with_different_rubrics_are_remembered_when_merged() -> None:
    one, other = JudgeFacts("qa", settings="a"), JudgeFacts("qa", settings="b")
    assert one.merged(other).settings_differ
    assert one.merged(JudgeFacts("qa")).settings_differ is False
    assert one.merged(other).merged(one).settings_differ
