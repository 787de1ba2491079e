"""Text from logs, made harmless: no terminal commands, no invisible or reordering characters, no markup."""

from __future__ import annotations

import re

_ANSI = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # operating system commands: window titles, hyperlinks
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)"  # device control and other strings
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor, clearing the screen
    r"|\x1b[ -/]*[0-~]"  # two- and three-character escapes
)
_LINE_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_UNENCODABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_BLANKS = re.compile(r"\s+")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#~|!])")
_MARKDOWN_LINE_START = re.compile(r"^([-+=])(?=[\s=-]|$)")
_MARKDOWN_NUMBERED = re.compile(r"^(\d+)([.)])(?=\s|$)")
_LINKS = re.compile(r"(?i):(?=//)|www(?=\.)|mailto(?=:)|xmpp(?=:)|@")
_ZERO_WIDTH_SPACE = "\u200b"
_ARGUMENT = re.compile(
    r"(?<![^\s(,;])([^\s`|,;(]*=@FILE)(?![\w`])"
)  # of an option, to be copied: a character nobody sees would break it

UNPRINTABLE = "(unprintable)"
"""Shown for text that had characters, none of which can be shown."""


def block(value: object, limit: int = 2000) -> str:
    r"""Clean text that may keep its line breaks and tabs.

    Escape sequences and invisible or reordering characters are removed; lone surrogates and the two characters that
    XML forbids become U+FFFD, so that the result can always be encoded and always stands in an SVG.

    Args:
        value: any object; what is no string is shown as ``str`` shows it, None as nothing.
        limit: most characters to keep; what is cut is marked with an ellipsis.

    Returns:
        The clean text, with ``\n`` as its only line break.
    """
    if value is None:
        return ""
    text = str(value)
    # Reading ten times the limit leaves room for what will be removed, and bounds the work on a huge answer.
    text, cut = text[: 10 * limit], len(text) > 10 * limit
    clean = _LINE_BREAKS.sub("\n", _ANSI.sub("", text))
    clean = _UNENCODABLE.sub("\ufffd", _INVISIBLE.sub("", clean)).strip()
    if not clean:
        return UNPRINTABLE if text else ""
    return clean[:limit].rstrip() + "…" if cut or len(clean) > limit else clean


def line(value: object, limit: int = 2000) -> str:
    """Clean text on one line: as :func:`block`, with each run of blanks as one space."""
    return _BLANKS.sub(" ", block(value, limit))


def markdown(value: object, limit: int = 2000) -> str:
    """Text on one line that a markdown renderer shows as it is: no markup, no HTML, no link, no table cell border.

    Renderers turn bare addresses into links after parsing, so escaping does not stop them; a zero-width space does.
    Arguments such as ``judge:prompt=@FILE`` are code, where nothing is a link and nothing needs to be escaped.
    """
    pieces = _ARGUMENT.split(line(value, limit))
    return "".join(f"`{piece}`" if at % 2 else _escaped(piece, at == 0) for at, piece in enumerate(pieces))


def _escaped(text: str, first: bool) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _MARKDOWN.sub(r"\\\1", text)
    if first:
        text = _MARKDOWN_NUMBERED.sub(r"\1\\\2", _MARKDOWN_LINE_START.sub(r"\\\1", text))
    return _LINKS.sub(rf"\g<0>{_ZERO_WIDTH_SPACE}", text)
