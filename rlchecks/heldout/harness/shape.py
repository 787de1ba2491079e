"""Parts of a JSON value by the shape that they should have; what has another shape is empty."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence


def mapping(value: object) -> Mapping[str, object]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else ()


def text_of(content: object) -> str | None:
    """The text of a message's content, which is text or a list of parts; None if there is none."""
    if isinstance(content, str):
        return content
    parts = [mapping(part).get("text") for part in items(content)]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts else None


def fingerprint(*parts: object) -> str:
    """A text that is the same exactly if the parts are."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def id_of(text: str) -> str:
    """An id for a question that has none but its text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
