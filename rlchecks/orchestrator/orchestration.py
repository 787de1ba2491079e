"""One command's use of Prefect: start it early, run flows on it, leave only when everything is recorded.

    with session() as orchestration:        # the temporary server starts in the background, unless one is configured
        import great_expectations           # ... meanwhile, whatever takes long to load
        orchestration.ready()               # waits for the server; OrchestratorError when there is none
        verdict = orchestration.run(flow, parameter=...)
        orchestration.settle()              # waits until all of it is stored; OrchestratorError when it is not

``ready`` and ``settle`` may be left out: ``run`` and the end of the block call them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rlchecks.errors import OrchestratorError
from rlchecks.loading import uncollected
from rlchecks.orchestrator import environment, ledger
from rlchecks.orchestrator.server import READY, TemporaryServer

if TYPE_CHECKING:
    from prefect import Flow

SETTLE_SECONDS = 20.0
LEAVE_SECONDS = 5.0


@contextmanager
def session() -> Iterator[Orchestration]:
    """Use Prefect while the block runs; enter it before Prefect or Great Expectations is imported.

    Returns at once: the temporary server starts in the background, unless ``PREFECT_API_URL`` names another one. When
    the block ends, flow runs that are not settled yet are, and the temporary server stops.

    Raises:
        OrchestratorError: at the end of the block, when what it ran could not be read back.
    """
    environment.prepare()
    orchestration = Orchestration(_start_early())
    try:
        yield orchestration
        orchestration.settle()
    except BaseException:
        # What a failing command did is recorded too, as far as that can be done quickly.
        with suppress(OrchestratorError):
            orchestration.settle(LEAVE_SECONDS)
        raise
    finally:
        orchestration.close()


def _start_early() -> TemporaryServer | None:
    # Handing a socket to a child process needs POSIX; elsewhere Prefect starts its server itself.
    if os.environ.get(environment.API_URL) or os.name != "posix":
        return None
    server = TemporaryServer.start()
    environment.direct_prefect_to(server.url)
    return server


class Orchestration:
    """What ``session`` yields; for the thread that entered it, since that thread's Prefect settings are changed.

    Attributes:
        temporary: whether the server lives only as long as the session; known once ``ready`` has returned.
    """

    def __init__(self, server: TemporaryServer | None) -> None:
        self.temporary = server is not None
        self._server = server
        # What happens until ready() is importing large libraries.
        self._loading = ExitStack()
        self._loading.enter_context(uncollected())
        self._settings = ExitStack()
        self._is_ready = False
        self._is_lost = False

    @property
    def server_pid(self) -> int | None:
        """Process id of the temporary server, where this session has started one."""
        return None if self._server is None else self._server.pid

    def ready(self) -> None:
        """Wait until Prefect's server answers, and direct Prefect to it. A second call does nothing.

        Raises:
            OrchestratorError: the temporary server did not start, or the configured one did not answer within 5 s.
        """
        if self._is_ready:
            return
        from prefect.settings import get_current_settings, temporary_settings

        from rlchecks.orchestrator.console import without_tracebacks
        from rlchecks.orchestrator.health import check_health

        with temporary_settings(set_defaults=environment.SERVER_DEFAULTS) as settings:
            patience = settings.server.ephemeral.startup_timeout_seconds
        url = self._server_that_answers(patience)
        self.temporary = url is not None or not get_current_settings().api.url
        defaults = environment.TEMPORARY_DEFAULTS if self.temporary else {}
        self._settings.enter_context(temporary_settings(set_defaults={**defaults, **environment.COMMAND_DEFAULTS}))
        self._settings.enter_context(without_tracebacks())
        if url is None:
            check_health()
        self._loading.close()
        self._is_ready = True

    def run(self, flow: Flow[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a Prefect flow and return what it returns, or raise what it raises.

        Args:
            flow: the flow, synchronous.
            args: its arguments.
            kwargs: its keyword arguments.

        Raises:
            OrchestratorError: the server stopped answering while the flow ran. What the flow has written by then stays.
        """
        from httpx import HTTPError

        self.ready()
        # An interrupted flow returns no state that would name its run, hence the hook.
        noted = flow.with_options(on_running=[*flow.on_running_hooks, ledger.note_flow_run])
        try:
            # The state tells failures of the flow, which it carries, from failures to record it, which are raised.
            state: Any = noted(*args, return_state=True, **kwargs)
        except Exception as error:
            if isinstance(error, HTTPError | OSError) or self._server_has_died():
                raise self._lost() from error
            raise
        return state.result()

    def settle(self, timeout: float = SETTLE_SECONDS) -> None:
        """Wait until everything reported so far is stored.

        On the temporary server, which is about to end, it is read back: the verdicts' events, and the final state of
        every task of the flows that ``run`` has run. Any other server has it once it has been sent.

        Args:
            timeout: seconds, for sending and again for reading back.

        Raises:
            OrchestratorError: the server did not take it, or did not show it in time.
        """
        from httpx import HTTPError

        from rlchecks.orchestrator import drain, readback

        told = ledger.take()
        if not told.flow_runs:
            return
        if self._server_has_died():
            raise self._lost()
        try:
            marks = [readback.send_mark(told.flow_runs)] if self.temporary else []
            drain.send_all(timeout)
            if self.temporary:
                readback.wait_until_stored(told.flow_runs, [*told.events, *marks], timeout)
        except HTTPError as error:
            raise self._lost() from error

    def close(self) -> None:
        """Stop the temporary server and restore Prefect's settings. Nothing that Prefect does later can wait for it."""
        try:
            if self._is_ready and not self._is_lost:
                from rlchecks.orchestrator import drain

                with suppress(OrchestratorError):
                    drain.send_all(LEAVE_SECONDS)
            self._settings.close()
        finally:
            self._loading.close()
            self._forget_server()

    def _server_that_answers(self, timeout: float) -> str | None:
        """The URL of our own temporary server, or None when another one is configured or Prefect has to start it."""
        if self._server is not None:
            if self._server.wait(timeout) == READY:
                return self._server.url
            self._forget_server()
        return None

    def _server_has_died(self) -> bool:
        return self._server is not None and not self._server.alive

    def _forget_server(self) -> None:
        if self._server is not None:
            environment.direct_prefect_to(None)
            self._server.stop()
            self._server = None

    def _lost(self) -> OrchestratorError:
        from rlchecks.orchestrator import drain

        self._is_lost = True
        drain.give_up()
        return OrchestratorError("Prefect's server stopped answering; the run is not fully recorded there.")
