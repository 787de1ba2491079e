from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlchecks.heldout import copies
from rlchecks.heldout.copies import Copy, find_copies

# GSM8K's example in the paper of Cobbe et al. 2021 is such a problem; these are of our own making.
BAKER = "A baker sells {} loaves on Monday and twice as many on Tuesday, so how many loaves does the baker sell in all?"
TEMPLATE = (
    "You are a careful assistant who thinks step by step before giving any final answer to the user. {} "
    "Write the final answer alone on the last line and do not add anything else after it at all."
)


def sentences(count: int, words: int = 25, seed: int = 0) -> list[str]:
    drawn = random.Random(seed)
    known = ["".join(drawn.choices("abcdefghijkl", k=6)) for _ in range(5000)]
    return [" ".join(drawn.choices(known, k=words)) for _ in range(count)]


def kinds(found: list[Copy]) -> dict[int, str]:
    return {copy.held_out: copy.kind for copy in found}


def test_seven_copies_are_found_and_three_paraphrases_are_not() -> None:
    held_out = sentences(100)
    copied = held_out[:7]
    # Every twelfth word changed leaves no run of thirteen.
    changed = [
        " ".join("other" if n % 12 == 5 else word for n, word in enumerate(text.split())) for text in held_out[7:10]
    ]
    training = [*copied, *changed, *sentences(100, seed=1)]
    assert kinds(find_copies(held_out, training)) == dict.fromkeys(range(7), "exact")


def test_a_question_inside_a_longer_training_prompt_is_found() -> None:
    question = BAKER.format(48)
    assert find_copies([question], ["unrelated", f"Solve this. {question} Show all your work."]) == [
        Copy(0, 1, "13-gram")
    ]
    # And the other way about, in other case and punctuation.
    assert kinds(find_copies([f"Solve this. {question.upper()}"], [question.replace(",", "")])) == {0: "13-gram"}


def test_twelve_words_in_common_are_not_enough() -> None:
    words = sentences(1, 40)[0].split()
    shared = " ".join(words[:12])
    assert find_copies([f"{shared} here it ends otherwise"], [f"{shared} there it goes on differently"]) == []
    shared = " ".join(words[:13])
    assert find_copies([f"{shared} here it ends otherwise"], [f"{shared} there it goes on differently"]) != []


def test_the_same_template_with_other_numbers_is_another_question() -> None:
    assert find_copies([BAKER.format(48)], [BAKER.format(52)]) == []
    assert find_copies([BAKER.format("three")], [BAKER.format("four")]) == []
    # A copy among look-alikes is a copy.
    assert find_copies([BAKER.format(48)], [BAKER.format(52), f"Q: {BAKER.format(48)}"]) == [Copy(0, 1, "13-gram")]


def test_a_shared_template_does_not_make_everything_overlap() -> None:
    held_out = [TEMPLATE.format(f"What is {n} times {n + 1}?") for n in range(200)]
    training = [TEMPLATE.format(f"What is {n} times {n + 1}?") for n in range(195, 400)]
    assert kinds(find_copies(held_out, training)) == dict.fromkeys(range(195, 200), "exact")
    # Even if only one training prompt was seen, the held-out prompts tell that it is a template.
    assert find_copies(held_out, [TEMPLATE.format("What is 1000 times 1001?")]) == []


def test_held_out_prompts_of_a_real_run_stay_clean_under_one_template(shared_data: Path) -> None:
    run = shared_data / "trl/healthy-s1"
    files = (run / "completions").glob("*.parquet")
    training = sorted({prompt for file in files for prompt in pq.read_table(file)["prompt"].to_pylist()})
    lines = (run / "eval/base.jsonl").read_text().splitlines()
    held_out = sorted({json.loads(line)["prompt"] for line in lines})
    assert (len(held_out), find_copies(held_out, training)) == (200, [])
    told = [TEMPLATE.format(prompt) for prompt in training]
    asked = [TEMPLATE.format(prompt) for prompt in held_out]
    assert find_copies(asked, told) == []
    assert kinds(find_copies(asked, [*told, *asked[:20]])) == dict.fromkeys(range(20), "exact")


def test_a_template_that_is_not_the_questions_own_is_passed_over() -> None:
    held_out = ["What is the sum of all the even numbers between twelve and ninety-six?"]
    training = [TEMPLATE.format(text) for text in (*held_out, *sentences(50, 6))]
    assert find_copies(held_out, training) == [Copy(0, 0, "13-gram")]


def test_a_question_that_occurs_in_many_training_prompts_is_no_template() -> None:
    question = BAKER.format(48)
    training = [f"Question {n}: {question}" for n in range(30)]
    assert kinds(find_copies([question], training)) == {0: "whole"}
    assert find_copies([BAKER.format(47)], training) == []


@pytest.mark.parametrize(
    ("held_out", "training", "kind"),
    [
        ("q: 12+3 a:", "Q 12 + 3 A", "whole"),
        ("q: 12+3 a:", "q: 12*3 a:", None),
        ("q: 12+3 a:", "q: 1+23 a:", None),
        ("q: 12+3 a:", "here comes q: 12+3 a: and more of it", None),  # under eight words only the same counts
        ("Which river flows through the city of Vienna?", "Say: which river flows through the city of Vienna", "whole"),
        ("Say: which river flows through the city of Vienna", "Which river flows through the city of Vienna?", "whole"),
        ("", "anything", None),
        ("?!", "anything ?!", None),
        ("维也纳在哪个国家的首都", "请回答: 维也纳在哪个国家的首都", "whole"),
    ],
)
def test_short_prompts_are_compared_whole(held_out: str, training: str, kind: str | None) -> None:
    assert kinds(find_copies([held_out], [training])) == ({} if kind is None else {0: kind})


def test_a_short_training_prompt_in_many_questions_is_an_instruction() -> None:
    instruction = "Answer the question and explain your reasoning carefully"
    held_out = [f"{instruction}: {text}" for text in sentences(20, 5)]
    assert find_copies(held_out, [instruction]) == []
    assert len(find_copies(held_out[:3], [instruction])) == 3


def test_system_prompts_and_roles_do_not_count() -> None:
    chat = '[{{"role": "system", "content": "{}"}}, {{"role": "user", "content": "{}"}}]'
    long_system = sentences(1, 40, seed=3)[0]
    assert find_copies([chat.format(long_system, "one?")], [chat.format(long_system, "two?")]) == []
    assert kinds(find_copies([chat.format("be kind", "one?")], [f"system: {long_system}\n\nuser: one?"])) == {
        0: "exact"
    }


def test_blocks_of_training_prompts_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    held_out = [*sentences(40), *(TEMPLATE.format(f"How much is {n}?") for n in range(20))]
    training = [f"Q: {text} ok" for text in held_out[::3]] + [
        TEMPLATE.format(f"How much is {n}?") for n in range(30, 60)
    ]
    training += [f"{n}: {held_out[1]}" for n in range(20)]
    whole = find_copies(held_out, training)
    monkeypatch.setattr(copies, "_BLOCK", 400)
    assert find_copies(held_out, training) == whole
    assert kinds(whole)[1] == "whole"


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text(alphabet="abc 12+", max_size=40), max_size=8),
    st.lists(st.text(alphabet="abc 12+", max_size=40), max_size=8),
)
def test_every_prompt_is_a_copy_of_itself_and_none_of_nothing(held_out: list[str], training: list[str]) -> None:
    found = kinds(find_copies(held_out, [*training, *held_out]))
    assert all(index in found for index, text in enumerate(held_out) if text.strip())
    assert find_copies(held_out, []) == []
    assert all(copy.training < len(training) for copy in find_copies(held_out, training))
