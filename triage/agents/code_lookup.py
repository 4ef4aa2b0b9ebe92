"""The codebase agent's tool loop: a model may look up code a few times before it answers.

Turns, calls, characters of answers, tokens, dollars and seconds are limited, and a repeated call is not run. An error
ends the loop; the model then answers from what was found so far.

A model answers in the turn in which it has seen enough, by a call of its own: then the prompt is not sent once more.
`bench.tokens` measures the tokens of whole runs; docs/how-it-works.md has them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from triage.agents.prompts import PROMPTS, WANTED, fence, shorten
from triage.agents.services import Services
from triage.agents.shown_code import Block, ShownCode, cut_longest, measure
from triage.base.errors import InvalidAnswer, TriageError
from triage.domain.code import LookedUp
from triage.domain.findings import CodebaseFinding

if TYPE_CHECKING:
    from triage.agents.tool_runner import ToolRunner
    from triage.outside.model.chat_model import ChatModel


MAX_TURNS = 3
"""In which things are looked up. The answer may be one more."""
MIN_CHARS = 400
"""With less room for answers than this nothing is looked up any more."""
ANSWER_TOKENS = 2_000
"""Output of a turn, which may be the answer. A call takes 40, but reasoning is billed too."""
RESERVED_SHARE = 0.3
"""Of tokens and dollars, for critic and writer, which take 10 to 18 percent (measured)."""
ANSWER_SECONDS = 20.0
"""Reserved for the answer; at most half of the agent's time."""
MIN_SECONDS = 2.0
MAX_CALLS = 8
MAX_ANSWERS_CHARS = 16_000
"""Of all answers of a round together, because each turn sends the earlier ones again."""
MAX_TEXT_CHARS = 1_000
MAX_SHARE = 0.75
"""Of the room that is left, for the answers of one turn, so that a further one has room. The prompt says so."""
REPEATED = "(You asked this before: see answer {number}.)"
LIMIT_REACHED = "(Not looked up: nothing further can be. Give the answer.)"
ROOM = "Room left for answers: {chars:,} characters, {calls} calls."


class CodeLookup:
    """The loop as a step of a chain: takes the prompt, and returns it with what was looked up."""

    def __init__(
        self, services: Services, model: ChatModel, tools: ToolRunner, shown: ShownCode, mark: str = ""
    ) -> None:
        """`shown` numbers the code that the model sees; `mark` stands around text of strangers, as in the prompt."""
        self._services = services
        self._model = model
        self._tools = tools
        self._model_with_tools = model.tools_or_answer(list(tools.tools), CodebaseFinding, "main", ANSWER_TOKENS)
        self._model_without_tools = model.structured_output(CodebaseFinding, "main", ANSWER_TOKENS)
        seconds = services.agent_seconds()
        self._deadline = services.clock() + seconds - min(ANSWER_SECONDS, seconds / 2)
        self._messages: list[BaseMessage] = []  # for the model that looks things up
        self._transcript: list[str] = []  # for the model that answers
        self._executed: dict[str, int] = {}  # numbers of calls
        self._turns = 0  # in which things were looked up
        self._chars_left = MAX_ANSWERS_CHARS
        self.shortfalls: list[str] = []
        """Why the loop ended early, for the report."""
        self.answers: list[LookedUp] = []
        """What was looked up, in order; each answer as it was shown."""
        self._finding: CodebaseFinding | None = None
        self._shown, self._mark = shown, mark

    async def answer(self, messages: list[BaseMessage]) -> CodebaseFinding:
        """Return the model's answer: the one it gives in a turn, else one to the prompt and what was looked up."""
        self._messages = [SystemMessage(f"{messages[0].text}\n\n{PROMPTS['codebase_tools']}"), *messages[1:]]
        try:
            why = await self._run_turns()
        except InvalidAnswer:
            if not self._executed:  # every model has answered this very prompt
                raise
            why = "it gave no usable answer"
        except (TriageError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            self.shortfalls.append(f"looking things up ended early: {why}; answered from what was there")
        self._services.progress.detail(f"Codebase search: things looked up: {len(self._executed)}; {why}.")
        return self._finding or await self.answer_without_tools(messages)

    async def answer_without_tools(self, messages: list[BaseMessage]) -> CodebaseFinding:
        """Return an answer to the prompt and what was looked up so far."""
        return await self._model_without_tools.ainvoke(self._extend_prompt(messages))

    def _extend_prompt(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """Return the prompt with what was looked up, before its last line."""
        if not self._executed or not self._transcript:
            return messages
        # As text: many endpoints refuse tool messages once the tools are no longer offered, and some refuse two
        # messages of one role in a row.
        looked_up = fence({"looked up": "\n\n".join(self._transcript)}, self._mark).text
        system, sections, *tail = messages
        return [system, HumanMessage(f"{sections.text.removesuffix(WANTED)}{looked_up}\n\n{WANTED}"), *tail]

    async def _run_turns(self) -> str:
        """Run turn after turn. Returns why there is no further one."""
        last_tokens, last_usd = 0, 0.0
        while True:
            seconds = self._deadline - self._services.clock()
            if seconds < MIN_SECONDS:
                return "the rest of the time is for the answer"
            before, limits = self._model.usage, self._services.limits
            # A further turn and the answer both send the conversation.
            tokens, usd = before.tokens + 2 * last_tokens, before.priced_usd + 2 * last_usd
            if tokens > limits.tokens * (1 - RESERVED_SHARE) or usd > limits.usd * (1 - RESERVED_SHARE):
                return "the rest of the budget is for critic and writer"
            async with asyncio.timeout(seconds):
                why = await self._run_turn()
            if why:
                return why
            after = self._model.usage
            last_tokens, last_usd = after.tokens - before.tokens, after.priced_usd - before.priced_usd

    async def _run_turn(self) -> str:
        """Ask the model and run its calls. Returns why this was the last turn; empty when there may be another."""
        message = await self._model_with_tools.ainvoke([*self._messages])
        if isinstance(message, CodebaseFinding):
            self._finding = message
            return "it has answered"
        calls = list_calls(message, self._turns)
        refused = self._refuse_calls(calls)
        answers = await self._run_calls([call for call in calls if call["id"] not in refused])
        text = shorten(message.text.strip(), MAX_TEXT_CHARS)
        self._transcript += [text] if text else []
        if not calls:
            return "it has seen enough"
        self._messages.append(_make_sendable(message, calls, text))
        self._turns += 1
        self._add_answers(calls, answers, refused)
        return "it asked for nothing new" if len(refused) == len(calls) else ""

    @property
    def _calls_left(self) -> int:
        has_room = self._turns < MAX_TURNS and self._chars_left >= MIN_CHARS
        return MAX_CALLS - len(self._executed) if has_room else 0

    def _refuse_calls(self, calls: Sequence[ToolCall | InvalidToolCall]) -> dict[str | None, str]:
        """Return an answer for each call that is not run, by id. All others are counted as run."""
        refused = {}
        for call in calls:
            signature = _format_call(call)
            if signature in self._executed:
                refused[call["id"]] = REPEATED.format(number=self._executed[signature])
            elif not self._calls_left:
                refused[call["id"]] = LIMIT_REACHED
            else:
                self._executed[signature] = len(self._executed) + 1
        return refused

    async def _run_calls(self, calls: Sequence[ToolCall | InvalidToolCall]) -> dict[str | None, list[Block]]:
        """Run the calls, and return the answers by id."""
        if not calls:
            return {}
        readable = [call for call in calls if call["type"] == "tool_call"]
        unreadable = [call for call in calls if call["type"] == "invalid_tool_call"]
        answers = await self._tools.run(AIMessage("", tool_calls=readable, invalid_tool_calls=unreadable))
        return {answer.tool_call_id: answer.artifact or [answer.text] for answer in answers}

    def _add_answers(
        self,
        calls: Sequence[ToolCall | InvalidToolCall],
        answers: Mapping[str | None, list[Block]],
        refused: Mapping[str | None, str],
    ) -> None:
        """Add the answers to what the model and the report get, with the longest cut to the room that is left."""
        run = [call["id"] for call in calls if call["id"] in answers]
        cut = cut_longest([answers[one] for one in run], int(self._chars_left * MAX_SHARE))
        self._chars_left -= sum(map(measure, cut))
        texts = {one: self._shown.show(blocks) for one, blocks in zip(run, cut, strict=True)} | dict(refused)
        room = ROOM.format(chars=self._chars_left, calls=self._calls_left)
        for call in calls:
            written, text = _format_call(call), texts[call["id"]]
            title = "answer" if call["id"] in refused else f"answer {self._executed[written]}"
            if call["id"] in answers:
                self.answers.append(LookedUp(call=written, answer=text))
            if call["id"] in answers or text == LIMIT_REACHED:
                self._transcript.append(f"# {written}\n{text}")
            reply = fence({title: text}, self._mark).text + (f"\n\n{room}" if call is calls[-1] else "")
            self._messages.append(ToolMessage(reply, tool_call_id=call["id"] or "", name=call["name"]))


def list_calls(message: AIMessage, turn: int) -> list[ToolCall | InvalidToolCall]:
    """Return the calls of a message, each with an id of its own and a name that can be sent again."""
    calls: list[ToolCall | InvalidToolCall] = [*message.tool_calls, *message.invalid_tool_calls]
    ids = {call["id"] for call in calls if call["id"]}
    for number, call in enumerate(calls):
        call["id"] = call["id"] if len(ids) == len(calls) else f"call_{turn}_{number}"
        name = re.split(r"[.:/]", call["name"] or "")[-1]  # of `functions.grep`
        call["name"] = re.sub(r"[^\w-]", "", name)[:64] or "unknown_tool"
    return calls


def _make_sendable(message: AIMessage, calls: Sequence[ToolCall | InvalidToolCall], text: str) -> AIMessage:
    """Return the message as the model wrote it, which has its reasoning; without what endpoints refuse."""
    if not message.invalid_tool_calls and not isinstance(message.content, str):
        return message
    args = [call["args"] if isinstance(call["args"], dict) else {} for call in calls]
    sent = [ToolCall(name=call["name"] or "", args=one, id=call["id"]) for call, one in zip(calls, args, strict=True)]
    return AIMessage(text, tool_calls=sent, additional_kwargs=message.additional_kwargs)


def _format_call(call: ToolCall | InvalidToolCall) -> str:
    args = call["args"]
    return f"{call['name']}({json.dumps(args, sort_keys=True) if isinstance(args, dict) else 'unreadable arguments'})"
