"""Inspect's OpenAI-compatible provider with a journal around it: ``openai-compatible/MODEL``.

The call itself is that of Inspect's ``openai-api`` provider. Around it: answers that the journal holds are not asked
again, whatever a server may send instead of an answer becomes a :class:`CallFailed` that tells whether to repeat it,
``Retry-After`` is obeyed (Inspect reads it, and does not use it), and the API key never reaches an error's text.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelCall,
    ModelOutput,
    RetryDecision,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from openai import APIConnectionError, APIStatusError, APITimeoutError
from tenacity.wait import wait_base

from rlchecks.evaluation.guarded import RefusedResponse, guard
from rlchecks.evaluation.journal import key_of
from rlchecks.evaluation.traffic import CallFailed, Traffic
from rlchecks.evaluation.waiting import Waiting
from rlchecks.heldout.names import shown

PROVIDER = "openai-compatible"

ASKED: ContextVar[tuple[str, int]] = ContextVar("asked", default=("", 1))
"""Question and repeat that a call is for; set by whoever asks."""

_SAMPLING = ("temperature", "top_p", "max_tokens", "stop_seqs", "seed")
_SHOWN = 200  # characters of a server's own error
_REPEATED = frozenset({408, 409, 425, 429})
_traffic: dict[str, Traffic] = {}


def model_for(traffic: Traffic, config: GenerateConfig) -> Model:
    """Inspect's model for an endpoint; until :func:`forget`, its calls count in ``traffic``."""
    endpoint = traffic.endpoint
    _traffic[endpoint.name] = traffic
    return get_model(
        f"{PROVIDER}/{endpoint.model}",
        base_url=endpoint.base_url,
        config=config,
        memoize=False,
        endpoint=endpoint.name,
    )


def forget(name: str) -> None:
    """Let go of an endpoint's traffic."""
    _traffic.pop(name, None)


class JournalledAPI(ModelAPI):
    """One endpoint."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as Inspect's own providers
        endpoint: str = "",
    ) -> None:
        super().__init__(model_name=model_name, base_url=base_url, config=config)
        self._traffic = _traffic[endpoint]
        self._key = self._traffic.endpoint.key
        # Inspect repeats the calls; the client inside must not do so as well.
        options: dict[str, Any] = {"max_retries": 0}
        inner: Any = get_model(
            f"openai-api/rlchecks/{model_name}",
            base_url=base_url,
            api_key=self._key or "none",
            config=config,
            memoize=False,
            **options,
        ).api
        guard(inner.http_client)
        self._inner: ModelAPI = inner

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
        """Answer from the journal, or ask.

        Raises:
            CallFailed: there is no answer.
        """
        traffic = self._traffic
        key = self._journal_key(input, config)
        if (kept := traffic.journal.get(key)) is not None:
            traffic.reused += 1
            return ModelOutput.model_validate(kept)
        if traffic.fatal is not None:
            raise CallFailed(traffic.fatal)
        traffic.calls += 1
        try:
            output, call = await self._asked(input, tools, tool_choice, config)
        except CallFailed:
            traffic.failed += 1
            raise
        if output.usage is None or min(output.usage.input_tokens, output.usage.output_tokens) < 0:
            traffic.unmetered += 1
        else:
            traffic.tokens_in += output.usage.input_tokens
            traffic.tokens_out += output.usage.output_tokens
        traffic.journal.put(key, output.model_dump(mode="json", exclude_none=True))
        return output if call is None else (output, call)

    def should_retry(self, ex: BaseException) -> bool | RetryDecision:
        """Whether a repeat may help."""
        if not isinstance(ex, CallFailed) or not ex.again:
            return RetryDecision.no()
        return RetryDecision.rate_limit(ex.wait) if ex.limited else RetryDecision.transient(ex.wait)

    def retry_wait(self) -> wait_base:
        """How long to wait before the next try."""
        return Waiting(self._traffic.backoff)

    def connection_key(self) -> str:
        """What the limit of connections counts for; Inspect's default would contain the API key."""
        return f"{self.base_url} {self.model_name}"

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _asked(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> tuple[ModelOutput, ModelCall | None]:
        try:
            result = await self._inner.generate(input, tools, tool_choice, config)
        except Exception as error:
            raise self._failure(error) from None
        output, call = result if isinstance(result, tuple) else (result, None)
        if isinstance(output, Exception):
            raise self._failure(output)
        if not output.choices:
            raise CallFailed("the server's answer is malformed (it holds no choice)", again=True)
        # What the provider makes of a refused request holds the server's error in place of an answer.
        if output.stop_reason == "model_length":
            raise CallFailed("the prompt does not fit into the model's context")
        if output.stop_reason == "content_filter":
            raise CallFailed("a content filter of the server held the answer back")
        if output.message.tool_calls and not output.completion:
            raise CallFailed("the model called a tool in place of an answer")
        return output, call

    def _failure(self, error: Exception) -> CallFailed:
        where, variable = self._traffic.endpoint, self._traffic.endpoint.key_env
        if isinstance(error, APIStatusError):
            status = error.status_code
            if status in (401, 403):
                key = f"the key in {variable}" if variable else "a call without a key; name one with --key-env VAR"
                return self._fatal(f"{where.name}: {where.base_url} refuses {key} (status {status})")
            if status == 404:
                return self._fatal(f"{where.name}: {where.base_url} knows no model {shown(where.model)} (status 404)")
            if status < 400:
                place = shown(error.response.headers.get("location", ""))
                return self._fatal(
                    f"{where.name}: {where.base_url} sends the questions on to {place} (status {status}); "
                    "give the address that answers"
                )
            if status in _REPEATED or status >= 500:
                wait = _seconds(error.response.headers.get("retry-after"))
                return CallFailed(f"the server answered with status {status}", True, wait, limited=status == 429)
            return CallFailed(f"the server refused the question with status {status}: {self._clean(error.message)}")
        unread = error if isinstance(error, RefusedResponse) else error.__cause__
        if isinstance(unread, RefusedResponse):
            return CallFailed(f"the server's answer was not read ({unread})")
        if isinstance(error, APITimeoutError):
            return CallFailed("the server did not answer in time", again=True)
        if isinstance(error, APIConnectionError):
            return CallFailed("there is no connection to the server", again=True, lost=_refused(error))
        return CallFailed(f"the server's answer is malformed ({type(error).__name__})", again=True)

    def _fatal(self, reason: str) -> CallFailed:
        self._traffic.fatal = self._traffic.fatal or reason
        return CallFailed(reason)

    def _clean(self, text: str) -> str:
        text = text.replace(self._key, "***") if self._key else text
        return shown(text[:_SHOWN])

    def _journal_key(self, input: list[ChatMessage], config: GenerateConfig) -> str:
        where = self._traffic.endpoint
        messages = [[message.role, message.text] for message in input]
        sampling = {name: getattr(config, name) for name in _SAMPLING}
        return key_of(where.base_url, where.model, messages, sampling, *ASKED.get())


def _seconds(text: str | None) -> float | None:
    """The seconds of a Retry-After header (RFC 9110, 10.2.3); dates are left to the back-off."""
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 7 else None


def _refused(error: APIConnectionError) -> bool:
    """Whether nobody listens at the address, in contrast to a connection that broke."""
    return type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout", "UnsupportedProtocol")


@modelapi(name=PROVIDER)
def openai_compatible() -> type[ModelAPI]:
    """Inspect's registration of the provider."""
    return JournalledAPI
