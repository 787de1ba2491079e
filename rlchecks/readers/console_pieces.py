"""The pieces of terminal text, between line feeds and carriage returns; those that may hold a row are found fast.

A log of many gigabytes is mostly generated text. Only pieces in which one of a few byte strings occurs are ever
decoded; the rest is searched and dropped block by block.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rlchecks.readers.console_text import CONTEXT, Piece, clean_text, piece_of
from rlchecks.readers.stream import MAX_LINE

TRIGGER = re.compile(
    r"""(?P<dictionary>\{(?=['"]|\Z))"""
    r"""|(?P<verl>\bstep:\d{1,13} - )"""
    r"""|(?P<initial>Initial validation metrics: \{)"""
    r"""|(?P<torchtune>\bStep \d{1,13} \| [^\s|:]+:)"""
    r"""|(?P<nemo>={5,} (?:Step|Epoch) \d{1,13}/\d{1,13} ={5,}|(?:Training|Validation) Results:\s*$)"""
    r"""|(?P<planned>Total (?:training steps: |optimization steps = |steps = )\d[\d,]{0,15})"""
)
"""What a reader of console output looks for, in cleaned text."""

# What every text that TRIGGER finds holds, and how it goes on; an escape sequence may stand behind a brace.
_NEEDLES = {
    b"{'": None,
    b'{"': None,
    # A terminal broke the line there, or a bar came between.
    b"{\n": re.compile(rb"""\{\n['"]"""),
    b"{\r": re.compile(rb"\{\r"),
    b"{\x1b": re.compile(rb"""\{(?:\x1b\[[0-9;]*m)+['"]"""),
    b"step:": re.compile(rb"step:\d{1,13} - "),
    b"Step ": re.compile(rb"Step \d{1,13}(?: \| |/\d)"),
    b"= Epoch ": None,
    b"nitial validation metrics: ": None,
    b"Training Results:": None,
    b"Validation Results:": None,
    b"Total training steps: ": None,
    b"Total optimization steps = ": None,
    b"Total steps = ": None,
}
_NEVER = 1 << 62
_BRACE = ord("{")
# A row has a key that counts, or a reward and something else, or stands behind a label such as "rollout 12: ".
_COUNTER = re.compile(rb"""(?:epoch|steps?|iter|iteration|/batch)['"]""")
_BESIDE_REWARD = re.compile(rb"loss|kl|_std|length|entropy|_norm|_rate")
_LABELLED = re.compile(rb"(?:\d|_metrics|validation metrics): ?(?:\r*\n[^\n{]{0,120})?\{\Z")
# A carriage return before a line feed belongs to it.
_END = re.compile(rb"\r*\n|\r+")
_END_BEGINS = re.compile(rb"[\r\n]")


class Pieces:
    """The pieces of a text that comes in blocks.

    Attributes:
        passed_over: how many pieces were longer than :data:`~rlchecks.readers.stream.MAX_LINE`, and not looked at.
    """

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.passed_over = 0
        self._chunks = self._whole(blocks)
        self._given_back: deque[Piece] = deque()
        self._buffer = b""
        self._at = 0
        self._line = 1
        self._next = dict.fromkeys(_NEEDLES, -1)

    def seek(self) -> Piece | None:
        """Return the next piece with a trigger; None at the end."""
        while self._given_back:
            piece = self._given_back.popleft()
            if TRIGGER.search(piece.text, piece.start):
                return piece
        while True:
            hit = self._hit()
            if hit == _NEVER:
                self._move(len(self._buffer))
                if not self._fill():
                    return None
                continue
            begins = max(self._buffer.rfind(b"\n", self._at, hit), self._buffer.rfind(b"\r", self._at, hit)) + 1
            self._move(begins or self._at)
            if self._is_idle(hit):
                continue
            piece = self._take()
            if TRIGGER.search(piece.text, piece.start):
                return piece

    def next(self) -> Piece | None:
        """Return the next piece, whatever is in it; None at the end."""
        if self._given_back:
            return self._given_back.popleft()
        if self._at == len(self._buffer) and not self._fill():
            return None
        return self._take()

    def give_back(self, pieces: Sequence[Piece]) -> None:
        """Let pieces come again, in this order, before all others."""
        self._given_back.extendleft(reversed(pieces))

    def ahead(self) -> str:
        """Return some hundred characters of what comes next, cleaned."""
        while len(self._buffer) - self._at < CONTEXT and self._fill():
            pass
        text = ""
        for piece in islice(self._given_back, 10):
            text += piece.text[piece.start : piece.start + CONTEXT] + piece.end
        return text + clean_text(self._buffer[self._at : self._at + CONTEXT])[0]

    def _hit(self) -> int:
        """Find the first needle from here on; no needle is searched for twice in the same bytes."""
        while True:
            needle = min(self._next, key=self._next.__getitem__)
            known = self._next[needle]
            if known >= self._at:
                return known
            self._next[needle] = self._find(needle)

    def _find(self, needle: bytes) -> int:
        pattern = _NEEDLES[needle]
        found = self._buffer.find(needle, self._at)
        while found >= 0 and pattern is not None and not pattern.match(self._buffer, found):
            found = self._buffer.find(needle, found + 1)
        return _NEVER if found < 0 else found

    def _is_idle(self, hit: int) -> bool:
        """Pass over a piece whose dictionaries end in it and cannot be rows; whether it was one."""
        ended = _end(self._buffer, hit)
        stop = ended.start() if ended else len(self._buffer)
        if self._buffer[hit] != _BRACE or self._buffer.rfind(b"}", hit, stop) < self._buffer.rfind(b"{", hit, stop):
            return False
        if self._is_telling(self._buffer[self._at : stop]) or self._is_labelled(hit):
            return False
        self._move(stop)
        return True

    def _is_telling(self, piece: bytes) -> bool:
        if b"\x1b" in piece:
            # Colours may be between a key and its quotation mark.
            return True
        # What most pieces lack is asked first.
        if (b"epoch" in piece or b"step" in piece or b"iter" in piece or b"batch" in piece) and _COUNTER.search(piece):
            return True
        return b"reward" in piece and _BESIDE_REWARD.search(piece) is not None

    def _is_labelled(self, hit: int) -> bool:
        """Whether a label stands before a dictionary, or in the line before."""
        ends = (self._buffer[max(0, at - 4) : at].rstrip() for at in (hit, self._at))
        if not any(end.endswith(b":") for end in ends):
            return False
        return _LABELLED.search(self._buffer, max(0, hit - 160), hit + 1) is not None

    def _move(self, to: int) -> None:
        self._line += self._buffer.count(b"\n", self._at, to)
        self._at = to

    def _take(self) -> Piece:
        start, line = self._at, self._line
        ended = _end(self._buffer, start)
        stop, following = ended.span() if ended else (len(self._buffer), len(self._buffer))
        self._move(following)
        end = "" if ended is None else "\n" if ended[0].endswith(b"\n") else "\r"
        return piece_of(self._buffer[start:stop], line, end, self._buffer[max(0, start - CONTEXT) : start])

    def _fill(self) -> bool:
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        kept = max(0, self._at - CONTEXT)
        self._buffer = self._buffer[kept:] + chunk
        self._at -= kept
        self._next = dict.fromkeys(_NEEDLES, -1)
        return True

    def _whole(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Cut blocks between pieces; leave out what is too long for one, but for its end."""
        held: list[bytes] = []
        size = 0
        for block in blocks:
            block = block.translate(None, b"\0") if b"\0" in block else block
            # A carriage return at the end may belong to a line feed in the next block.
            sure = len(block.rstrip(b"\r"))
            cut = max(block.rfind(b"\n", 0, sure), block.rfind(b"\r", 0, sure)) + 1
            if cut:
                first = _end(block, 0) if size > MAX_LINE else None
                yield b"".join(held) + block[first.start() if first else 0 : cut]
                held, size = [block[cut:]], len(block) - cut
                continue
            if size <= MAX_LINE < size + len(block):
                self.passed_over += 1
                held = []
            size += len(block)
            if size <= MAX_LINE:
                held.append(block)
        if rest := b"".join(held):
            yield rest


def _end(text: bytes, start: int) -> re.Match[bytes] | None:
    begins = _END_BEGINS.search(text, start)
    return _END.match(text, begins.start()) if begins else None
