from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.heldout.names import latin, same_name


@pytest.mark.parametrize(
    "name",
    [
        "rewards/accuracy_reward",
        "Rewards / Accuracy-Reward",
        "accuracyreward",
        "ACCURACY REWARD",
        "ａｃｃｕｒａｃｙ＿ｒｅｗａｒｄ",
        "accuracy\u200b_rew\u00adard\ufeff",
        "accuracy\u034f_reward",
        "rewards\u200d/accuracy.reward",
        "train/rewards/accuracy_reward/mean",
        "/rewards/accuracy_reward",
        "rewards.accuracy_reward",
        "аccurаcy_rewаrd",  # Cyrillic a
        "ΑCCURACY_REWARD",  # Greek Alpha
        "accurаcу_rеwаrd",  # Cyrillic a, u, ie
        "ассuracy_reward",  # Cyrillic a and es
        "accuracy\u3164_reward",  # a letter that nobody sees
    ],
)
def test_a_grader_written_otherwise_is_the_grader(name: str) -> None:
    assert same_name(name, "accuracy_reward")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_unicode_forms_are_one_name(form: str) -> None:
    assert same_name(unicodedata.normalize(form, "précision_ﬁnale"), "précision_finale")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("accuracy_reward", "accuracy_reward2"),
        ("rewards/a", "b"),
        ("mean", "reward"),
        ("gpt-4", "gpt-5"),
        ("!", "?"),
        ("", "!"),
        ("é", "e"),
        ("оценка", "проверка"),
    ],
)
def test_other_names_are_other_judges(one: str, other: str) -> None:
    assert not same_name(one, other)


@given(st.text(), st.sampled_from(["_", " ", "-", "\u200b", ""]))
def test_signs_and_case_change_nothing(name: str, sign: str) -> None:
    assert same_name(name, name)
    assert same_name(f"a{name}", f"A{sign}{name}")


@pytest.mark.parametrize(("one", "other"), [("Ι", "l"), ("Ι", "i"), ("ВЕРНО", "верно"), ("ΝΙΚΗ", "νικη")])
def test_a_letter_that_looks_like_two_is_both_and_case_still_counts_for_nothing(one: str, other: str) -> None:
    assert same_name(one, other)


def test_the_table_holds_signs_of_other_scripts_that_look_like_latin_letters() -> None:
    assert latin("ѕсore-ΡΑSS") == "score-PASS"  # Cyrillic dze and es; Greek Rho and Alpha
    assert latin("ｊｕｄｇｅ\u200d") == "judge"
    assert latin("GPT-4o, 10 and l") == "GPT-4o, 10 and l"  # what is Latin stays
