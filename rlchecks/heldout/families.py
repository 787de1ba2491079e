"""Names of language models: which mean the same model, and which family a model is of.

A model is called by many names: with its provider (``openai/``, ``azure:``), its publisher, a path, a date, the form of
its weights. What differs in these alone is the same model here, also where it may be another snapshot or a fine-tune of
it: two names that may mean one model must not pass for two judges.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

from rlchecks.heldout.names import latin

_CACHED = re.compile(r"models--[^/]*?--([^/]+)")  # a directory of Hugging Face's cache
_TUNED = re.compile(r"ft:([^:]+).*")  # OpenAI's fine-tuned models: ft:BASE:ORGANISATION:NAME:ID
_PROVIDER = re.compile(
    r"(?:openai|azure|azureai|anthropic|google|vertex|vertex_ai|gemini|bedrock|together|together_ai|groq|fireworks"
    r"|openrouter|ollama|vllm|hf|huggingface|mistral|deepseek|cohere|xai|local|litellm|hosted_vllm)[:!]"
)
# Amazon Bedrock: REGION.PUBLISHER.MODEL-vN:N
_BEDROCK = re.compile(r"(?:[a-z]{2,4}\.)?(?:anthropic|meta|amazon|mistral|cohere|ai21|deepseek|qwen|openai)\.(?=\D)")
_BEDROCK_VERSION = re.compile(r"-v\d+:\d+$")
# What may follow a model's name without making it another: date, weights, file.
_TAIL = re.compile(
    r"[-_.@: ]+(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest|preview|exp|awq|gptq|gguf|ggml|exl2|mlx|marlin|bnb|hf|quantized"
    r"|int[48]|fp(?:8|16|32)|bf16|nf4|w\d+a\d+|[48]-?bit|i?q[2-8](?:_[0-9k])?(?:_[sml])?|safetensors"
    r"|sft|dpo|grpo|ppo|rloo|lora|qlora|adapter|merged|finetuned?|fine-tuned?|ft)$"
)


def model_key(name: str) -> str:
    """The part of a model's name that tells which model it is: equal for two names of one model.

    Args:
        name: such as ``openai/gpt-4o-2024-08-06`` or ``Qwen/Qwen2.5-7B-Instruct-AWQ``.

    Returns:
        letters and digits, such as ``gpt4o``; empty if the name has none.
    """
    text = latin(name).casefold().strip()
    cached = _CACHED.search(text)
    text = (cached[1] if cached else text).rstrip("/\\")
    text = re.split(r"[/\\]", text)[-1]
    while found := _PROVIDER.match(text):
        text = text[found.end() :]
    tuned = _TUNED.fullmatch(text)
    text = _BEDROCK_VERSION.sub("", _BEDROCK.sub("", tuned[1] if tuned else text))
    while (shorter := _TAIL.sub("", text)) != text:
        text = shorter
    return "".join(sign for sign in text.removeprefix("meta-") if sign.isalnum())


def same_model(one: str, other: str) -> bool:
    """Whether two names may mean the same model."""
    key = model_key(one)
    return bool(key) and key == model_key(other)


def families(name: str) -> tuple[str, ...]:
    """The families of a model, by its name; empty if none is known.

    Args:
        name: name of a model, or of a family.

    Returns:
        such as ``("qwen",)``; several for a model made from another family's, such as DeepSeek-R1-Distill-Qwen-7B.
    """
    text = latin(name).casefold()
    return tuple(family for family, words in _families().items() if words.search(text))


@lru_cache(maxsize=1)
def _families() -> dict[str, re.Pattern[str]]:
    table = tomllib.loads(files("rlchecks.heldout").joinpath("families.toml").read_text(encoding="utf-8"))
    # EleutherAI's GPT-J and GPT-NeoX are no models of OpenAI.
    return {
        family: re.compile(rf"(?<![a-z0-9])(?:{'|'.join(words)})(?![a-z])(?!-?(?:j|neo))")
        for family, words in table.items()
    }
