"""Prompts in the forms in which two of them can be compared, whether plain text or chat messages."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import NamedTuple

from rlchecks.heldout.visible import visible

# How readers of training logs write several messages as one text.
_TURN = re.compile(r"(?:\A|\n\n)(system|developer|user|assistant|tool): ")


class _Message(NamedTuple):
    role: str
    content: str


def normalised(prompt: str) -> str:
    """A prompt without differences of case, white space and Unicode form, and of signs that nobody sees."""
    seen = visible(prompt)
    # Of ASCII there is one form only, and it is most of what is compared.
    folded = seen.lower() if seen.isascii() else unicodedata.normalize("NFKC", seen).casefold()
    return " ".join(folded.split())


def whole(prompt: str) -> str:
    """The whole prompt, normalised; of chat messages their contents, joined."""
    return _joined(_messages(prompt)) or normalised(prompt)


def forms(prompt: str) -> frozenset[str]:
    """The forms of a prompt of which one in common makes two prompts the same.

    Of text it is the text; of chat messages also the contents of all, and the last user's alone: the same question
    after another system prompt, or after examples, is the same question.

    Args:
        prompt: text; a JSON list of messages; or messages as training logs are read, each after its role.
    """
    messages = _messages(prompt)
    last = [message for message in messages if message.role == "user"][-1:]
    return frozenset({normalised(prompt), _joined(messages), _joined(last)} - {""})


def asked(prompt: str) -> str:
    """What a prompt asks: the last user's message, or all of a text without messages."""
    messages = _messages(prompt)
    said = [message.content for message in messages if message.role == "user"]
    return said[-1] if said else told(prompt)


def told(prompt: str) -> str:
    """All that a prompt says besides instructions to the system, which many prompts share."""
    messages = _messages(prompt)
    kept = [message.content for message in messages if message.role not in ("system", "developer")]
    return "\n".join(kept) if messages else prompt


def _joined(messages: list[_Message]) -> str:
    return normalised("\n".join(message.content for message in messages)) if messages else ""


def _messages(prompt: str) -> list[_Message]:
    """The messages of a prompt; none, if it is plain text."""
    if _TURN.match(prompt):
        turns = _TURN.split(prompt)
        return [_Message(role, content) for role, content in zip(turns[1::2], turns[2::2], strict=True)]
    if not prompt.lstrip().startswith(("[", "{")):
        return []
    try:
        given = json.loads(prompt)
    except (ValueError, RecursionError):
        return []
    if isinstance(given, dict):
        given = given.get("messages", [given])
    if not (isinstance(given, list) and all(isinstance(message, dict) and "content" in message for message in given)):
        return []
    return [_Message(str(message.get("role")).lower(), _text(message["content"])) for message in given]


def _text(content: object) -> str:
    """The text of a message, whose content is text or a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
