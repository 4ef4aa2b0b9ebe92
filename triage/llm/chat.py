"""The model behind the port: each call is reserved, retried, adapted to the endpoint, counted, validated."""

import asyncio
import json
import math
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import openai
from langchain_core.exceptions import LangChainException
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from pydantic import BaseModel
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from triage.domain.run import Usage
from triage.errors import BadAnswer, BudgetSpent, ModelUnavailable, TimeSpent
from triage.llm import shapes
from triage.llm.endpoint import Endpoint
from triage.llm.faults import Busy, Fault, Remedy, fault_of
from triage.llm.ledger import CHARS_PER_TOKEN, Ledger, MeterReading, deadline
from triage.llm.prices import usd
from triage.llm.shapes import Mode, Shape
from triage.ports import Tier

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

ATTEMPTS = 3
REQUEST_SECONDS = 3.0
"""What an answer takes at least: a wait that leaves less is not made."""
TOKENS_PER_MESSAGE = 4

_GARBLED = (ValueError, TypeError, AttributeError, LookupError)
"""What the SDK raises on a reply that is JSON, but no completion."""
_FAILURES = (openai.OpenAIError, LangChainException, TimeoutError, OSError, BadAnswer, *_GARBLED)


class BusyFor(Busy):
    """Busy, and the endpoint said for how many seconds."""

    def __init__(self, reason: str, retry_after: float | None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class ChatModel:
    """Implements the `Model` port over an OpenAI-compatible endpoint.

    One logical call makes at most four requests on a busy endpoint: three to the tier's model, one to the fallback.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Mapping[Tier, str],
        fallback: str,
        ledger: Ledger,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._models = models
        self._fallback = fallback
        self._ledger = ledger
        self._clock = clock
        self._sleep = sleep
        self._dropped: dict[str, str] = {}
        self._first_mode: dict[tuple[str, str], int] = {}
        self._without_temperature: set[str] = set()

    @property
    def usage(self) -> Usage:
        """Everything spent in this run."""
        return self._ledger.usage

    def metered(self, seconds: float) -> AbstractContextManager[MeterReading]:
        """Usage of all calls made inside the block, which may take so many seconds."""
        return self._ledger.metered(self._clock() + seconds)

    def structured(self, answer: type[A], tier: Tier, max_tokens: int) -> Runnable[Any, A]:
        """Prompt in, validated answer out."""
        return self._chain(shapes.structured(answer), tier, max_tokens)

    def text(self, tier: Tier, max_tokens: int) -> Runnable[Any, str]:
        """Prompt in, words out."""
        return self._chain(shapes.text(), tier, max_tokens)

    def json_object(self, tier: Tier, max_tokens: int) -> Runnable[Any, dict[str, Any]]:
        """Prompt in, JSON object out."""
        return self._chain(shapes.json_object(), tier, max_tokens)

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        """Prompt in, message that may ask for tools out."""
        return self._chain(shapes.with_tools(tools), tier, max_tokens)

    def _chain(self, shape: Shape[T], tier: Tier, max_tokens: int) -> Runnable[Any, T]:
        model = self._models[tier]

        async def ask(model: str, prompt: Any) -> T:
            return await self._ask(model, _messages(prompt), shape, max_tokens)

        async def ask_primary(prompt: Any) -> T:
            return await self._attempts()(ask, model, prompt)

        async def ask_fallback(prompt: Any) -> T:
            return await ask(self._fallback, prompt)

        primary: Runnable[Any, T] = RunnableLambda(ask_primary, name=model)
        fallback: Runnable[Any, T] = RunnableLambda(ask_fallback, name=self._fallback)
        return primary.with_fallbacks([fallback], exceptions_to_handle=(Busy,))

    def _attempts(self) -> AsyncRetrying:
        """Three attempts. `with_retry` cannot wait as long as the endpoint says, so this is tenacity itself."""
        return AsyncRetrying(
            retry=retry_if_exception_type(Busy),
            stop=lambda state: stop_after_attempt(ATTEMPTS)(state) or not self._has_time_after(state.upcoming_sleep),
            wait=_wait,
            sleep=self._sleep,
            reraise=True,
        )

    def _has_time_after(self, seconds: float) -> bool:
        """Whether a request can follow a wait."""
        return seconds + REQUEST_SECONDS <= self._seconds_left()

    def _seconds_left(self) -> float:
        ends = deadline()
        return math.inf if ends is None else ends - self._clock()

    async def _ask(self, model: str, messages: list[BaseMessage], shape: Shape[T], max_tokens: int) -> T:
        """One request, or one for each mode that the endpoint refuses.

        Raises:
            Busy: The endpoint is busy or the line broke.
            ModelUnavailable: The call failed for good.
            BudgetSpent: A cap would be exceeded.
        """
        index = self._first_mode.get((model, shape.name), 0)
        while True:
            if model in self._dropped:
                raise ModelUnavailable(self._dropped[model])
            mode = shape.modes[index]
            try:
                message = await self._send(model, messages, mode, max_tokens)
                self._first_mode[(model, shape.name)] = index  # the endpoint can do it, whatever the answer holds
                return mode.read(message)
            except (BudgetSpent, TimeSpent):
                raise
            except _FAILURES as error:
                index = self._adapted(model, shape, index, fault_of(error))

    def _adapted(self, model: str, shape: Shape[Any], index: int, fault: Fault) -> int:
        """The mode of the next request, which differs from the refused one; raises when there is none."""
        if fault.remedy is Remedy.RETRY:
            raise BusyFor(fault.reason, fault.retry_after)
        if fault.remedy is Remedy.DROP_MODEL:
            self._dropped[model] = fault.reason
        elif fault.about_temperature and model not in self._without_temperature:
            self._without_temperature.add(model)
        elif fault.remedy is Remedy.OTHER_MODE and index + 1 < len(shape.modes):
            return index + 1
        else:
            raise ModelUnavailable(fault.reason)
        return index

    async def _send(self, model: str, messages: list[BaseMessage], mode: Mode[Any], max_tokens: int) -> AIMessage:
        """One request. A call that was cut off keeps its reservation: it may have been billed."""
        if self._seconds_left() <= 0:
            raise TimeSpent("no time left for this call")
        prompt = [*mode.preface, *messages]
        estimate = _estimate(prompt, mode.size)
        reservation = self._ledger.reserve(estimate + max_tokens, usd(model, estimate, max_tokens))
        chat = self._endpoint.chat(model, temperature=model not in self._without_temperature)
        try:
            message = await chat.ainvoke(prompt, max_tokens=max_tokens, **mode.arguments)
        except _FAILURES as error:
            fault = fault_of(error)
            if not fault.unclear_bill:
                self._ledger.settle(reservation, model, self._priced(model, fault.usage or Usage()))
            raise
        self._ledger.settle(reservation, model, self._usage(model, message, estimate))
        return message

    def _usage(self, model: str, message: AIMessage, estimate: int) -> Usage:
        """What the endpoint says it billed; by characters where it says nothing."""
        told = message.usage_metadata
        if told is None:
            answered = math.ceil(len(message.text) / CHARS_PER_TOKEN)
            return self._priced(model, Usage(input_tokens=estimate, output_tokens=answered, calls=1))
        cached = told.get("input_token_details", {}).get("cache_read", 0) or 0
        spent = Usage(input_tokens=told["input_tokens"], output_tokens=told["output_tokens"], calls=1)
        return self._priced(model, spent, cached)

    def _priced(self, model: str, usage: Usage, cached_tokens: int = 0) -> Usage:
        if not usage.calls:
            return usage
        price = usd(model, usage.input_tokens, usage.output_tokens, min(cached_tokens, usage.input_tokens))
        return usage.model_copy(update={"usd": price})


def _wait(state: RetryCallState) -> float:
    """Seconds before the next attempt: what the endpoint said, else 1, 2, … with jitter."""
    error = state.outcome.exception() if state.outcome else None
    told = error.retry_after if isinstance(error, BusyFor) else None
    return told if told is not None else float(2 ** (state.attempt_number - 1)) * random.uniform(0.5, 1.0)  # noqa: S311


def _messages(prompt: Any) -> list[BaseMessage]:
    if isinstance(prompt, PromptValue):
        return prompt.to_messages()
    if isinstance(prompt, str):
        return [HumanMessage(prompt)]
    return list(prompt)


def _estimate(messages: Sequence[BaseMessage], extra_chars: int) -> int:
    """Upper estimate of a prompt's tokens, without a tokenizer that would have to be downloaded."""
    chars = extra_chars + sum(len(m.text) + len(json.dumps(getattr(m, "tool_calls", []))) for m in messages)
    return math.ceil(chars / CHARS_PER_TOKEN) + TOKENS_PER_MESSAGE * len(messages)
