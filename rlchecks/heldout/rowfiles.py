"""The format of a held-out file, told by content and extension."""

from __future__ import annotations

import re
from pathlib import Path

from rlchecks.errors import InputError
from rlchecks.heldout.csvfile import parse_csv
from rlchecks.heldout.jsonlines import parse_json_lines
from rlchecks.heldout.parquetfile import parse_parquet
from rlchecks.heldout.rawrows import RawRows

_OBJECT = re.compile(r"\s*\{")  # nothing is stripped here, which would copy the whole file

EXTENSIONS = (".jsonl", ".ndjson", ".csv", ".parquet")
"""What a directory is searched for."""


def parse(data: bytes, path: Path) -> RawRows:
    """The raw rows of a file.

    Args:
        data: its bytes.
        path: its name; the extension decides where the content does not.

    Raises:
        InputError: empty, of no known format, not UTF-8, torn, or without one of the required columns.
    """
    if data[:4] == b"PAR1":
        return parse_parquet(data, path)
    if not data or data.isspace():
        raise InputError("the file is empty", path=path, todo="give a file with held-out rows")
    data = data.removeprefix(b"\xef\xbb\xbf")
    text = _decoded(data, path)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        raise InputError("the file is no Parquet file", path=path, todo="write it again or give its real extension")
    if _OBJECT.match(text) or suffix in (".jsonl", ".ndjson", ".json"):
        return parse_json_lines(data, text, path)
    if suffix == ".csv" or "question_id" in text.split("\n", 1)[0]:
        return parse_csv(data, text, path)
    raise InputError(
        "the format is not known", path=path, where="line 1", todo="give held-out rows as JSON Lines, CSV or Parquet"
    )


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"the text is not UTF-8 (byte 0x{data[error.start]:02x})",
            path=path,
            where=f"line {line}",
            todo="save the file as UTF-8",
        ) from None
