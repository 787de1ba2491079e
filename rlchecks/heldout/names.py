"""Names from logs and rows: when two mean the same, and how they are shown."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.resources import files

_SHOWN = 60  # characters
_LISTED = 20
_LOG_PREFIXES = frozenset({"train", "eval", "reward", "rewards"})
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")  # of Hangul: letters by category, and yet not to be seen
_PLAIN_NAME = re.compile(r"\w[\w.+-]{0,59}", re.ASCII)


def same_name(one: str, other: str) -> bool:
    """Whether two names of a judge or grader mean the same.

    Only letters and digits count, without regard to case and Unicode form. What trainers and trackers put around a
    reward function's name in their logs (``train/rewards/NAME/mean``) does not count. Letters of another script that
    look like a Latin one are that letter: who has to tell two judges apart must not be shown the same word twice.
    Source: Unicode Technical Standard 39, Unicode Security Mechanisms, section 4.
    """
    return one == other or not _forms(one).isdisjoint(_forms(other))


def latin(text: str) -> str:
    """A text in Unicode's NFKC without signs that nobody sees, with every letter that looks like a Latin one as that.

    Case is kept.
    """
    seen = (sign for sign in unicodedata.normalize("NFKC", text) if not _invisible(sign))
    return "".join(seen).translate(_look_alikes())


def shown(name: str) -> str:
    """A name from a file on one line of printable ASCII, in quotes, cut to a fair length."""
    text = ascii(name)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]}...'"


def listed(names: Iterable[str]) -> str:
    """The first names of several for an error, each as :func:`shown`."""
    return _joined(names, shown)


def label(name: str) -> str:
    """A name within a sentence: as it is if it is plain, else as :func:`shown`."""
    return name if _PLAIN_NAME.fullmatch(name) else shown(name)


def labels(names: Iterable[str]) -> str:
    """The first names of several within a sentence, each as :func:`label`."""
    return _joined(names, label)


def _joined(names: Iterable[str], written: Callable[[str], str]) -> str:
    found = list(names)
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(written(name) for name in found[:_LISTED]) + more if found else "none"


@lru_cache(maxsize=1)
def _look_alikes() -> dict[int, str]:
    table = tomllib.loads(files("rlchecks.heldout").joinpath("confusables.toml").read_text(encoding="utf-8"))
    return {ord(sign): letter for letter, signs in table.items() for sign in signs}


def _invisible(sign: str) -> bool:
    return sign in _FILLERS or unicodedata.category(sign) == "Cf"


def _forms(name: str) -> frozenset[str]:
    # A capital may look like another letter than its small form: both ways of reading it count.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return frozenset(_plain(form.casefold(), name) for form in (latin(name), latin(folded)))


def _plain(folded: str, name: str) -> str:
    parts = [
        "".join(sign for sign in part if sign.isalnum())
        for part in re.split(r"[/.]", unicodedata.normalize("NFKC", folded))
    ]
    parts = [part for part in parts if part]
    while len(parts) > 1 and parts[0] in _LOG_PREFIXES:
        parts.pop(0)
    if len(parts) > 1 and parts[-1] == "mean":
        parts.pop()
    return "".join(parts) or name
