"""The process that is Prefect's temporary server: ``python -m rlchecks.orchestrator.temporary SOCKET``.

Prefect can start such a server itself (``SubprocessASGIServer``). It is done here instead because then

- it starts before this command has imported Prefect, which need not import its own server to start it;
- the port is bound by the parent and handed over, so that of several commands at once none takes another's server;
- only one server at a time creates or migrates the database they share;
- it ends with its parent, however that ends, and Ctrl-C reaches the parent alone;
- it cannot import modules from the current directory.

``create_app`` is what ``prefect server start`` serves, but it is not documented: where it has changed, the answer is
``unsupported`` and Prefect starts its server in its own way.

The answer is a line of JSON on standard output, ``{"answer": ..., "detail": ...}``, where the answer is ``ready``,
``configured`` or ``unsupported``. No line at all means that the start failed; standard error says why.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rlchecks.loading import uncollected
from rlchecks.orchestrator.environment import SERVER_DEFAULTS
from rlchecks.orchestrator.turns import turn

if TYPE_CHECKING:
    import uvicorn

READY = "ready"
CONFIGURED = "configured"
UNSUPPORTED = "unsupported"

SCHEDULING = "scheduling"
"""The second argument of a server with all services and the user interface."""

LOCK_NAME = "rlchecks-server-start.lock"
_GRACE_SECONDS = 2


def main() -> None:
    """Serve on the inherited socket until standard input closes or a signal arrives."""
    answers = _claim_standard_output()
    listener = socket.socket(fileno=int(sys.argv[1]))
    with ExitStack() as stack, ExitStack() as loaded:
        loaded.enter_context(uncollected())
        try:
            from prefect.settings import get_current_settings, temporary_settings

            if get_current_settings().api.url:
                # A profile or prefect.toml names a server; the parent had not read them when it started this process.
                _answer(answers, CONFIGURED)
                return
            stack.enter_context(temporary_settings(set_defaults=SERVER_DEFAULTS))
            server = _build(answers, loaded, ephemeral=SCHEDULING not in sys.argv)
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            _answer(answers, UNSUPPORTED, f"{type(error).__name__}: {error}")
            return
        threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
        server.run(sockets=[listener])


def _build(answers: TextIO, loaded: ExitStack, *, ephemeral: bool) -> uvicorn.Server:
    import uvicorn
    from prefect.server.api.server import create_app
    from prefect.settings import get_current_settings

    lock = Path(get_current_settings().home) / LOCK_NAME

    class ServerThatTakesTurns(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            # Two servers that create the same database at once fail: "table already exists".
            with turn(lock, give_up=lambda: self.should_exit):
                await super().startup(sockets=sockets)
            loaded.close()
            _answer(answers, READY)

    # An ephemeral server runs only the services that store what it is told.
    app = create_app(ephemeral=ephemeral, final=True)
    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=_GRACE_SECONDS)
    return ServerThatTakesTurns(config)


def _claim_standard_output() -> TextIO:
    """Keep standard output for the answer: whatever else is printed goes to standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _answer(answers: TextIO, answer: str, detail: str | None = None) -> None:
    answers.write(json.dumps({"answer": answer, "detail": detail}) + "\n")
    answers.flush()


def _end_with_parent(server: uvicorn.Server) -> None:
    # The parent never writes: reading returns when the parent closes its end, or is gone. (sys.stdin would hold a lock
    # that the interpreter needs when it ends.)
    os.read(sys.stdin.fileno(), 1)
    server.should_exit = True


if __name__ == "__main__":
    main()
