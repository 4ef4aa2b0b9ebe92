"""The language model, with budget, retry and fallback."""

import asyncio
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    convert_to_messages,
    merge_message_runs,
)
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool
from pydantic import BaseModel

from triage.base.errors import InvalidAnswer, ModelUnavailable
from triage.domain.run import Tier, Usage
from triage.outside.model import output_formats
from triage.outside.model.budget import Budget
from triage.outside.model.endpoint import Endpoint, RetryPolicy
from triage.outside.model.endpoint_features import MAX_REFUSALS, THINKING_TOKENS
from triage.outside.model.model_errors import (
    CUT_AT_LENGTH,
    PROMPT_TOO_LONG,
    REQUEST_ERRORS,
    TIMED_OUT,
    EndpointBusy,
    ModelFailure,
    Remedy,
    WrongFormat,
    classify_error,
)
from triage.outside.model.output_formats import (
    REASONING_BLOCKS,
    REASONING_MODEL,
    OutputFormat,
    get_calls,
    is_thought,
    to_reply,
)
from triage.outside.model.token_count import TokenCount, estimate_prompt, is_picture, parse_usage
from triage.safety.secrets.redactor import Redact

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

MAX_REQUESTS = 4
"""For one call to one model, without those that the endpoint refuses: attempts, more room, a second question."""
FIRST_SHARE = 0.6
"""Of a call's time, for the first of two models."""
MAX_REPEATED_CHARS = 4_000
"""Of an answer that does not fit, when it is shown to its model."""


@dataclass
class _Call(Generic[T]):
    """A call to one model: what is asked, and how the next request asks it."""

    model: str
    messages: Sequence[BaseMessage]
    output_format: OutputFormat[T]
    answer_tokens: int
    left_out: Set[str]
    has_other_model: bool
    """Whether another one is asked after it."""
    requests: int = 0
    refusals: int = 0
    correction: Sequence[BaseMessage] = ()
    """The answer that did not fit, and why."""
    is_thinking: bool = False
    """Whether the last answer was cut while its model thought."""
    has_more_room: bool = False


@dataclass
class ChatModel:
    """A language model at an OpenAI-compatible endpoint. Every runnable raises ModelUnavailable or BudgetExceeded.

    Each request is reserved in the budget and adapted to what the model takes, and each answer is validated. After a
    failure of one model the other one is asked. One that failed is asked last until it answers.
    """

    endpoint: Endpoint
    models: Mapping[Tier, str]
    fallback: str
    """Empty: `main` and `fast` stand in for each other."""
    budget: Budget
    retry: RetryPolicy
    redact_prompt: Redact = lambda tree: tree
    """Masks our own secrets, as `redact_answer`."""
    redact_answer: Redact = lambda tree: tree

    @property
    def usage(self) -> Usage:
        """What this run has paid for so far."""
        return self.budget.usage

    @property
    def takes_pictures(self) -> bool:
        """Whether the fast model looks at pictures in a message."""
        return self.endpoint.takes_pictures(self.models["fast"])

    def structured_output(self, answer: type[A], tier: Tier, max_tokens: int) -> Runnable[Any, A]:
        """Prompt value or messages in, validated answer out."""
        return self._chain(output_formats.structured_format(answer), tier, max_tokens)

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        """Prompt value or messages in, a message that may contain tool calls out."""
        return self._chain(output_formats.tools_format(tools), tier, max_tokens)

    def tools_or_answer(
        self, tools: Sequence[BaseTool], answer: type[A], tier: Tier, max_tokens: int
    ) -> Runnable[Any, AIMessage | A]:
        """Prompt value or messages in; a message that may contain tool calls out, or a validated answer."""
        return self._chain(output_formats.tools_or_answer_format(tools, answer), tier, max_tokens)

    def _chain(self, output_format: OutputFormat[T], tier: Tier, max_tokens: int) -> Runnable[Any, T]:
        """Return a runnable that asks the models of a tier, one after the other, until one gives an answer."""

        async def answer(prompt: Any) -> T:
            given = [prompt] if isinstance(prompt, str) else prompt
            messages = [_redact_message(message, self.redact_prompt) for message in convert_to_messages(given)]
            order, failures = self._order_models(tier), list[ModelUnavailable]()
            for model in order:
                left_out = self.endpoint.features.get_features(model).left_out
                if _has_pictures(messages) and not self.endpoint.takes_pictures(model):
                    left_out |= {"pictures"}
                call = _Call(model, messages, output_format, max_tokens, left_out, has_other_model=model != order[-1])
                try:
                    return await self._ask(call)
                except ModelUnavailable as error:
                    failures.append(error)
            raise failures[0]

        return RunnableLambda(answer, name=self.models[tier])

    def _order_models(self, tier: Tier) -> list[str]:
        """Return the model of a tier and the one that stands in, in the order in which they are asked."""
        model = self.models[tier]
        other = self.fallback or self.models["fast" if tier == "main" else "main"]
        features = self.endpoint.features
        both = sorted(dict.fromkeys([model, other]), key=lambda name: features.get_features(name).failed_calls > 0)
        return [name for name in both if not features.get_features(name).drop_reason] or [model]

    async def _ask(self, call: _Call[T]) -> T:
        """Ask one model, again if it is busy, and note whether it answers. Raises ModelUnavailable."""
        features = self.endpoint.features.get_features(call.model)
        attempts = self.retry.attempts(lambda: call.requests < MAX_REQUESTS)
        try:
            answer: T = await attempts(self._ask_until_answered, call)
        except asyncio.CancelledError:
            features.record_failed_call(TIMED_OUT)
            raise
        except ModelUnavailable as error:
            if not error.reason.startswith(PROMPT_TOO_LONG):  # which says nothing of the next call
                features.record_failed_call(error.reason)
            if error.reason == CUT_AT_LENGTH:  # the most expensive way to fail
                features.drop_reason = error.reason
            raise
        is_answer = not isinstance(answer, AIMessage) and not getattr(answer, "error", None)
        features.record_reply(is_answer=is_answer)
        return answer

    async def _ask_until_answered(self, call: _Call[T]) -> T:
        """Ask until there is an answer: without what the model refuses, with more room, once more for one that fits."""
        while True:
            if reason := self.endpoint.features.get_features(call.model).drop_reason:  # in another call, meanwhile
                raise ModelUnavailable(reason)
            self.retry.check_time()
            is_corrected, may_ask = bool(call.correction), call.requests + 1 < MAX_REQUESTS
            try:
                return await self._send_request(call)
            except WrongFormat:
                if is_corrected or not may_ask:
                    raise
            except InvalidAnswer as error:
                if error.reason != CUT_AT_LENGTH or not call.is_thinking or call.has_more_room or not may_ask:
                    raise
                call.has_more_room = True
            except REQUEST_ERRORS as error:
                self._adapt_request(call, classify_error(error))

    def _adapt_request(self, call: _Call[T], failure: ModelFailure) -> None:
        """Leave out of the next request what the endpoint refuses. Raises if nothing can be, or if it is busy."""
        if failure.remedy is Remedy.RETRY:
            raise EndpointBusy(failure.reason, failure.retry_after)
        features = self.endpoint.features
        options = features.list_options(call.output_format, call.left_out)
        options |= {"pictures"} - call.left_out if _has_pictures(call.messages) else set()
        option = features.choose_option(failure, options) if call.refusals < MAX_REFUSALS else ""
        if option:
            call.left_out |= {option}
            call.refusals, call.requests = call.refusals + 1, call.requests - 1
            return
        if failure.remedy is Remedy.DROP_MODEL:
            features.get_features(call.model).drop_reason = failure.reason
        raise ModelUnavailable(failure.reason)

    async def _send_request(self, call: _Call[T]) -> T:
        """Send one request within the budget, and read the answer. Raises WrongFormat if it does not fit."""
        features, model, left_out = self.endpoint.features, call.model, call.left_out
        learned, is_response = features.get_features(model), features.speaks_responses(left_out)
        arguments = call.output_format.build_arguments(left_out)
        prompt = _build_prompt(call, is_response=is_response)
        estimate = estimate_prompt(prompt, json.dumps(arguments) if arguments else "")
        room = max(call.answer_tokens, 0 if "room" in left_out else THINKING_TOKENS * (1 + call.has_more_room))
        room = self.budget.fit_output(model, estimate, call.answer_tokens, room)
        seconds = self.retry.seconds_left() * (FIRST_SHARE if call.has_other_model else 1)
        client = self.endpoint.chat_client(model, seconds, is_response=is_response)
        mode = call.output_format.name_mode(left_out)
        with self.budget.record_request(model, mode, estimate, room) as usage:
            call.requests += 1
            message = await client.ainvoke(prompt, **features.build_options(room, left_out), **arguments)
            billed = parse_usage(message.response_metadata.get("token_usage") or message.usage_metadata)
            usage.tokens = billed or TokenCount(estimate, estimate_prompt([message], ""))
            usage.estimated = billed is None
            reply = to_reply(message, model, self.redact_answer)
            call.is_thinking = is_thought(reply) or usage.tokens.reasoning > 0
            try:
                answer = call.output_format.read(reply, "\n".join(one.text for one in prompt if one.type != "ai"))
            except WrongFormat as error:
                learned.record_form(mode, is_text=error.is_prose)
                call.correction = _build_correction(reply, error)
                # An endpoint that takes a schema and answers with prose may ignore it.
                call.left_out |= call.output_format.options & ({"response_format"} if error.is_prose else set())
                raise
            learned.left_out |= left_out
            learned.record_form(mode, is_text=isinstance(answer, AIMessage) and not get_calls(answer))
        return answer


def _build_prompt(call: _Call[Any], *, is_response: bool) -> list[BaseMessage]:
    """Return the messages of the next request, without what the endpoint refuses."""
    messages = [*call.output_format.build_preface(call.left_out), *call.messages, *call.correction]
    prompt = [_hand_on_reasoning(message, call, is_response=is_response) for message in messages]
    if "pictures" in call.left_out and _has_pictures(prompt):
        prompt = [HumanMessage(one.text) if _has_pictures([one]) else one for one in prompt]
    if "system" in call.left_out:
        prompt = [HumanMessage(one.content) if isinstance(one, SystemMessage) else one for one in prompt]
    if call.left_out & {"system", "messages"}:
        prompt = merge_message_runs(prompt, chunk_separator="\n\n")
    return prompt


def _has_pictures(messages: Sequence[BaseMessage]) -> bool:
    return any(is_picture(block) for message in messages for block in message.content)


def _hand_on_reasoning(message: BaseMessage, call: _Call[Any], *, is_response: bool) -> BaseMessage:
    """Return a message with the reasoning of its turn, if the same model wrote it: no other can read it."""
    extra = message.additional_kwargs
    if not extra or extra.get(REASONING_MODEL) != call.model or "replay" in call.left_out:
        return message.model_copy(update={"additional_kwargs": {}})
    if not is_response:
        return message
    texts = [{"type": "text", "text": message.text}] if message.text else []
    return message.model_copy(update={"content": [*extra.get(REASONING_BLOCKS, ()), *texts], "additional_kwargs": {}})


def _build_correction(reply: AIMessage, error: WrongFormat) -> list[BaseMessage]:
    """Return what the model answered, and what is wrong with it."""
    # The answer stands between, because some endpoints refuse two messages of one role in a row.
    text = reply.text.strip() or json.dumps([call["args"] for call in get_calls(reply)])
    reason = f"This cannot be read: {error.reason}. Answer again, with one JSON object of the schema and nothing else."
    mark = blake2b(reason.encode(), digest_size=8).hexdigest()  # every text in a user's message stands between marks
    return [AIMessage(text[:MAX_REPEATED_CHARS]), HumanMessage(f"<<problem {mark}>>\n{reason}\n<</problem {mark}>>")]


def _redact_message(message: BaseMessage, redact: Redact) -> BaseMessage:
    fields = {
        name: getattr(message, name)
        for name in ("content", "tool_calls", "invalid_tool_calls")
        if hasattr(message, name)
    }
    return message.model_copy(update=redact(fields))
