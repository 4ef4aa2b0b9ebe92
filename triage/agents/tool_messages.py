"""The conversation of a model with tools, in messages that every endpoint accepts."""

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
"""Of all answers together, because each turn sends the earlier ones again."""
BYTES_PER_TOKEN = 3.0
"""Low on purpose, as for the reservation of calls."""
MAX_CALLS_PER_MESSAGE = 16
"""More than `MAX_CALLS`, so that the model learns of that limit; further calls of a message are dropped."""
MAX_ARGUMENT_CHARS = 2_000
MAX_TEXT_CHARS = 1_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names of tools that endpoints accept in a conversation."""
_ID = re.compile(r"[!-~]{1,128}")

REPEATED = "(You asked this before; the answer stands above.)"
LIMIT_REACHED = f"(Not looked up: at most {MAX_CALLS} things can be.)"


@dataclass(frozen=True)
class RequestedCall:
    """A call that a model asks for, in a form that can be sent again."""

    id: str
    name: str
    args: dict[str, Any] | None
    """None when they are unreadable."""

    @property
    def signature(self) -> str:
        """The call as text; equal calls have the same."""
        arguments = "unreadable arguments" if self.args is None else json.dumps(self.args, sort_keys=True)
        return f"{self.name}({arguments})"


@dataclass
class ToolConversation:
    """The conversation so far: messages for the model that looks things up, and text for the one that answers."""

    messages: list[BaseMessage]
    transcript: list[str] = field(default_factory=list)
    executed: set[str] = field(default_factory=set)
    """Signatures of calls that were run."""
    call_count: int = 0
    chars_left: int = MAX_ANSWERS_CHARS
    """For answers."""

    @property
    def tokens(self) -> int:
        """Estimate of what sending the messages costs; rather too high."""
        calls = sum(len(json.dumps(getattr(message, "tool_calls", []))) for message in self.messages)
        words = sum(len(message.text.encode("utf-8", "replace")) for message in self.messages)
        return math.ceil((calls + words) / BYTES_PER_TOKEN)

    def refuse_calls(self, calls: Sequence[RequestedCall]) -> dict[str, str]:
        """Count the calls that may run. Returns the answers to the others, by id."""
        refused: dict[str, str] = {}
        for call in calls:
            if call.signature in self.executed:
                refused[call.id] = REPEATED
            elif self.call_count >= MAX_CALLS:
                refused[call.id] = LIMIT_REACHED
            else:
                self.executed.add(call.signature)
                self.call_count += 1
        return refused

    def add_turn(
        self, text: str, calls: Sequence[RequestedCall], answers: Mapping[str, str], refused: Mapping[str, str]
    ) -> None:
        """Add what the model wrote and asked for, and an answer to each call."""
        text = _replace_surrogates(cut(text.strip(), MAX_TEXT_CHARS))
        self.transcript += [text] if text else []
        if not calls:
            return
        sent = [ToolCall(name=call.name, args=call.args or {}, id=call.id, type="tool_call") for call in calls]
        self.messages.append(AIMessage(text, tool_calls=sent))
        waiting = len(calls) - len(refused)
        for call in calls:
            answer = refused.get(call.id)
            if answer is None:
                answer = cut_lines(answers.get(call.id, "(no answer)"), self.chars_left // waiting)
                self.chars_left -= len(answer)
                waiting -= 1
            self.messages.append(ToolMessage(fence({"answer": answer}).text, tool_call_id=call.id, name=call.name))
            self.transcript.append(f"# {call.signature}\n{answer}")


def parse_calls(message: AIMessage, turn: int) -> list[RequestedCall]:
    """Return the calls of a message, each with an id of its own; at most `MAX_CALLS_PER_MESSAGE`."""
    requested: list[ToolCall | InvalidToolCall] = [*message.tool_calls, *message.invalid_tool_calls]
    found: dict[str, RequestedCall] = {}
    for number, call in enumerate(requested[:MAX_CALLS_PER_MESSAGE]):
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
    try:
        text = _replace_surrogates(json.dumps(args, ensure_ascii=False))
        return dict(json.loads(text)) if len(text) <= MAX_ARGUMENT_CHARS else None
    except RecursionError:
        return None


def _replace_surrogates(text: str) -> str:
    # JSON can hold lone surrogates; the body of a request cannot.
    return text.encode("utf-8", "replace").decode("utf-8")


def cut_lines(text: str, max_chars: int) -> str:
    """Return the first lines of a text, and how many are left out."""
    if len(text) <= max_chars:
        return text
    lines = text.split("\n")
    shown: list[str] = []
    used = 0
    for line in lines:
        used += len(line) + 1
        if used > max_chars:
            break
        shown.append(line)
    return "\n".join([*shown, f"(further lines left out: {len(lines) - len(shown):,}; ask for less at a time)"])
