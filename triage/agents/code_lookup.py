"""The codebase agent's tool loop: a model may look up code a few times before it answers.

Turns, calls, characters of answers, tokens, dollars and seconds are limited, and a repeated call is not run. An error
ends the loop; the model then answers from what was found so far.

Tokens of a whole run's first round (four issues of pytest and Django, of 100,000 that a run may take by default):
22,000 to 27,000 without the loop, 25,000 to 29,000 when nothing is looked up, 37,000 to 40,000 after one turn, 39,000
to 54,000 after two or three.
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
"""With less room for answers than this the loop ends."""
TURN_TOKENS = 800
"""Output of one turn. A call takes 40, but reasoning is billed too."""
ANSWER_TOKENS = 2_000
"""Output of the answer after the last turn."""
RESERVED_SHARE = 0.4
"""Of tokens and dollars, for a further round and for critic and writer, which take 10 to 18 percent (measured)."""
ANSWER_SECONDS = 20.0
"""Reserved for the answer; at most half of the agent's time."""
MIN_SECONDS = 2.0


class CodeLookup:
    """The loop as a step of a chain: takes the prompt, and returns it with what was looked up."""

    def __init__(self, services: Services, model: Model, tools: Toolset) -> None:
        """Start the clock of the agent."""
        self._services = services
        self._model = model
        self._tools = tools
        self._model_with_tools: Runnable[Any, AIMessage] = model.with_tools(list(tools.tools), "main", TURN_TOKENS)
        seconds = services.agent_seconds()
        self._deadline = services.clock() + seconds - min(ANSWER_SECONDS, seconds / 2)
        self.shortfalls: list[str] = []
        """Why the loop ended early, for the report."""

    async def extend_prompt(self, prompt: PromptValue) -> list[BaseMessage]:
        """Run the loop, and return the prompt with everything that was looked up."""
        messages = prompt.to_messages()
        conversation = ToolConversation([build_system_message("codebase_tools"), *messages[1:]])
        try:
            why = await self._run_turns(conversation)
        except (TriageError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            self.shortfalls.append(f"looking things up ended early: {why}; answered from what was there")
        self._services.progress.detail(f"Codebase search: things looked up: {conversation.call_count}; {why}.")
        if not conversation.call_count:
            return messages
        # As text: many endpoints refuse tool messages once the tools are no longer offered, and some refuse two
        # messages of one role in a row.
        looked_up = fence({"looked up": "\n\n".join(conversation.transcript)}).text
        return [*messages[:-1], HumanMessage(f"{messages[-1].text}\n\n{looked_up}")]

    async def _run_turns(self, conversation: ToolConversation) -> str:
        """Run turn after turn. Returns why there is no further one."""
        last_usd = 0.0
        for turn in range(MAX_TURNS):
            before = self._model.usage + self._model.reused
            seconds = self._deadline - self._services.clock()
            if seconds < MIN_SECONDS:
                return "the rest of the time is for the answer"
            if not can_afford_turn(conversation, before, last_usd, self._services.limits):
                return "the rest of the budget is for critic and writer"
            async with asyncio.timeout(seconds):
                why = await self._run_turn(conversation, turn)
            if why:
                return why
            last_usd = (self._model.usage + self._model.reused).priced_usd - before.priced_usd
        return "no turn is left"

    async def _run_turn(self, conversation: ToolConversation, turn: int) -> str:
        """Ask the model and run its calls. Returns why this was the last turn; empty when there may be another."""
        message = await self._model_with_tools.ainvoke([*conversation.messages])
        calls = parse_calls(message, turn)
        refused = conversation.refuse_calls(calls)
        answers = await self._run_calls([call for call in calls if call.id not in refused])
        conversation.add_turn(message.text, calls, answers, refused)
        if not calls:
            return "it has seen enough"
        if len(refused) == len(calls):
            return "it asked for nothing new"
        if conversation.call_count >= MAX_CALLS:
            return "no call is left"
        return "no room is left" if conversation.chars_left < MIN_CHARS else ""

    async def _run_calls(self, calls: Sequence[RequestedCall]) -> dict[str, str]:
        if not calls:
            return {}
        readable = [ToolCall(name=c.name, args=c.args, id=c.id, type="tool_call") for c in calls if c.args is not None]
        unreadable = [
            InvalidToolCall(name=c.name, args="", id=c.id, error=None, type="invalid_tool_call")
            for c in calls
            if c.args is None
        ]
        answers = await self._tools.run(AIMessage("", tool_calls=readable, invalid_tool_calls=unreadable))
        return {answer.tool_call_id: answer.text for answer in answers}


def can_afford_turn(conversation: ToolConversation, spent: Usage, last_usd: float, limits: Limits) -> bool:
    """Whether a further turn and the answer leave enough for critic and writer.

    Args:
        conversation: What would be sent twice.
        spent: By the run so far.
        last_usd: Cost of the previous turn; 0 before the first, which the budget itself may refuse.
        limits: The caps.
    """
    tokens = (
        2 * conversation.tokens + math.ceil(conversation.chars_left / BYTES_PER_TOKEN) + TURN_TOKENS + ANSWER_TOKENS
    )
    if spent.tokens + tokens > limits.tokens * (1 - RESERVED_SHARE):
        return False
    return spent.priced_usd + 2 * last_usd <= limits.usd * (1 - RESERVED_SHARE)
