"""A text as a reader sees it: what two texts differ in that nobody can see is no difference."""

from __future__ import annotations

import html
import re

# Unicode's property Default_Ignorable_Code_Point (UAX 44, DerivedCoreProperties.txt, version 16), without what is not
# assigned: zero-width signs, soft hyphens, marks of direction, variation selectors, fillers, tags.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)


def visible(text: str) -> str:
    """A text without signs that nobody sees, and with HTML's character references (``&lt;``) as what they show."""
    if "&" in text:
        text = html.unescape(text)
    return text if text.isascii() else _UNSEEN.sub("", text)
