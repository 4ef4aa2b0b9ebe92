"""The codebase agent's tool loop: before it must answer, a model may look things up, a few times.

It always ends: turns, calls, characters of answers, tokens, dollars and seconds are bounded, and what was asked before
is not answered again. What goes wrong in it ends the looking up and never costs the answer, which is made from what is
there by then.

What it costs: without it a first pass of the whole run takes 22,000 to 27,000 tokens; with it 25,000 to 29,000 when
nothing is looked up, 37,000 to 40,000 after one turn, 39,000 to 54,000 after two or three (four issues of pytest and
Django, 3.8 bytes a token), of the 100,000 that a run may take by default.
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, InvalidToolCall, ToolCall
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable

from triage.agents.prompts import build_system_message, fence
from triage.agents.tool_messages import BYTES_PER_TOKEN, MAX_CALLS, RequestedCall, ToolConversation, parse_calls
from triage.domain.run import Limits, Usage
from triage.errors import TriageError
from triage.ports import Model, Services, Toolset

MAX_TURNS = 3
MIN_CHARS = 400
"""With less room than this nothing more is looked up."""
TURN_TOKENS = 800
"""Of a turn's output: a call takes 40, but models that think aloud are billed for that too."""
ANSWER_TOKENS = 2_000
"""Of the answer after the last turn."""
RESERVED_SHARE = 0.4
"""Of tokens and dollars, for critic and writer, which take 10 to 18 of 100 parts of the default caps (measured), and
for a further round."""
ANSWER_SECONDS = 20.0
"""Kept for the answer; half of the agent's time where that is short."""
MIN_SECONDS = 2.0


class CodeLookup:
    """One agent's turns with the tools, as a step of its chain: takes the prompt, gives it on with what it found."""

    def __init__(self, services: Services, model: Model, tools: Toolset) -> None:
        """The agent's clock starts now."""
        self._services = services
        self._model = model
        self._tools = tools
        self._model_with_tools: Runnable[Any, AIMessage] = model.with_tools(list(tools.tools), "main", TURN_TOKENS)
        seconds = services.agent_seconds()
        self._deadline = services.clock() + seconds - min(ANSWER_SECONDS, seconds / 2)
        self.shortfalls: list[str] = []
        """Why it ended before its time, for the report."""

    async def extend_prompt(self, prompt: PromptValue) -> list[BaseMessage]:
        """The prompt with everything that was looked up, for the model that answers."""
        given = prompt.to_messages()
        talk = ToolConversation([build_system_message("codebase_tools"), *given[1:]])
        try:
            why = await self._run_turns(talk)
        except (TriageError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            self.shortfalls.append(f"looking things up ended early: {why}; answered from what was there")
        self._services.progress.detail(f"Codebase search: things looked up: {talk.call_count}; {why}.")
        if not talk.call_count:
            return given
        # As text, not as the messages themselves: many endpoints refuse a conversation with calls once the tools are
        # no longer offered, and some two messages of one role after the other.
        looked_up = fence({"looked up": "\n\n".join(talk.transcript)}).text
        return [*given[:-1], HumanMessage(f"{given[-1].text}\n\n{looked_up}")]

    async def _run_turns(self, talk: ToolConversation) -> str:
        """Turn after turn; why there is no further one, in our words."""
        last_usd = 0.0
        for turn in range(MAX_TURNS):
            before = self._model.usage + self._model.reused
            seconds = self._deadline - self._services.clock()
            if seconds < MIN_SECONDS:
                return "the rest of the time is for the answer"
            if not can_afford_turn(talk, before, last_usd, self._services.limits):
                return "the rest of the budget is for critic and writer"
            async with asyncio.timeout(seconds):
                ended = await self._run_turn(talk, turn)
            if ended:
                return ended
            last_usd = (self._model.usage + self._model.reused).priced_usd - before.priced_usd
        return "no turn is left"

    async def _run_turn(self, talk: ToolConversation, turn: int) -> str:
        """Ask, look up, tell. Says why it was the last one; empty when there may be another."""
        message = await self._model_with_tools.ainvoke([*talk.messages])
        asked = parse_calls(message, turn)
        refused = talk.refuse_calls(asked)
        answers = await self._run_calls([call for call in asked if call.id not in refused])
        talk.add_turn(message.text, asked, answers, refused)
        if not asked:
            return "it has seen enough"
        if len(refused) == len(asked):
            return "it asked for nothing new"
        if talk.call_count >= MAX_CALLS:
            return "no call is left"
        return "no room is left" if talk.chars_left < MIN_CHARS else ""

    async def _run_calls(self, calls: Sequence[RequestedCall]) -> dict[str, str]:
        if not calls:
            return {}
        readable = [ToolCall(name=c.name, args=c.args, id=c.id, type="tool_call") for c in calls if c.args is not None]
        unreadable = [
            InvalidToolCall(name=c.name, args="", id=c.id, error=None, type="invalid_tool_call")
            for c in calls
            if c.args is None
        ]
        replies = await self._tools.run(AIMessage("", tool_calls=readable, invalid_tool_calls=unreadable))
        return {reply.tool_call_id: reply.text for reply in replies}


def can_afford_turn(talk: ToolConversation, spent: Usage, last_usd: float, limits: Limits) -> bool:
    """Whether a further turn and the answer leave what critic and writer need.

    Args:
        talk: What would be sent, twice.
        spent: By the run so far.
        last_usd: What the turn before cost; 0 before the first, which the purse itself refuses when it is too dear.
        limits: The caps.
    """
    tokens = 2 * talk.tokens + math.ceil(talk.chars_left / BYTES_PER_TOKEN) + TURN_TOKENS + ANSWER_TOKENS
    if spent.tokens + tokens > limits.tokens * (1 - RESERVED_SHARE):
        return False
    return spent.priced_usd + 2 * last_usd <= limits.usd * (1 - RESERVED_SHARE)
