"""Dictionaries as programs print them: Python's or JSON's notation, flat, in pieces, and never evaluated.

Only a dictionary whose keys are texts and whose values are numbers, texts, nothing, or flat lists can be a logged row.
Whatever else comes up ends the reading at once, so that the work stays proportional to the text.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from rlchecks.readers.values import to_number

MAX_TEXT = 1 << 20
"""Longest dictionary that is read, in characters; one of 20,000 keys is shorter."""

_LONGEST = 4096
# A key and a value, of which some letters may be escaped.
_LONGEST_PAIR = 5 * _LONGEST
_STRING = rf"""'(?:[^'\\]|\\.){{0,{_LONGEST}}}'|"(?:[^"\\]|\\.){{0,{_LONGEST}}}\""""
NUMBER = r"[-+]?(?:\d{1,64}(?:\.\d{0,64})?(?:[eE][-+]?\d{1,4})?|\.\d{1,64}(?:[eE][-+]?\d{1,4})?|nan|inf|NaN|Infinity)"
# NumPy's and PyTorch's scalars: np.float64(0.5), tensor(0.5, device='cuda:0').
BOXED = rf"(?:(?:np|numpy)\.\w{{1,20}}|(?:torch\.)?tensor|array)\( ?(?P<boxed>{NUMBER})(?:, [^()]{{0,200}})? ?\)"
_ANY_BOXED = BOXED.replace("?P<boxed>", "?:")
_WORD = r"None|null|True|true|False|false"
_LIST = rf"\[[^\[\]{{}}]{{0,{_LONGEST}}}\]|\([^()\[\]{{}}]{{0,{_LONGEST}}}\)"
_PAIR = re.compile(
    rf"\s*(?P<key>{_STRING})\s*:\s*"
    rf"(?:(?P<number>{NUMBER})|(?P<string>{_STRING})|(?P<word>{_WORD})|{BOXED}|(?P<list>{_LIST}))"
    r"\s*(?P<end>[,}])",
    re.DOTALL,
)
_KEY = re.compile(rf"\s*(?:{_STRING})\s*(?P<colon>:?)\s*", re.DOTALL)
_BEGUN_STRING = rf"""(?:'(?:[^'\\]|\\.){{0,{_LONGEST}}}|"(?:[^"\\]|\\.){{0,{_LONGEST}}})\\?"""
_BEGUN_KEY = re.compile(rf"\s*(?:{_BEGUN_STRING})?", re.DOTALL)
_BEGUN_VALUE = re.compile(
    rf"(?:(?:{NUMBER}|{_STRING}|{_WORD}|{_ANY_BOXED}|{_LIST})\s*"
    rf"|{_BEGUN_STRING}|[\[(][^\[\](){{}}]{{0,{_LONGEST}}}|[-+\w.]{{0,128}}(?:\([^()\[\]{{}}]{{0,256}})?)",
    re.DOTALL,
)
_WORDS: dict[str, object] = {"None": None, "null": None, "True": True, "true": True, "False": False, "false": False}


class Joint(NamedTuple):
    """Where a dictionary goes on in the next piece.

    Attributes:
        hard: inside of a word or number, or before a comma: where no printing program breaks a line, but a terminal.
        quoted: inside of a text.
    """

    hard: bool
    quoted: bool


class Literal:
    """A dictionary that is read piece by piece, from behind its opening brace.

    Attributes:
        pairs: what was read so far.
        quoted: how many numbers stood in quotation marks.
    """

    def __init__(self) -> None:
        self.pairs: dict[str, object] = {}
        self.quoted = 0
        self._rest = ""
        self._size = 0

    def feed(self, text: str, start: int = 0) -> int | None:
        """Read on.

        Args:
            text: a text; what is in it from ``start`` on follows directly on what was read before.
            start: where to begin.

        Returns:
            Where in ``text`` the dictionary ended, behind its closing brace; 0 if it may go on in the next piece;
            None if this is no flat dictionary.
        """
        self._size += len(text) - start
        moved = 0
        if self._rest:
            moved = start - len(self._rest)
            text, start = self._rest + text[start:], 0
        while pair := _PAIR.match(text, start):
            if not self._add(pair):
                return None
            start = pair.end()
            if pair["end"] == "}":
                return start + moved
        if self._size > MAX_TEXT or len(text) - start > _LONGEST_PAIR:
            return None
        self._rest = text[start:]
        return 0 if self._may_go_on() else None

    @property
    def joint(self) -> Joint:
        """What kind of a place the end of the text read so far is."""
        key = _KEY.match(self._rest)
        if key is None:
            return Joint(bool(self._rest.strip()), bool(self._rest.strip()))
        value = self._rest[key.end() :]
        return Joint(bool(value) or not key["colon"], value[:1] in ("'", '"') and not _closed(value))

    def _may_go_on(self) -> bool:
        key = _KEY.match(self._rest)
        if key is None:
            return _BEGUN_KEY.fullmatch(self._rest) is not None
        if not key["colon"]:
            return key.end() == len(self._rest)
        return _BEGUN_VALUE.fullmatch(self._rest, key.end()) is not None

    def _add(self, pair: re.Match[str]) -> bool:
        key = unquoted(pair["key"])
        if key is None:
            return False
        if pair["string"] is not None:
            text = unquoted(pair["string"])
            if text is None:
                return False
            number = to_number(text)
            self.quoted += number is not None
            self.pairs[key] = text if number is None else number
        elif pair["word"] is not None:
            self.pairs[key] = _WORDS[pair["word"]]
        elif pair["list"] is not None:
            self.pairs[key] = pair["list"]
        else:
            self.pairs[key] = number_of(pair["number"] or pair["boxed"])
        return True


def number_of(token: str) -> float | int:
    """Convert a number as Python or JSON writes it."""
    try:
        return int(token)
    except ValueError:
        return float(token)


def _closed(value: str) -> bool:
    return re.match(_STRING, value, re.DOTALL) is not None


def unquoted(token: str) -> str | None:
    """Read a text in quotation marks; None if it is none."""
    if "\\" not in token:
        return token[1:-1] if len(token) > 1 and token[0] == token[-1] and token[0] in "'\"" else None
    if len(token) > MAX_TEXT:
        return None
    try:
        # A text of bounded length with its quotation marks, so nothing but a text can come out.
        value = ast.literal_eval(token)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str) else None
