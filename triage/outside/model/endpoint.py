"""The clients of a model endpoint, how a busy one is asked again, and the circuit breaker in front of it."""

import asyncio
import json
import math
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx2
import openai
from langchain_core.language_models import LanguageModelInput
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception

from triage.base.errors import AnswerTooLarge, ModelUnavailable, TimeLimitExceeded
from triage.base.progress import current_step
from triage.base.threads import raise_if_abandoned, seconds_left, sleep_unless_abandoned
from triage.domain.run import ReasoningEffort
from triage.outside.http_client import CONNECT_SECONDS, create_ssl_context, proxy_for
from triage.outside.model.endpoint_features import EndpointFeatures
from triage.outside.model.model_errors import TIMED_OUT, EndpointBusy, classify_error
from triage.outside.model.output_formats import REASONING_FIELDS

MAX_ATTEMPTS = 3
MIN_REQUEST_SECONDS = 3.0
"""A wait that leaves less for the next request is not made."""


@dataclass(frozen=True)
class RetryPolicy:
    """Three attempts, with waits as long as the endpoint asks.

    Uses tenacity, because LangChain's `with_retry` cannot wait for as long as a header says.
    """

    clock: Callable[[], float]
    """Monotonic seconds, as in `MeasuredStep.deadline`."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    sleep_in_thread: Callable[[float], None] = sleep_unless_abandoned

    def check_time(self) -> None:
        """Raise TimeLimitExceeded if no time is left, and Abandoned if the caller no longer waits."""
        raise_if_abandoned()
        if self.seconds_left() <= 0:
            raise TimeLimitExceeded("no time left for this call")

    def seconds_left(self) -> float:
        """Return how long the caller waits for this call; infinite without a limit."""
        step = current_step.get()
        return min(seconds_left(), step.deadline - self.clock() if step else math.inf)

    def request_seconds(self, limit: float) -> float:
        """Return a time limit for one attempt, so that all attempts and what follows fit into the time left."""
        return max(1.0, min(limit, self.seconds_left() / (MAX_ATTEMPTS + 2)))

    def attempts(self, may_continue: Callable[[], bool]) -> AsyncRetrying:
        """Return the attempts of one call, as long as `may_continue` and time is left. A slow endpoint has one."""
        return AsyncRetrying(sleep=self.sleep, **self._build_retry_arguments(may_continue))

    def attempts_in_thread(self) -> Retrying:
        return Retrying(sleep=self.sleep_in_thread, **self._build_retry_arguments(lambda: True))

    def _build_retry_arguments(self, may_continue: Callable[[], bool]) -> dict[str, Any]:
        """Return when tenacity tries again, and how long it waits."""

        def is_last(state: RetryCallState) -> bool:
            has_time = state.upcoming_sleep + MIN_REQUEST_SECONDS <= self.seconds_left()
            return state.attempt_number >= MAX_ATTEMPTS or not may_continue() or not has_time

        return {
            "retry": retry_if_exception(lambda error: isinstance(error, EndpointBusy) and error.reason != TIMED_OUT),
            "stop": is_last,
            "wait": _seconds_before_retry,
            "reraise": True,
        }


def _seconds_before_retry(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, EndpointBusy) and error.retry_after is not None:
        return error.retry_after
    return float(2 ** (state.attempt_number - 1)) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter


OPENAI_URL = "https://api.openai.com/v1"
READ_SECONDS = 60.0
"""Between two pieces of a response, for a request that no agent waits for. The SDK's default is ten minutes."""
GRACE_SECONDS = 1.0
"""A connection waits for longer than the agent does, so that a request that takes too long ends in one way only."""
MAX_CHAT_BYTES = 8_000_000
"""The longest answers that are asked for have some ten kilobytes."""
MAX_SYNC_BYTES = 16_000_000
"""Of a list of models, or of 96 vectors: with 4,096 numbers each in decimal notation they have 9 MB."""
CHECK_SECONDS = 10.0

_CLIENT_OPTIONS: dict[str, Any] = {
    "headers": {"Accept-Encoding": "identity"},
    "trust_env": False,
    "follow_redirects": False,  # they would take the prompt elsewhere
}


@dataclass
class Endpoint:
    """An OpenAI-compatible endpoint.

    Every request carries the run's id as `X-Request-ID`. The SDK's own retries are off: with ours they would make nine
    requests of three.
    """

    api_key: SecretStr
    request_id: str
    base_url: str = OPENAI_URL
    """Never empty: the SDK would read it from the environment."""
    effort: ReasoningEffort = "low"

    @cached_property
    def features(self) -> EndpointFeatures:
        """What was learned of its models in this run."""
        return EndpointFeatures(self.base_url, self.effort)

    def chat_client(self, model: str, seconds: float = math.inf, *, is_response: bool = False) -> ChatOpenAI:
        """Return the client for one request to a model, in the Responses API or in chat completions.

        `seconds` is how long its caller waits: a local model may take minutes.
        """
        return _LenientChatOpenAI(
            model=model,
            base_url=self.base_url,
            api_key=self.api_key,
            timeout=_limit_times(seconds),
            max_retries=0,
            default_headers={"X-Request-ID": self.request_id},
            use_responses_api=is_response,
            # Under a server that streams messages LangChain would stream too: then an endpoint may leave out what the
            # call used, and a client would see words that nobody has checked.
            disable_streaming=True,
            tags=["nostream"],
            http_socket_options=(),  # else it warns of proxies, which these clients know
            http_client=self._http_client,
            http_async_client=self._async_http_client,
        )

    def takes_pictures(self, model: str) -> bool:
        """Return whether LangChain's list of models says so. Gateways put `provider/` before a name."""
        return bool((self.chat_client(model.rpartition("/")[2]).profile or {}).get("image_inputs"))

    @cached_property
    def sdk_client(self) -> openai.OpenAI:
        """Return the SDK's client, for embeddings (LangChain's hides what a call used) and the list of models."""
        return openai.OpenAI(
            api_key=self.api_key.get_secret_value(),
            base_url=self.base_url,
            timeout=_limit_times(),
            max_retries=0,
            default_headers={"X-Request-ID": self.request_id},
            http_client=self._http_client,
        )

    @cached_property
    def _http_client(self) -> openai.DefaultHttpxClient:
        transport = _BoundedTransport(httpx2.HTTPTransport(**self._build_transport_options()), MAX_SYNC_BYTES)
        return openai.DefaultHttpxClient(timeout=_limit_times(), transport=transport, **_CLIENT_OPTIONS)

    @cached_property
    def _async_http_client(self) -> openai.DefaultAsyncHttpxClient:
        transport = _BoundedTransport(httpx2.AsyncHTTPTransport(**self._build_transport_options()), MAX_CHAT_BYTES)
        return openai.DefaultAsyncHttpxClient(timeout=_limit_times(), transport=transport, **_CLIENT_OPTIONS)

    def _build_transport_options(self) -> dict[str, Any]:
        url = proxy_for(self.base_url)
        # A handshake holds a lock of its context: one that blocks its thread must not stop those of the event loop.
        # Without TLS there is none, and a context that trusts nobody takes no time.
        has_tls = any(one.lower().startswith("https:") for one in (self.base_url, url or ""))
        context = create_ssl_context() if has_tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        proxy = httpx2.Proxy(url, ssl_context=context if url.startswith("https:") else None) if url else None
        return {"verify": context, "proxy": proxy, "limits": openai.DEFAULT_CONNECTION_LIMITS}


class _LenientChatOpenAI(ChatOpenAI):
    """Chat completions as other endpoints speak them.

    Takes the arguments of a call as an object, and as JSON in a string in JSON; reads and hands on the reasoning that
    stands beside the content; and sends a schema so that the SDK does not parse the reply, for it hides errors in it.
    """

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        """Keep the reasoning, which LangChain drops, and unwrap the arguments of calls."""
        messages = [getattr(choice, "message", None) for choice in getattr(response, "choices", None) or ()]
        for message in messages:
            for call in getattr(message, "tool_calls", None) or ():
                if function := getattr(call, "function", None):
                    function.arguments = _unwrap_arguments(function.arguments)
        result = super()._create_chat_result(response, generation_info)
        for message, generation in zip(messages, result.generations, strict=True):
            beside = getattr(message, "model_extra", None) or {}
            fields = {name: beside[name] for name in _REASONING_FIELDS if beside.get(name) is not None}
            generation.message.additional_kwargs[REASONING_FIELDS] = fields
        return result

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Send the reasoning of earlier turns back, and the schema in a field that the SDK leaves as it is."""
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        if "messages" in payload:
            messages = self._convert_input(input_).to_messages()
            for message, sent in zip(messages, payload["messages"], strict=True):
                sent.update(message.additional_kwargs.get(REASONING_FIELDS, {}))
            schema = {name: payload.pop(name) for name in ("response_format",) if name in payload}
            payload["extra_body"] = (payload.get("extra_body") or {}) | schema
        return payload


_REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_details")
"""Of OpenRouter, DeepSeek, Kimi, vLLM and llama.cpp. DeepSeek wants its own back between calls of tools."""


def _unwrap_arguments(arguments: Any) -> Any:
    """Return the arguments of a call as JSON: some endpoints send them as an object, or encoded twice."""
    if isinstance(arguments, dict):
        return json.dumps(arguments)
    try:
        inner = json.loads(arguments)
    except (TypeError, ValueError, RecursionError):
        return arguments
    return inner if isinstance(inner, str) else arguments


def _limit_times(seconds: float = math.inf) -> openai.Timeout:
    return openai.Timeout(READ_SECONDS if math.isinf(seconds) else seconds + GRACE_SECONDS, connect=CONNECT_SECONDS)


def check_endpoint(endpoint: Endpoint, models: list[str]) -> str:
    """Return how far the endpoint and these models can be used, by its list of models, which costs nothing.

    Raises ModelUnavailable if the endpoint cannot be reached, or refuses the key.
    """
    try:
        listed = {model.id for model in endpoint.sdk_client.models.list(timeout=CHECK_SECONDS)}
    except openai.NotFoundError:
        return "reachable; it does not list its models"
    except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
        raise ModelUnavailable(f"cannot be used: {classify_error(error).reason}") from None
    missing = [model for model in models if model not in listed]
    return f"reachable, but does not list {', '.join(missing)}" if missing else "reachable, knows the models"


class _BoundedTransport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Passes responses on without their compression, and limits them: the SDK reads each of them to its end.

    Reading more than `max_bytes` raises an `httpx2.ReadError`, which the SDK expects, because of an AnswerTooLarge. The
    limit counts decoded bytes, since a few compressed ones may unpack to gigabytes.
    """

    def __init__(self, inner: Any, max_bytes: int) -> None:
        self._inner, self._max_bytes = inner, max_bytes

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._limit_body(self._inner.handle_request(request))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._limit_body(await self._inner.handle_async_request(request))

    def _limit_body(self, response: httpx2.Response) -> httpx2.Response:
        """Return the response with a body that ends with an error after `max_bytes`."""
        of_encoded_body = (b"content-encoding", b"content-length")
        return httpx2.Response(
            response.status_code,
            headers=[(name, value) for name, value in response.headers.raw if name.lower() not in of_encoded_body],
            stream=_BoundedStream(response, self._max_bytes),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._inner.close()

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response, max_bytes: int) -> None:
        self._response, self._max_bytes, self._read_bytes = response, max_bytes, 0

    def __iter__(self) -> Iterator[bytes]:
        return map(self._count, self._response.iter_bytes())

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_bytes():
            yield self._count(piece)

    def _count(self, piece: bytes) -> bytes:
        self._read_bytes += len(piece)
        if self._read_bytes > self._max_bytes:
            raise httpx2.ReadError("too large") from AnswerTooLarge(self._max_bytes)
        return piece

    def close(self) -> None:
        self._response.close()

    async def aclose(self) -> None:
        await self._response.aclose()
