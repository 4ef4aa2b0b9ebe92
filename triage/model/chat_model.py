"""The language model behind the `Model` port."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, merge_message_runs
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from triage.base.errors import ModelUnavailable
from triage.domain.run import Usage
from triage.model import output_formats
from triage.model.budget import Budget
from triage.model.endpoint import Endpoint, RetryPolicy
from triage.model.endpoint_features import EndpointFeatures
from triage.model.model_errors import (
    REQUEST_ERRORS,
    EndpointBusy,
    ModelFailure,
    Remedy,
    WrongFormat,
    classify_error,
)
from triage.model.output_formats import ModelReply, OutputFormat, to_model_reply
from triage.model.token_count import TokenCount, estimate_prompt, parse_usage
from triage.ports import MeasuredUsage, Tier
from triage.safety.secrets.redactor import Redact

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

MAX_REQUESTS = 4
"""For one call, including retries, other modes, a second question and the fallback."""
MAX_REPEATED_CHARS = 4_000
"""Of an answer that does not fit, when it is shown to its model."""


@dataclass
class _Call(Generic[T]):
    messages: list[BaseMessage]
    output_format: OutputFormat[T]
    max_tokens: int
    requests: int = 0
    modes: dict[str, int] = field(default_factory=dict)
    """Index of the mode to try next, by model."""
    correction: list[BaseMessage] = field(default_factory=list)
    """The answer that did not fit, and why."""


@dataclass
class ChatModel:
    """Implements the `Model` port over an OpenAI-compatible endpoint.

    Each call is reserved in the budget, retried, adapted to the endpoint, and validated. It makes at most four
    requests: on a busy endpoint three to the tier's model, one to the fallback. Once the fallback had to answer, it is
    asked first for a while, and the tier's model last.
    """

    endpoint: Endpoint
    models: Mapping[Tier, str]
    fallback: str
    budget: Budget
    retry: RetryPolicy
    redact_prompt: Redact = lambda tree: tree
    """Masks our own secrets, as `redact_answer`."""
    redact_answer: Redact = lambda tree: tree
    features: EndpointFeatures = field(default_factory=EndpointFeatures)

    @property
    def usage(self) -> Usage:
        return self.budget.usage

    def with_fast_model(self) -> "ChatModel":
        fast = self.models["fast"]
        return replace(self, models={"main": fast, "fast": fast}, fallback=fast)

    def measure_usage(self, seconds: float) -> AbstractContextManager[MeasuredUsage]:
        return self.budget.measure_usage(seconds)

    def structured_output(self, answer: type[A], tier: Tier, max_tokens: int) -> Runnable[Any, A]:
        return self._chain(output_formats.structured_format(answer), tier, max_tokens)

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        return self._chain(output_formats.tools_format(tools), tier, max_tokens)

    def tools_or_answer(
        self, tools: Sequence[BaseTool], answer: type[A], tier: Tier, max_tokens: int
    ) -> Runnable[Any, AIMessage | A]:
        return self._chain(output_formats.tools_or_answer_format(tools, answer), tier, max_tokens)

    def _chain(self, output_format: OutputFormat[T], tier: Tier, max_tokens: int) -> Runnable[Any, T]:
        model = self.models[tier]

        async def answer(prompt: Any) -> T:
            messages = [_redact_message(message, self.redact_prompt) for message in _to_messages(prompt)]
            with self.endpoint.breaker.count_failures():
                return await self._ask_with_retries(model, _Call(messages, output_format, max_tokens))

        return RunnableLambda(answer, name=model)

    async def _ask_with_retries(self, model: str, call: _Call[T]) -> T:
        order = self._order_models(model)
        first_requests = MAX_REQUESTS - (len(order) - 1)

        def may_ask_first() -> bool:
            return call.requests < first_requests and self._order_models(model)[0] == order[0]

        async def ask_once(call: _Call[T]) -> T:
            if not may_ask_first():  # the fallback answered another call while this one waited
                raise EndpointBusy("another model answers in its place")
            return await self._ask_model(order[0], call)

        async def ask_first(call: _Call[T]) -> T:
            return await self.retry.attempts(may_ask_first)(ask_once, call)

        async def ask_last(call: _Call[T]) -> T:
            if call.requests >= MAX_REQUESTS:
                raise EndpointBusy("no request is left")
            answer = await self._ask_model(order[-1], call)
            if order[-1] == model:
                self.features.prefer_model(model)
            else:
                self.features.prefer_fallback(model, self.retry.clock())
            return answer

        first: Runnable[_Call[T], T] = RunnableLambda(ask_first, name=order[0])
        last: Runnable[_Call[T], T] = RunnableLambda(ask_last, name=order[-1])
        chain = first.with_fallbacks([last], exceptions_to_handle=(EndpointBusy,)) if len(order) > 1 else first
        return await chain.ainvoke(call)

    def _order_models(self, model: str) -> list[str]:
        """Return the model of a call and its fallback, in the order in which they are asked."""
        if self.fallback == model or self.features.drop_reason(self.fallback):
            return [model]
        is_fallback_first = self.features.prefers_fallback(model, self.retry.clock())
        return [self.fallback, model] if is_fallback_first else [model, self.fallback]

    async def _ask_model(self, model: str, call: _Call[T]) -> T:
        """Send one request, and further ones in other modes if the endpoint refuses it."""
        learned = self.features.first_mode(model, call.output_format)
        refused = call.modes.values()  # by another model of the same endpoint
        call.modes.setdefault(model, max([learned, *refused]))
        while True:
            if reason := self.features.drop_reason(model):
                raise ModelUnavailable(reason)
            self.endpoint.breaker.check()
            self.retry.check_time()
            is_first_question = not call.correction
            try:
                return await self._send_request(model, call)
            except WrongFormat:
                if not is_first_question or call.requests >= MAX_REQUESTS or self.features.has_misfit(model):
                    self.features.record_misfit(model, call.output_format, call.modes[model])
                    raise
            except REQUEST_ERRORS as error:
                self._adapt_request(model, call, classify_error(error))

    def _adapt_request(self, model: str, call: _Call[T], failure: ModelFailure) -> None:
        if failure.remedy is Remedy.RETRY:
            raise EndpointBusy(failure.reason, failure.retry_after)
        adapted = self.features.learn_from(model, failure)
        has_other_mode = call.modes[model] + 1 < len(call.output_format.modes)
        if not adapted and failure.remedy is Remedy.OTHER_MODE and has_other_mode:
            call.modes[model] += 1
            adapted = True
        if not adapted or call.requests >= MAX_REQUESTS:
            raise ModelUnavailable(failure.reason)

    async def _send_request(self, model: str, call: _Call[T]) -> T:
        index = call.modes[model]
        mode = call.output_format.modes[index]
        prompt = [*mode.preface, *call.messages, *call.correction]
        if self.features.needs_alternating_roles(model):
            prompt = merge_message_runs(prompt, chunk_separator="\n\n")
        estimate = estimate_prompt(prompt, mode.prompt_addition)
        accepts_temperature = self.features.accepts_temperature(model)
        client = self.endpoint.chat_client(model, self.retry.seconds_left(), temperature=accepts_temperature)
        options = self.features.length_arguments(model, call.max_tokens) | self.features.reasoning_arguments(model)
        with self.budget.record_request(model, mode.name, estimate, call.max_tokens) as usage:
            call.requests += 1
            message = await client.ainvoke(prompt, **options, **mode.arguments)
            self.endpoint.breaker.reset()
            billed = parse_usage(message.response_metadata.get("token_usage"))
            usage.tokens = billed or TokenCount(estimate, estimate_prompt([message], ""))
            usage.estimated = billed is None
            if billed and billed.output > call.max_tokens:
                self.features.record_overrun(model)
            reply = to_model_reply(message).redact(self.redact_answer).leave_out_quoted(prompt)
            self.features.accept_mode(model, call.output_format, index)
            try:
                answer = mode.read(reply)
            except WrongFormat as error:
                call.correction = _build_correction(reply, error)
                raise
            self.features.confirm_mode(model, call.output_format, index)
        return answer


def _to_messages(prompt: Any) -> list[BaseMessage]:
    if isinstance(prompt, PromptValue):
        return prompt.to_messages()
    if isinstance(prompt, str):
        return [HumanMessage(prompt)]
    return list(prompt)


def _build_correction(reply: ModelReply, error: WrongFormat) -> list[BaseMessage]:
    # The answer stands between, because some endpoints refuse two messages of one role in a row.
    text = reply.message.text.strip() or json.dumps([tool.args for tool in reply.tools])
    reason = f"This cannot be read: {error.reason}. Answer again, with one JSON object of the schema and nothing else."
    mark = blake2b(reason.encode(), digest_size=8).hexdigest()  # every text in a user's message stands between marks
    return [AIMessage(text[:MAX_REPEATED_CHARS]), HumanMessage(f"<<problem {mark}>>\n{reason}\n<</problem {mark}>>")]


def _redact_message(message: BaseMessage, redact: Redact) -> BaseMessage:
    fields = {
        name: getattr(message, name)
        for name in ("content", "tool_calls", "invalid_tool_calls")
        if hasattr(message, name)
    }
    redacted = {name: redact(value) for name, value in fields.items()}
    return message if redacted == fields else message.model_copy(update=redacted)
