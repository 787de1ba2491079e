"""Console output written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from rlchecks.readers.console_found import Scan
from rlchecks.readers.console_scan import scan
from rlchecks.readers.console_text import columns

Row = Mapping[str, object]

HERE = Path("console.log")


def rows_of(count: int, first: int = 1, every: int = 1, shift: float = 0.0) -> list[dict[str, object]]:
    """Rows as TRL logs them, with epochs of 200 steps."""
    steps = range(first * every, (first + count) * every, every)
    return [
        {
            "loss": 0.01 * step,
            "grad_norm": 0.5 + shift,
            "learning_rate": 1e-06,
            "num_tokens": 1000.0 * step,
            "completions/mean_length": 100 + step / 3,
            "completions/clipped_ratio": 0.0,
            "rewards/accuracy/mean": 0.1 + step / 777 + shift,
            "reward": 0.1 + step / 777 + shift,
            "reward_std": 0.25,
            "frac_reward_zero_std": 0.125,
            "kl": 0.0005,
            "entropy": 1.25,
            "epoch": step / 200,
        }
        for step in steps
    ]


def printed(rows: Iterable[Row], decorate: Callable[[int, str], str] = lambda number, line: line) -> str:
    """Print rows, one a line, each decorated."""
    return "".join(decorate(number, repr(dict(row))) + "\n" for number, row in enumerate(rows, 1))


def bar(done: int, total: int, name: str = "") -> str:
    """Draw a progress bar as tqdm does."""
    share = done / total
    return f"{name}{share:4.0%}|{'█' * int(10 * share):10}| {done}/{total} [00:{done % 60:02}<01:00,  1.20s/it]"


def wrap(text: str, width: int, *, strip: bool = False) -> str:
    """Break lines where a terminal does; ``strip``: without the blanks at their ends, as some copies are."""
    broken = []
    for line in text.split("\n"):
        begun, taken = "", 0
        for letter in line:
            if taken + columns(letter) > width:
                broken.append(begun)
                begun, taken = "", 0
            begun += letter
            taken += columns(letter)
        broken.append(begun)
    return "\n".join(line.rstrip(" ") if strip else line for line in broken)


def found_in(text: str | bytes, size: int = 1 << 20) -> Scan:
    """Scan a text that comes in blocks of ``size`` bytes."""
    data = text.encode() if isinstance(text, str) else text
    return scan([data[at : at + size] for at in range(0, len(data), size)], HERE)


def rows_in(text: str | bytes) -> list[dict[str, object]]:
    """Return the logged rows of a text."""
    return [dict(row) for row in found_in(text).rows]


def same(one: Sequence[Row], other: Sequence[Row]) -> bool:
    """Whether rows are equal, a NaN to a NaN."""
    return repr([dict(row) for row in one]) == repr([dict(row) for row in other])
