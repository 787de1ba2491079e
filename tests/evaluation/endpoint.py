"""An OpenAI-compatible server on loopback that answers as a test says."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What goes over the wire.

    Attributes:
        status: HTTP status.
        body: the bytes.
        headers: further headers.
        promised: length that is promised; None: that of the body.
        delay: seconds before anything is sent.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    promised: int | None = None
    delay: float = 0.0


def said(text: str, *, finish: str = "stop", usage: bool = True, choices: bool = True) -> Reply:
    """A completion."""
    document: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}]
        if choices
        else [],
    }
    if usage:
        document["usage"] = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Reply(body=json.dumps(document).encode())


def refused(status: int, message: str = "no", **headers: str) -> Reply:
    """An error as OpenAI's servers word it."""
    return Reply(status, json.dumps({"error": {"message": message, "type": "t", "code": None}}).encode(), headers)


class Endpoint:
    """What was asked, and where.

    Args:
        answer: the reply to a request; its second argument tells how often this very prompt was asked before.
    """

    def __init__(self, answer: Callable[[Request, int], Reply | str]) -> None:
        self._answer = answer
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    @property
    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [prompt_of(request) for request in self.requests]

    def reply(self, request: Request, headers: dict[str, str]) -> Reply:
        """Note a request and answer it."""
        with self._lock:
            before = self.prompts.count(prompt_of(request))
            self.requests.append(request)
            self.headers.append(headers)
        found = self._answer(request, before)
        return found if isinstance(found, Reply) else said(found)


def prompt_of(request: Request) -> str:
    """The last message's text."""
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@contextmanager
def serving(answer: Callable[[Request, int], Reply | str]) -> Iterator[Endpoint]:
    """Serve until the end of the block."""
    endpoint = Endpoint(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            reply = endpoint.reply(request, dict(self.headers))
            time.sleep(reply.delay)
            try:
                self.send_response(reply.status)
                self.send_header("content-type", "application/json")
                length = len(reply.body) if reply.promised is None else reply.promised
                self.send_header("content-length", str(length))
                for name, value in reply.headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(reply.body)
            except OSError:
                pass
            if reply.promised is not None:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
