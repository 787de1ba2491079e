"""Models and judges as they are named on a command line."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from rlchecks.errors import UsageError
from rlchecks.heldout.names import shown

RULES = ("exact", "numeric", "math", "choice", "regex", "python")
"""Judges that are rules."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ENDPOINT = re.compile(r"(?P<model>.+)@(?P<url>https?://.+)", re.DOTALL)
_SCALE = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Endpoint:
    """A model at an OpenAI-compatible address.

    Attributes:
        name: what the user calls it: the checkpoint's or the judge's name.
        model: what the server calls it.
        base_url: the address, up to and without ``/chat/completions``.
        key_env: environment variable with the API key; None: the server wants none.
    """

    name: str
    model: str
    base_url: str
    key_env: str | None = None

    @property
    def key(self) -> str | None:
        """The API key; it is read where it is needed and kept nowhere."""
        return None if self.key_env is None else os.environ.get(self.key_env)


@dataclass(frozen=True)
class JudgeSpec:
    """A judge.

    Attributes:
        name: its name in the logs.
        kind: one of :data:`RULES`, or ``model``.
        argument: what follows the kind: a tolerance, a pattern, an import path.
        endpoint: where a model judge is.
    """

    name: str
    kind: str
    argument: str | None = None
    endpoint: Endpoint | None = None


def parse_models(given: Sequence[str], key_env: Sequence[str]) -> tuple[Endpoint, ...]:
    """Models from ``NAME=MODEL@BASE_URL``.

    Raises:
        UsageError: one is malformed, or two have one name.
    """
    keys = _keys(key_env)
    models = []
    for text in given:
        name, separator, rest = text.partition("=")
        if not separator or not _NAME.fullmatch(name):
            raise UsageError(
                f"--model {shown(text)}: expected NAME=MODEL@BASE_URL, such as "
                "base=Qwen/Qwen3-4B@http://localhost:8000/v1, with a NAME of letters, digits and . _ -."
            )
        models.append(_endpoint(name, rest, f"--model {shown(text)}", keys))
    _unique([model.name for model in models], "--model")
    return tuple(models)


def parse_judges(given: Sequence[str], key_env: Sequence[str]) -> tuple[JudgeSpec, ...]:
    """Judges from ``[NAME=]KIND[:ARGUMENT]``.

    ``exact``, ``numeric[:TOLERANCE]``, ``math``, ``choice``, ``regex:PATTERN``, ``python:MODULE:FUNCTION`` and
    ``model:MODEL@BASE_URL``; the name is the kind where none is given.

    Raises:
        UsageError: one is malformed, or two have one name.
    """
    keys = _keys(key_env)
    judges = [_judge(text, keys) for text in given]
    _unique([judge.name for judge in judges], "--judge")
    return tuple(judges)


def parse_scale(text: str) -> tuple[float, float]:
    """Smallest and largest score from ``LOW..HIGH``.

    Raises:
        UsageError: it is none.
    """
    found = _SCALE.fullmatch(text.strip())
    if not found or not float(found[1]) < float(found[2]):
        raise UsageError(f"--scale {shown(text)}: expected LOW..HIGH, such as 0..10.")
    return float(found[1]), float(found[2])


def check_keys(key_env: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a key for nobody, and variables that are not set.

    Raises:
        UsageError: which one.
    """
    for name, variable in _keys(key_env).items():
        if name is not None and name not in names:
            raise UsageError(f"--key-env {name}={variable}: there is no model or judge of that name.")
        if not os.environ.get(variable):
            raise UsageError(f"--key-env {variable}: that environment variable is not set.")


def _judge(text: str, keys: dict[str | None, str]) -> JudgeSpec:
    head = text.split(":", 1)[0]
    name, separator, _ = head.partition("=")
    rest = text[len(name) + 1 :] if separator else text
    kind, colon, argument = rest.partition(":")
    option = f"--judge {shown(text)}"
    name = name if separator else kind
    if kind not in (*RULES, "model") or not _NAME.fullmatch(name):
        raise UsageError(f"{option}: expected [NAME=]KIND[:ARGUMENT], with KIND one of {', '.join(RULES)}, model.")
    if kind in ("regex", "python", "model") and not argument:
        wanted = {"regex": "PATTERN", "python": "MODULE:FUNCTION", "model": "MODEL@BASE_URL"}[kind]
        raise UsageError(f"{option}: expected {kind}:{wanted}.")
    if kind in ("exact", "math", "choice") and colon:
        raise UsageError(f"{option}: {kind} takes no argument.")
    endpoint = _endpoint(name, argument, option, keys) if kind == "model" else None
    return JudgeSpec(name, kind, argument if argument and endpoint is None else None, endpoint)


def _endpoint(name: str, text: str, option: str, keys: dict[str | None, str]) -> Endpoint:
    found = _ENDPOINT.fullmatch(text)
    if not found:
        raise UsageError(f"{option}: expected MODEL@BASE_URL with an address such as http://localhost:8000/v1.")
    url = found["url"].rstrip("/")
    if "@" in url or "?" in url or "#" in url:
        raise UsageError(
            f"The address of {name} may hold no password or query; "
            "put a key into an environment variable and name that with --key-env."
        )
    try:
        host = urlsplit(url).hostname and (urlsplit(url).port, True)
    except ValueError:
        host = None
    if not host:
        raise UsageError(f"{option}: {shown(url)} is no address.")
    return Endpoint(name, found["model"], url.removesuffix("/chat/completions"), keys.get(name) or keys.get(None))


def _keys(key_env: Sequence[str]) -> dict[str | None, str]:
    keys: dict[str | None, str] = {}
    for text in key_env:
        name, separator, variable = text.rpartition("=")
        if not _VARIABLE.fullmatch(variable):
            # Not shown: it may be the key itself.
            raise UsageError("--key-env takes the name of an environment variable that holds the key, never the key.")
        keys[name if separator else None] = variable
    return keys


def _unique(names: Sequence[str], option: str) -> None:
    twice = [name for name in names if [other.lower() for other in names].count(name.lower()) > 1]
    if twice:
        raise UsageError(f"{option}: {twice[0]} is there twice; give each a NAME of its own, as in NAME=....")
