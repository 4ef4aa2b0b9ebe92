"""The model behind the port: each call is reserved, retried, adapted to the endpoint, counted, validated, kept."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from triage.adapters.llm import output_formats, token_count
from triage.adapters.llm.budget import MeterReading
from triage.adapters.llm.cached_replies import CachedReplies
from triage.adapters.llm.endpoint import Endpoint
from triage.adapters.llm.endpoint_features import EndpointFeatures
from triage.adapters.llm.model_errors import (
    REQUEST_ERRORS,
    EndpointBusy,
    ModelFailure,
    Remedy,
    WrongFormat,
    classify_error,
)
from triage.adapters.llm.model_reply import to_model_reply
from triage.adapters.llm.model_retry import RetryPolicy
from triage.adapters.llm.output_formats import OutputFormat
from triage.adapters.llm.usage_meter import UsageMeter
from triage.domain.run import Usage
from triage.errors import ModelUnavailable
from triage.ports import Tier
from triage.secrets.redactor import Redact

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

MAX_REQUESTS = 4
"""Most for one call, whatever they are needed for: retries, other modes, the fallback."""


@dataclass
class _Call(Generic[T]):
    """One answer that is wanted, and how far asking for it has come."""

    messages: list[BaseMessage]
    output_format: OutputFormat[T]
    max_tokens: int
    key: str
    """Under which its answer is kept."""
    requests: int = 0
    modes: dict[str, int] = field(default_factory=dict)
    """By model, what its refusals within this call left to try."""


class ChatModel:
    """Implements the `Model` port over an OpenAI-compatible endpoint.

    One logical call makes at most four requests: on a busy endpoint three to the tier's model, one to the fallback.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Mapping[Tier, str],
        fallback: str,
        accounts: UsageMeter,
        patience: RetryPolicy,
        replays: CachedReplies,
        asked: Redact = lambda tree: tree,
        answered: Redact = lambda tree: tree,
    ) -> None:
        """Bundle what a call needs; `asked` and `answered` mask our own secrets on the way out and in."""
        self._endpoint = endpoint
        self._models = models
        self._fallback = fallback
        self._usage_meter = accounts
        self._retry = patience
        self._cached_replies = replays
        self._redact_prompt, self._redact_answer = asked, answered
        self._features = EndpointFeatures()

    @property
    def usage(self) -> Usage:
        """Everything spent in this run."""
        return self._usage_meter.budget.usage

    def with_fast_model(self) -> "ChatModel":
        """The same purse, endpoint and memory, every call made of the fast model."""
        view = copy(self)
        view._models = dict.fromkeys(self._models, self._models["fast"])
        view._fallback = self._models["fast"]
        return view

    def resume(self, spent: Usage) -> None:
        """Count what an interrupted run of the same issue had spent."""
        self._usage_meter.budget.resume(spent)

    def measure_usage(self, seconds: float) -> AbstractContextManager[MeterReading]:
        """Usage of all calls made inside the block, which may take so many seconds."""
        return self._usage_meter.budget.meter_usage(self._usage_meter.clock() + seconds)

    def structured_output(self, answer: type[A], tier: Tier, max_tokens: int) -> Runnable[Any, A]:
        """Prompt in, validated answer out."""
        return self._chain(output_formats.structured_format(answer), tier, max_tokens)

    def text_output(self, tier: Tier, max_tokens: int) -> Runnable[Any, str]:
        """Prompt in, words out."""
        return self._chain(output_formats.text_format(), tier, max_tokens)

    def json_output(self, tier: Tier, max_tokens: int) -> Runnable[Any, dict[str, Any]]:
        """Prompt in, JSON object out."""
        return self._chain(output_formats.json_format(), tier, max_tokens)

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        """Prompt in, message that may ask for tools out."""
        return self._chain(output_formats.tools_format(tools), tier, max_tokens)

    def _chain(self, shape: OutputFormat[T], tier: Tier, max_tokens: int) -> Runnable[Any, T]:
        model = self._models[tier]

        async def answer(prompt: Any) -> T:
            messages = [_redact_message(message, self._redact_prompt) for message in _to_messages(prompt)]
            key = self._cached_replies.build_key(model, messages, shape, max_tokens)
            known = self._cached_answer(key, shape)
            if known is not None:
                return known
            with self._endpoint.breaker.count_failures():
                return await self._ask_with_retries(model, _Call(messages, shape, max_tokens, key))

        return RunnableLambda(answer, name=model)

    async def _ask_with_retries(self, model: str, call: _Call[T]) -> T:
        """The model under retries, then the fallback once, unless that is the same, or was given up before."""
        takes_over = self._fallback != model and not self._features.drop_reason(self._fallback)

        async def ask_primary(call: _Call[T]) -> T:
            most = MAX_REQUESTS - 1 if takes_over else MAX_REQUESTS
            return await self._retry.attempts(lambda: call.requests < most)(self._ask_model, model, call)

        async def ask_fallback(call: _Call[T]) -> T:
            if call.requests >= MAX_REQUESTS:
                raise EndpointBusy("no request is left")
            return await self._ask_model(self._fallback, call)

        primary: Runnable[_Call[T], T] = RunnableLambda(ask_primary, name=model)
        fallback: Runnable[_Call[T], T] = RunnableLambda(ask_fallback, name=self._fallback)
        chain = primary.with_fallbacks([fallback], exceptions_to_handle=(EndpointBusy,)) if takes_over else primary
        return await chain.ainvoke(call)

    async def _ask_model(self, model: str, call: _Call[T]) -> T:
        """One request, or one for each way of asking that the endpoint refuses.

        Raises:
            Busy: The endpoint is busy or the line broke.
            ModelUnavailable: The call failed for good.
            BudgetSpent: A cap would be exceeded.
            TimeSpent: The block's time is over.
        """
        learned = self._features.first_mode(model, call.output_format)
        refused = call.modes.values()  # to another model of the same endpoint
        call.modes.setdefault(model, max([learned, *refused]))
        while True:
            if dropped := self._features.drop_reason(model):
                raise ModelUnavailable(dropped)
            self._endpoint.breaker.check()
            self._retry.check_time()
            try:
                return await self._send_request(model, call)
            except REQUEST_ERRORS as error:
                self._adapt_request(model, call, classify_error(error))

    def _adapt_request(self, model: str, call: _Call[T], fault: ModelFailure) -> None:
        """Change how the next request asks; raises when there is none."""
        if fault.remedy is Remedy.RETRY:
            raise EndpointBusy(fault.reason, fault.retry_after)
        adapted = self._features.learn_from(model, fault)
        if not adapted and fault.remedy is Remedy.OTHER_MODE and call.modes[model] + 1 < len(call.output_format.modes):
            call.modes[model] += 1
            adapted = True
        if not adapted or call.requests >= MAX_REQUESTS:
            raise ModelUnavailable(fault.reason)

    async def _send_request(self, model: str, call: _Call[T]) -> T:
        """One request, counted and read."""
        index = call.modes[model]
        mode = call.output_format.modes[index]
        prompt = [*mode.preface, *call.messages]
        estimate = token_count.estimate_prompt(prompt, mode.prompt_addition)
        chat = self._endpoint.chat_client(model, temperature=self._features.accepts_temperature(model))
        cap = self._features.length_arguments(model, call.max_tokens)
        with self._usage_meter.record_request(model, mode.name, estimate, call.max_tokens) as bill:
            call.requests += 1
            message = await chat.ainvoke(prompt, **cap, **mode.arguments)
            self._endpoint.breaker.reset()
            told = token_count.parse_usage(message.response_metadata.get("token_usage"))
            bill.tokens = told or token_count.TokenCount(estimate, token_count.estimate_prompt([message], ""))
            bill.estimated = told is None
            if told and told.output > call.max_tokens:
                self._features.record_overrun(model)
            reply = to_model_reply(message, model, mode.name, bill.tokens, estimated=bill.estimated).redact(
                self._redact_answer
            )
            self._features.confirm_mode(model, call.output_format, index)
            try:
                answer = mode.read(reply)
            except WrongFormat:
                self._features.skip_mode(model, call.output_format, index)
                raise
        self._cached_replies.put(call.key, reply)
        return answer

    def _cached_answer(self, key: str, shape: OutputFormat[T]) -> T | None:
        """The answer to a call that an interrupted run had made; counted, as it was paid for the same report."""
        reply = self._cached_replies.get(key)
        index = next((i for i, mode in enumerate(shape.modes) if reply and mode.name == reply.mode), None)
        if reply is None or index is None:
            return None
        try:
            answer = shape.modes[index].read(reply)
        except REQUEST_ERRORS:  # of another make
            return None
        self._features.confirm_mode(reply.model, shape, index)
        self._usage_meter.record_cached_reply(reply.model, reply.mode, reply.token_count, estimated=reply.estimated)
        return answer


def _to_messages(prompt: Any) -> list[BaseMessage]:
    if isinstance(prompt, PromptValue):
        return prompt.to_messages()
    if isinstance(prompt, str):
        return [HumanMessage(prompt)]
    return list(prompt)


def _redact_message(message: BaseMessage, screened: Redact) -> BaseMessage:
    told = {
        name: getattr(message, name)
        for name in ("content", "tool_calls", "invalid_tool_calls")
        if hasattr(message, name)
    }
    masked = {name: screened(value) for name, value in told.items()}
    return message if masked == told else message.model_copy(update=masked)
