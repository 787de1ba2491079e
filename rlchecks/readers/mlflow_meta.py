"""The ``meta.yaml`` of MLflow's file store: the flat part of it, without a YAML library."""

from __future__ import annotations

import json
import re

# What is indented continues the line before, or belongs to a list or an object, of which none is needed.
_FIELD = re.compile(r"([a-z_]{1,40}):(?: +(.*))?")
_ESCAPED_BREAK = re.compile(r"\\\s+\\?")


def parse_meta(text: str) -> dict[str, str]:
    """Read the fields of a ``meta.yaml`` as text; null is the empty text.

    PyYAML writes one field a line, breaks long text at spaces and indents what follows, puts text in single quotation
    marks if it could be something else, and in double ones, escaped, if it cannot be printed.

    Args:
        text: the file.
    """
    fields: dict[str, str] = {}
    name = None
    for line in text.splitlines():
        if line[:1] in (" ", "\t"):
            if name is not None:
                fields[name] += f" {line.strip()}"
        elif found := _FIELD.fullmatch(line.rstrip()):
            name = found[1]
            fields[name] = found[2] or ""
        else:
            name = None
    return {name: _unquoted(value.strip()) for name, value in fields.items()}


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        return _unescaped(_ESCAPED_BREAK.sub("", value))
    return "" if value in ("null", "~", "[]", "{}") else value


def _unescaped(quoted: str) -> str:
    # JSON knows most of the escapes; PyYAML's others are those of bytes and of characters beyond 16 bits.
    wide = re.sub(r"\\U([0-9A-Fa-f]{8})", lambda found: _character(found[1]), quoted)
    text = re.sub(r"\\x([0-9A-Fa-f]{2})", r"\\u00\1", wide)
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return quoted[1:-1]


def _character(digits: str) -> str:
    code = int(digits, 16)
    return chr(code) if code < 0x110000 and chr(code) not in '"\\' else "?"
