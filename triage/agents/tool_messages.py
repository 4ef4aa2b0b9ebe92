"""A model's talk with tools: what it asks for, in calls that any endpoint takes back, and what it is told."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall, ToolMessage

from triage.agents.prompts import cut, fence

MAX_CALLS = 8
MAX_ANSWERS_CHARS = 16_000
"""Of all answers together; each turn sends those before it again."""
BYTES_PER_TOKEN = 3.0
"""As calls are reserved; low on purpose."""
MAX_CALLS_PER_MESSAGE = 16
"""Calls of one message that are taken up at all; more than `MAX_CALLS`, so that a model is told of the limit."""
MAX_ARGUMENT_CHARS = 2_000
MAX_WORDS_CHARS = 1_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What endpoints accept as a tool's name when a conversation is sent again."""
_ID = re.compile(r"[!-~]{1,128}")

REPEATED = "(You asked this before; the answer stands above.)"
LIMIT_REACHED = f"(Not looked up: at most {MAX_CALLS} things can be.)"


@dataclass(frozen=True)
class RequestedCall:
    """One call that a model asks for, fit to be sent again."""

    id: str
    name: str
    args: dict[str, Any] | None
    """None when they could not be read."""

    @property
    def signature(self) -> str:
        """The call as text, which is also what makes it the same call."""
        given = "unreadable arguments" if self.args is None else json.dumps(self.args, sort_keys=True)
        return f"{self.name}({given})"


@dataclass
class ToolConversation:
    """What was said so far: as messages for the model that looks things up, and as text for the one that answers."""

    messages: list[BaseMessage]
    transcript: list[str] = field(default_factory=list)
    executed: set[str] = field(default_factory=set)
    """Calls that were run, as written."""
    call_count: int = 0
    chars_left: int = MAX_ANSWERS_CHARS
    """Characters left for answers."""

    @property
    def tokens(self) -> int:
        """Upper estimate of what sending it costs."""
        calls = sum(len(json.dumps(getattr(message, "tool_calls", []))) for message in self.messages)
        words = sum(len(message.text.encode("utf-8", "replace")) for message in self.messages)
        return math.ceil((calls + words) / BYTES_PER_TOKEN)

    def refuse_calls(self, asked: Sequence[RequestedCall]) -> dict[str, str]:
        """Why some calls are not run, by id; counts those that are."""
        refused: dict[str, str] = {}
        for call in asked:
            if call.signature in self.executed:
                refused[call.id] = REPEATED
            elif self.call_count >= MAX_CALLS:
                refused[call.id] = LIMIT_REACHED
            else:
                self.executed.add(call.signature)
                self.call_count += 1
        return refused

    def add_turn(
        self, words: str, asked: Sequence[RequestedCall], answers: Mapping[str, str], refused: Mapping[str, str]
    ) -> None:
        """Put a turn into the conversation: what the model said and asked for, and an answer to each call."""
        words = _replace_surrogates(cut(words.strip(), MAX_WORDS_CHARS))
        self.transcript += [words] if words else []
        if not asked:
            return
        sent = [ToolCall(name=call.name, args=call.args or {}, id=call.id, type="tool_call") for call in asked]
        self.messages.append(AIMessage(words, tool_calls=sent))
        waiting = len(asked) - len(refused)
        for call in asked:
            answer = refused.get(call.id)
            if answer is None:
                answer = cut_lines(answers.get(call.id, "(no answer)"), self.chars_left // waiting)
                self.chars_left -= len(answer)
                waiting -= 1
            self.messages.append(ToolMessage(fence({"answer": answer}).text, tool_call_id=call.id, name=call.name))
            self.transcript.append(f"# {call.signature}\n{answer}")


def parse_calls(message: AIMessage, turn: int) -> list[RequestedCall]:
    """The calls that a message asks for, each under an id of its own; at most `MOST_ASKED`."""
    asked: list[ToolCall | InvalidToolCall] = [*message.tool_calls, *message.invalid_tool_calls]
    found: dict[str, RequestedCall] = {}
    for number, call in enumerate(asked[:MAX_CALLS_PER_MESSAGE]):
        key, spare = call["id"] or "", f"call_{turn}_{number}"
        while key in found or not _ID.fullmatch(key):
            key, spare = spare, f"{spare}_"
        name = call["name"] or ""
        args = call["args"]
        found[key] = RequestedCall(
            key,
            name if _NAME.fullmatch(name) else "unknown_tool",
            _copy_arguments(args) if isinstance(args, dict) else None,
        )
    return list(found.values())


def _copy_arguments(args: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments as they can be sent again; none when they are too long."""
    try:
        written = _replace_surrogates(json.dumps(args, ensure_ascii=False))
        return dict(json.loads(written)) if len(written) <= MAX_ARGUMENT_CHARS else None
    except RecursionError:
        return None


def _replace_surrogates(text: str) -> str:
    """Without lone surrogates, which JSON can hold and no request can."""
    return text.encode("utf-8", "replace").decode("utf-8")


def cut_lines(text: str, room: int) -> str:
    """As many whole lines as there is room for, and how many are left out."""
    if len(text) <= room:
        return text
    lines = text.split("\n")
    kept: list[str] = []
    used = 0
    for line in lines:
        used += len(line) + 1
        if used > room:
            break
        kept.append(line)
    return "\n".join([*kept, f"(further lines left out: {len(lines) - len(kept):,}; ask for less at a time)"])
