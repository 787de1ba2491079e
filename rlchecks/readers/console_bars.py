"""Progress bars of tqdm, which stand around logged rows, and in the midst of them.

A bar that the training loop draws tells the step: it is redrawn right after each row, since ``tqdm.write`` clears and
redraws all bars (tqdm ``tqdm/std.py``, ``external_write_mode``). Hugging Face's training bar has no description
(transformers ``trainer_callback.py``, ``ProgressCallback``), ms-swift's has ``Train:``
(ms-swift ``swift/trainers/patcher.py``).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BAR = r"\d{1,3}%\|[^|\r\n]{0,500}\| *(?P<done>\d{1,12})/(?P<total>\d{1,12}) \[[^\]\r\n]{0,200}\]"
_BEFORE = re.compile(rf"(?:^|[\r\n\]]) *(?:Train: *)?{_BAR}(?=\s*$)")
_AFTER = re.compile(rf"\s*(?:Train: *)?{_BAR}")
_FIRST = re.compile(rf"""\s*(?:[A-Z][^:{{}}'"|\r\n]{{0,60}}: *)?{_BAR}""")


class Bar(NamedTuple):
    """What a progress bar showed."""

    done: int
    total: int


def around(before: str, after: str) -> tuple[Bar, ...]:
    """Return the bar that stands directly before a row, and the one directly after it.

    Args:
        before: the text before it, some hundred characters.
        after: the text after it.
    """
    found = (_BEFORE.search(before), _AFTER.match(after))
    return tuple(Bar(int(bar["done"]), int(bar["total"])) for bar in found if bar)


def end_of_bar(text: str) -> int:
    """Tell where the bar at the beginning of a piece ends, whatever it counts; 0 if there is none."""
    bar = _FIRST.match(text)
    return bar.end() if bar else 0
