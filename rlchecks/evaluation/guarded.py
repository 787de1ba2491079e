"""What a server may send: an answer of bounded size, from the address that the user named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from httpx2 import AsyncByteStream, Response

LARGEST = 32 << 20
"""Bytes of one response: a million tokens with their log-probabilities are fewer."""


class RefusedResponse(Exception):  # noqa: N818 - an outcome
    """A response that is not read to its end; ``str()`` says why."""


class _Counted(AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST:
                raise RefusedResponse(f"it is larger than {LARGEST >> 20} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def guard(client: Any) -> None:
    """Let an HTTP client follow no redirection, and read nothing that is compressed or without end.

    A redirection would carry the held-out questions to an address that nobody named, and bring answers from there. Few
    compressed bytes can be gigabytes.

    Args:
        client: an asynchronous client of httpx2, before its first call.
    """
    client.follow_redirects = False
    client.headers["accept-encoding"] = "identity"
    client.event_hooks["response"].append(_checked)


async def _checked(response: Response) -> None:
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RefusedResponse("it is compressed, which was not asked for")
    response.stream = _Counted(response.stream)
