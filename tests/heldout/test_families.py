from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlchecks.heldout.families import families, model_key, same_model


@pytest.mark.parametrize(
    ("name", "key", "family"),
    [
        ("gpt-4o-2024-08-06", "gpt4o", ("gpt",)),
        ("openai/gpt-4o", "gpt4o", ("gpt",)),
        ("azure:gpt-4o-latest", "gpt4o", ("gpt",)),
        ("gpt-4-0613", "gpt4", ("gpt",)),
        ("ft:gpt-4o-mini-2024-07-18:our-company::9xYz", "gpt4omini", ("gpt",)),
        ("o3-mini", "o3mini", ("gpt",)),
        ("claude-3-5-sonnet", "claude35sonnet", ("claude",)),
        ("anthropic/claude-3.5-sonnet-20241022", "claude35sonnet", ("claude",)),
        ("claude-3-5-sonnet@20240620", "claude35sonnet", ("claude",)),
        ("us.anthropic.claude-3-5-sonnet-20240620-v1:0", "claude35sonnet", ("claude",)),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen257binstruct", ("qwen",)),
        ("together/Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen257binstruct", ("qwen",)),
        ("/cache/models--Qwen--Qwen2.5-7B-Instruct/snapshots/0a1b", "qwen257binstruct", ("qwen",)),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama318binstruct", ("llama",)),
        ("llama-3.1-8b-instruct-q4_k_m.gguf", "llama318binstruct", ("llama",)),
        ("ollama:llama3:8b", "llama38b", ("llama",)),
        ("mistralai/Mixtral-8x7B", "mixtral8x7b", ("mistral",)),
        ("google/gemma-2-9b-it", "gemma29bit", ("gemini",)),
        ("gemini-2.0-flash", "gemini20flash", ("gemini",)),
        ("deepseek-v3-0324", "deepseekv3", ("deepseek",)),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "deepseekr1distillqwen7b", ("qwen", "deepseek")),
        ("microsoft/phi-4", "phi4", ("phi",)),
        ("lmsys/vicuna-13b-v1.5", "vicuna13bv15", ("llama",)),
        ("Skywork/Skywork-Reward-Llama-3.1-8B", "skyworkrewardllama318b", ("llama",)),
        ("сlаudе-3-5-sonnet", "claude35sonnet", ("claude",)),  # Cyrillic letters
        ("our-own-judge", "ourownjudge", ()),
    ],
)
def test_a_model_has_one_key_and_its_families(name: str, key: str, family: tuple[str, ...]) -> None:
    assert model_key(name) == key
    assert families(name) == family


@pytest.mark.parametrize("name", ["gpt-j-6b", "gpt-neox-20b", "philosophy", "alphabet", "accuracy_reward", "nova", ""])
def test_a_family_is_not_guessed(name: str) -> None:
    assert families(name) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("gpt-4o", "gpt-4o-mini"), ("Qwen2.5-7B", "Qwen2.5-72B"), ("llama-3-8b", "llama-3.1-8b"), ("", ""), ("-", "-")],
)
def test_other_models_are_others_and_nothing_is_no_model(one: str, other: str) -> None:
    assert not same_model(one, other)


@given(st.text())
def test_any_text_is_the_same_model_as_itself_or_none(name: str) -> None:
    assert same_model(name, name) == bool(model_key(name))
    assert isinstance(families(name), tuple)
