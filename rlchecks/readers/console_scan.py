"""Console output to logged rows, in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rlchecks.readers import console_torchtune, console_verl
from rlchecks.readers.console_bars import around
from rlchecks.readers.console_dictionary import Printed, read_dictionary
from rlchecks.readers.console_found import Scan
from rlchecks.readers.console_nemo import Nemo, is_bullet, results
from rlchecks.readers.console_pieces import TRIGGER, Pieces
from rlchecks.readers.console_rows import INITIAL, Entry, entry_of, is_again, is_inside, looks_logged
from rlchecks.readers.console_text import CONTEXT, Piece
from rlchecks.readers.rows import Row, Rows

_MOST_LINES = 2_000
_MOST_SHAPES = 1000
_FIRST_KEY = re.compile(r"""\A\{\s*['"]([^'"]{1,80})""")


def scan(blocks: Iterable[bytes], path: Path) -> Scan:
    """Find the logged rows of console output.

    Args:
        blocks: the text, in blocks.
        path: the file, for the error about one with too many rows.
    """
    scanner = _Scanner(Pieces(blocks), Scan(Rows(path)))
    for _ in scanner.steps():
        pass
    scanner.found.passed_over = scanner.pieces.passed_over
    return scanner.found


def first_row(blocks: Iterable[bytes]) -> Row | None:
    """Return the first logged row of console output, of which no more is read; None if there is none."""
    scanner = _Scanner(Pieces(blocks), Scan())
    return next((scanner.found.rows[0] for _ in scanner.steps() if scanner.found.entries), None)


class _Broken(NamedTuple):
    """The lines where a dictionary began that could not be read, and where it broke off; and its first key."""

    first: int = 0
    last: int = 0
    keys: Sequence[str] = ()


class _Scanner:
    def __init__(self, pieces: Pieces, found: Scan) -> None:
        self.pieces = pieces
        self.found = found
        self._last: tuple[str, Row] = ("", {})
        self._keys: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._place = 0
        self._nemo = Nemo()
        self._verl_keys: list[str] = []
        self._verl_shapes: set[tuple[str, ...]] = set()
        self._broken = _Broken()
        # The line where the next element of a list is.
        self._list_goes_on = 0

    def steps(self) -> Iterator[None]:
        """Read on, from one thing that was looked for to the next."""
        while (piece := self.pieces.seek()) is not None:
            hit = TRIGGER.search(piece.text, piece.start)
            if hit is None:
                continue
            self._place += 1
            if hit["dictionary"]:
                self._dictionary(piece, hit.start())
            elif hit["verl"]:
                self._verl(piece, hit.start())
            elif hit["initial"]:
                self._initial(piece, hit.start(), hit.end() - 1)
            elif hit["torchtune"]:
                self._torchtune(piece, hit.start())
            elif hit["nemo"]:
                self._nemo_rl(piece)
            else:
                self.found.planned.append((self._place, int(re.sub(r"\D", "", hit["planned"]))))
                self.pieces.give_back([piece._replace(start=hit.end())])
            yield

    def _keep(self, entry: Entry, row: Row, piece: Piece) -> None:
        if self.found.torn:
            # It was not the last.
            self._lose(piece)
            self.found.torn = False
        again = self._last[0] == entry.kind and is_again(self._last[1], row)
        self._last = entry.kind, row
        # One tuple for all rows with the same keys.
        keys = self._keys.setdefault(entry.keys, entry.keys)
        at = len(self.found.rows)
        entry = entry._replace(keys=keys, at=at, place=self._place, source=piece.source, again=again)
        self.found.entries.append(entry)
        self.found.rows.append(row)

    def _lose(self, piece: Piece) -> None:
        self.found.lost += 1
        self.found.first_lost = self.found.first_lost or piece.line

    def _dictionary(self, piece: Piece, at: int) -> None:
        keys = _FIRST_KEY.findall(piece.text[at : at + 200])
        before = piece.context(at)
        inside = is_inside(before) or (piece.line == self._list_goes_on and not piece.text[:at].strip())
        printed = read_dictionary(piece, at, self.pieces)
        self.pieces.give_back(printed.rest)
        if inside:
            self._inside(piece, printed, keys)
            return
        entry = entry_of(printed.pairs, before, quoted=printed.quoted)
        if printed.whole and entry and not self._is_doubtful(piece, printed):
            self.found.damaged += printed.damaged
            if entry.kind == "trainer":
                entry = entry._replace(bars=around(before, self.pieces.ahead()))
            self._keep(entry, printed.pairs, piece)
        elif entry or (not printed.whole and len(printed.pairs) > 1 and looks_logged(printed.pairs)):
            if printed.at_end:
                self.found.torn = True
            else:
                self._lose(piece)
        if not printed.whole and looks_logged([*printed.pairs, *keys]):
            self._broken = _Broken(piece.line, printed.line, keys)

    def _inside(self, piece: Piece, printed: Printed, keys: Sequence[str]) -> None:
        """Pass over a dictionary that is a part of something."""
        rest = printed.rest[0]
        if printed.whole and rest.text[rest.start : rest.start + CONTEXT].strip() == ",":
            self._list_goes_on = rest.line + 1
        if piece.line == self._broken.first and keys == self._broken.keys:
            # It only began in the midst of another one like it.
            self._lose(piece)

    def _is_doubtful(self, piece: Piece, printed: Printed) -> bool:
        """Whether a dictionary begins where another one broke off, so that it may end with the rest of that one."""
        return piece.line == self._broken.first or (printed.joined and piece.line <= self._broken.last)

    def _verl(self, piece: Piece, at: int) -> None:
        following = list[Piece]()
        text, count, whole = console_verl.unwrapped((piece.text[at:], piece.width), self._unmarked(following))
        self.pieces.give_back(following[count:])
        last = following[count - 1] if count else piece
        line = console_verl.read_line(text, whole=whole and last.end != "")
        if line is None:
            if console_verl.looks_logged(text):
                self._lose(piece)
            return
        keys = list(line.row)
        seen = tuple(keys) in self._verl_shapes
        if len(self._verl_shapes) < _MOST_SHAPES:
            self._verl_shapes.add(tuple(keys))
        if last.end and len(keys) < len(self._verl_keys) and keys == self._verl_keys[: len(keys)] and not seen:
            # It ends earlier than the line before it, as no line did so far (validation may stand at the end of some),
            # so it was cut, and where, cannot be told.
            line.row.popitem()
            whole = False
        else:
            self._verl_keys = keys
        self.found.cut += not whole or not last.end
        if line.row:
            rounded = "3 decimals" if line.rounded else None
            self._keep(Entry(tuple(line.row), "verl", line.step, rounded=rounded), line.row, piece)

    def _unmarked(self, taken: list[Piece]) -> Iterator[tuple[str, int]]:
        """Yield the texts and widths of what follows, up to a line with a prefix; all are appended to ``taken``."""
        while len(taken) < _MOST_LINES and (after := self.pieces.next()) is not None:
            taken.append(after)
            if after.source is not None:
                return
            yield after.text[after.start :], after.width

    def _initial(self, piece: Piece, start: int, brace: int) -> None:
        mark = piece.text[max(0, start - 2) : start].lstrip()
        if mark[-1:] not in ("'", '"'):
            # Printed as it is, so that a dictionary follows.
            self.pieces.give_back([piece._replace(start=brace)])
            return
        lines, following = [mark + piece.text[start:]], list[Piece]()
        while mark[0] == "(" and not lines[-1].rstrip().endswith(")") and len(lines) < _MOST_LINES:
            after = self.pieces.next()
            if after is None:
                break
            following.append(after)
            if after.source in (None, piece.source):
                lines.append(after.text)
        row = console_verl.read_initial(lines)
        if row is None:
            self.pieces.give_back(following)
        else:
            self._keep(Entry(tuple(row), "verl", name=INITIAL), row, piece)

    def _torchtune(self, piece: Piece, at: int) -> None:
        line = console_torchtune.read_line(piece.text[at:], ended=piece.end != "")
        if line is not None and line.whole:
            self._keep(Entry(tuple(line.row), "torchtune", line.step), line.row, piece)
        elif line is not None and line.row:
            self._lose(piece)

    def _nemo_rl(self, piece: Piece) -> None:
        self._nemo.heading(piece.text)
        if "Results:" not in piece.text:
            return
        bullets = list[Piece]()
        while (after := self.pieces.next()) is not None and is_bullet(after.text) and len(bullets) < _MOST_LINES:
            bullets.append(after)
        self.pieces.give_back([after] if after else [])
        row = results(piece.text, [bullet.text for bullet in bullets])
        if row:
            nemo = self._nemo
            entry = Entry(tuple(row), "nemo_rl", nemo.step, planned=nemo.planned, rounded="4 decimals")
            self._keep(entry, row, piece)
