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

from triage.agents.prompts import fenced, system
from triage.agents.tool_messages import BYTES_PER_TOKEN, MAX_CALLS, Call, Conversation, calls_of
from triage.domain.run import Limits, Usage
from triage.errors import TriageError
from triage.ports import Model, Services, Tools

MAX_TURNS = 3
LEAST_CHARS = 400
"""With less room than this nothing more is looked up."""
TURN_TOKENS = 800
"""Of a turn's output: a call takes 40, but models that think aloud are billed for that too."""
ANSWER_TOKENS = 2_000
"""Of the answer after the last turn."""
KEPT_SHARE = 0.4
"""Of tokens and dollars, for critic and writer, which take 10 to 18 of 100 parts of the default caps (measured), and
for a further round."""
ANSWER_SECONDS = 20.0
"""Kept for the answer; half of the agent's time where that is short."""
LEAST_SECONDS = 2.0


class LookUp:
    """One agent's turns with the tools, as a step of its chain: takes the prompt, gives it on with what it found."""

    def __init__(self, services: Services, model: Model, tools: Tools) -> None:
        """The agent's clock starts now."""
        self._services = services
        self._model = model
        self._tools = tools
        self._asker: Runnable[Any, AIMessage] = model.with_tools(list(tools.tools), "main", TURN_TOKENS)
        seconds = services.agent_seconds()
        self._ends = services.clock() + seconds - min(ANSWER_SECONDS, seconds / 2)
        self.shortfalls: list[str] = []
        """Why it ended before its time, for the report."""

    async def ahead(self, prompt: PromptValue) -> list[BaseMessage]:
        """The prompt with everything that was looked up, for the model that answers."""
        given = prompt.to_messages()
        talk = Conversation([system("codebase_tools"), *given[1:]])
        try:
            why = await self._turns(talk)
        except (TriageError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            self.shortfalls.append(f"looking things up ended early: {why}; answered from what was there")
        self._services.journal.note(f"Codebase search: things looked up: {talk.calls}; {why}.")
        if not talk.calls:
            return given
        # As text, not as the messages themselves: many endpoints refuse a conversation with calls once the tools are
        # no longer offered, and some two messages of one role after the other.
        looked_up = fenced({"looked up": "\n\n".join(talk.told)}).text
        return [*given[:-1], HumanMessage(f"{given[-1].text}\n\n{looked_up}")]

    async def _turns(self, talk: Conversation) -> str:
        """Turn after turn; why there is no further one, in our words."""
        last_usd = 0.0
        for turn in range(MAX_TURNS):
            before = self._model.usage
            seconds = self._ends - self._services.clock()
            if seconds < LEAST_SECONDS:
                return "the rest of the time is for the answer"
            if not affordable(talk, before, last_usd, self._services.limits):
                return "the rest of the budget is for critic and writer"
            async with asyncio.timeout(seconds):
                ended = await self._turn(talk, turn)
            if ended:
                return ended
            last_usd = self._model.usage.priced - before.priced
        return "no turn is left"

    async def _turn(self, talk: Conversation, turn: int) -> str:
        """Ask, look up, tell. Says why it was the last one; empty when there may be another."""
        message = await self._asker.ainvoke([*talk.messages])
        asked = calls_of(message, turn)
        refused = talk.chosen(asked)
        answers = await self._answers([call for call in asked if call.id not in refused])
        talk.add(message.text, asked, answers, refused)
        if not asked:
            return "it has seen enough"
        if len(refused) == len(asked):
            return "it asked for nothing new"
        if talk.calls >= MAX_CALLS:
            return "no call is left"
        return "no room is left" if talk.room < LEAST_CHARS else ""

    async def _answers(self, calls: Sequence[Call]) -> dict[str, str]:
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


def affordable(talk: Conversation, spent: Usage, last_usd: float, limits: Limits) -> bool:
    """Whether a further turn and the answer leave what critic and writer need.

    Args:
        talk: What would be sent, twice.
        spent: By the run so far.
        last_usd: What the turn before cost; 0 before the first, which the purse itself refuses when it is too dear.
        limits: The caps.
    """
    tokens = 2 * talk.tokens + math.ceil(talk.room / BYTES_PER_TOKEN) + TURN_TOKENS + ANSWER_TOKENS
    if spent.tokens + tokens > limits.tokens * (1 - KEPT_SHARE):
        return False
    return spent.priced + 2 * last_usd <= limits.usd * (1 - KEPT_SHARE)
