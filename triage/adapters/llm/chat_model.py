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
from triage.adapters.llm.cached_replies import Replays
from triage.adapters.llm.endpoint import Endpoint
from triage.adapters.llm.endpoint_features import Dialect
from triage.adapters.llm.model_errors import FAILURES, Busy, Fault, Remedy, Unfitting, fault_of
from triage.adapters.llm.model_reply import reply_of
from triage.adapters.llm.model_retry import Patience
from triage.adapters.llm.output_formats import Shape
from triage.adapters.llm.usage_meter import Accounts
from triage.domain.run import Usage
from triage.errors import ModelUnavailable
from triage.ports import Tier
from triage.secrets.matcher import Screened

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

REQUESTS = 4
"""Most for one call, whatever they are needed for: retries, other modes, the fallback."""


@dataclass
class _Call(Generic[T]):
    """One answer that is wanted, and how far asking for it has come."""

    messages: list[BaseMessage]
    shape: Shape[T]
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
        accounts: Accounts,
        patience: Patience,
        replays: Replays,
        asked: Screened = lambda tree: tree,
        answered: Screened = lambda tree: tree,
    ) -> None:
        """Bundle what a call needs; `asked` and `answered` mask our own secrets on the way out and in."""
        self._endpoint = endpoint
        self._models = models
        self._fallback = fallback
        self._accounts = accounts
        self._patience = patience
        self._replays = replays
        self._screened, self._answered = asked, answered
        self._dialect = Dialect()

    @property
    def usage(self) -> Usage:
        """Everything spent in this run."""
        return self._accounts.ledger.usage

    def frugal(self) -> "ChatModel":
        """The same purse, endpoint and memory, every call made of the fast model."""
        view = copy(self)
        view._models = dict.fromkeys(self._models, self._models["fast"])
        view._fallback = self._models["fast"]
        return view

    def resume(self, spent: Usage) -> None:
        """Count what an interrupted run of the same issue had spent."""
        self._accounts.ledger.resume(spent)

    def metered(self, seconds: float) -> AbstractContextManager[MeterReading]:
        """Usage of all calls made inside the block, which may take so many seconds."""
        return self._accounts.ledger.metered(self._accounts.clock() + seconds)

    def structured(self, answer: type[A], tier: Tier, max_tokens: int) -> Runnable[Any, A]:
        """Prompt in, validated answer out."""
        return self._chain(output_formats.structured(answer), tier, max_tokens)

    def text(self, tier: Tier, max_tokens: int) -> Runnable[Any, str]:
        """Prompt in, words out."""
        return self._chain(output_formats.text(), tier, max_tokens)

    def json_object(self, tier: Tier, max_tokens: int) -> Runnable[Any, dict[str, Any]]:
        """Prompt in, JSON object out."""
        return self._chain(output_formats.json_object(), tier, max_tokens)

    def with_tools(self, tools: Sequence[BaseTool], tier: Tier, max_tokens: int) -> Runnable[Any, AIMessage]:
        """Prompt in, message that may ask for tools out."""
        return self._chain(output_formats.with_tools(tools), tier, max_tokens)

    def _chain(self, shape: Shape[T], tier: Tier, max_tokens: int) -> Runnable[Any, T]:
        model = self._models[tier]

        async def answer(prompt: Any) -> T:
            messages = [_masked(message, self._screened) for message in _messages(prompt)]
            key = self._replays.key(model, messages, shape, max_tokens)
            known = self._replayed(key, shape)
            if known is not None:
                return known
            with self._endpoint.breaker.call():
                return await self._asked(model, _Call(messages, shape, max_tokens, key))

        return RunnableLambda(answer, name=model)

    async def _asked(self, model: str, call: _Call[T]) -> T:
        """The model under retries, then the fallback once, unless that is the same, or was given up before."""
        takes_over = self._fallback != model and not self._dialect.dropped(self._fallback)

        async def ask_primary(call: _Call[T]) -> T:
            most = REQUESTS - 1 if takes_over else REQUESTS
            return await self._patience.attempts(lambda: call.requests < most)(self._ask, model, call)

        async def ask_fallback(call: _Call[T]) -> T:
            if call.requests >= REQUESTS:
                raise Busy("no request is left")
            return await self._ask(self._fallback, call)

        primary: Runnable[_Call[T], T] = RunnableLambda(ask_primary, name=model)
        fallback: Runnable[_Call[T], T] = RunnableLambda(ask_fallback, name=self._fallback)
        chain = primary.with_fallbacks([fallback], exceptions_to_handle=(Busy,)) if takes_over else primary
        return await chain.ainvoke(call)

    async def _ask(self, model: str, call: _Call[T]) -> T:
        """One request, or one for each way of asking that the endpoint refuses.

        Raises:
            Busy: The endpoint is busy or the line broke.
            ModelUnavailable: The call failed for good.
            BudgetSpent: A cap would be exceeded.
            TimeSpent: The block's time is over.
        """
        learned = self._dialect.first_mode(model, call.shape)
        refused = call.modes.values()  # to another model of the same endpoint
        call.modes.setdefault(model, max([learned, *refused]))
        while True:
            if dropped := self._dialect.dropped(model):
                raise ModelUnavailable(dropped)
            self._endpoint.breaker.check()
            self._patience.check()
            try:
                return await self._request(model, call)
            except FAILURES as error:
                self._adapt(model, call, fault_of(error))

    def _adapt(self, model: str, call: _Call[T], fault: Fault) -> None:
        """Change how the next request asks; raises when there is none."""
        if fault.remedy is Remedy.RETRY:
            raise Busy(fault.reason, fault.retry_after)
        adapted = self._dialect.adapted(model, fault)
        if not adapted and fault.remedy is Remedy.OTHER_MODE and call.modes[model] + 1 < len(call.shape.modes):
            call.modes[model] += 1
            adapted = True
        if not adapted or call.requests >= REQUESTS:
            raise ModelUnavailable(fault.reason)

    async def _request(self, model: str, call: _Call[T]) -> T:
        """One request, counted and read."""
        index = call.modes[model]
        mode = call.shape.modes[index]
        prompt = [*mode.preface, *call.messages]
        estimate = token_count.of_prompt(prompt, mode.sent)
        chat = self._endpoint.chat(model, temperature=self._dialect.temperature(model))
        cap = self._dialect.cap(model, call.max_tokens)
        with self._accounts.request(model, mode.name, estimate, call.max_tokens) as bill:
            call.requests += 1
            message = await chat.ainvoke(prompt, **cap, **mode.arguments)
            self._endpoint.breaker.answered()
            told = token_count.told(message.response_metadata.get("token_usage"))
            bill.counted = told or token_count.Counted(estimate, token_count.of_prompt([message], ""))
            bill.estimated = told is None
            if told and told.output > call.max_tokens:
                self._dialect.overran(model)
            reply = reply_of(message, model, mode.name, bill.counted, estimated=bill.estimated).masked(self._answered)
            self._dialect.understood(model, call.shape, index)
            try:
                answer = mode.read(reply)
            except Unfitting:
                self._dialect.misunderstood(model, call.shape, index)
                raise
        self._replays.keep(call.key, reply)
        return answer

    def _replayed(self, key: str, shape: Shape[T]) -> T | None:
        """The answer to a call that an interrupted run had made; counted, as it was paid for the same report."""
        reply = self._replays.known(key)
        index = next((i for i, mode in enumerate(shape.modes) if reply and mode.name == reply.mode), None)
        if reply is None or index is None:
            return None
        try:
            answer = shape.modes[index].read(reply)
        except FAILURES:  # of another make
            return None
        self._dialect.understood(reply.model, shape, index)
        self._accounts.replay(reply.model, reply.mode, reply.counted, estimated=reply.estimated)
        return answer


def _messages(prompt: Any) -> list[BaseMessage]:
    if isinstance(prompt, PromptValue):
        return prompt.to_messages()
    if isinstance(prompt, str):
        return [HumanMessage(prompt)]
    return list(prompt)


def _masked(message: BaseMessage, screened: Screened) -> BaseMessage:
    told = {
        name: getattr(message, name)
        for name in ("content", "tool_calls", "invalid_tool_calls")
        if hasattr(message, name)
    }
    masked = {name: screened(value) for name, value in told.items()}
    return message if masked == told else message.model_copy(update=masked)
