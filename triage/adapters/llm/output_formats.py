"""How an answer of some shape is asked for, and how it is read.

A structured answer can be asked for in three modes, and endpoints differ in which they can do: `json_schema`,
function calling, JSON mode. The reply is validated here rather than by the SDK, so that the tokens of a reply
that does not fit are still counted.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from openai import pydantic_function_tool
from pydantic import BaseModel, ValidationError

from triage.adapters.llm.model_errors import Unfitting
from triage.adapters.llm.model_reply import Reply
from triage.errors import BadAnswer

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

_FENCE = re.compile(r"\A\s*```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Mode(Generic[T]):
    """One way to ask: the request's extra arguments, and the reader of the reply."""

    name: str
    arguments: Mapping[str, Any]
    read: Callable[[Reply], T]
    preface: Sequence[BaseMessage] = ()
    sent: str = ""
    """What the arguments add to the prompt, as JSON."""


@dataclass(frozen=True)
class Shape(Generic[T]):
    """The modes in which a shape can be asked for, best first."""

    name: str
    modes: Sequence[Mode[T]] = field(default_factory=tuple)


def structured(answer: type[A]) -> Shape[A]:
    """A validated answer of this schema."""
    tool: dict[str, Any] = dict(pydantic_function_tool(answer))
    schema = tool["function"]["parameters"]
    text = json.dumps(schema)
    name = answer.__name__
    from_content = lambda reply: _validated(answer, _content(reply))  # noqa: E731
    return Shape(
        "structured",
        (
            Mode(
                "json_schema",
                {
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {"name": name, "strict": True, "schema": schema},
                    }
                },
                from_content,
                sent=text,
            ),
            Mode(
                "function_calling",
                {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": name}}},
                lambda reply: _validated(answer, _arguments(reply, name)),
                sent=text,
            ),
            Mode(
                "json_mode",
                {"response_format": {"type": "json_object"}},
                from_content,
                preface=(SystemMessage(f"Answer with one JSON object of this JSON schema and nothing else:\n{text}"),),
            ),
        ),
    )


def json_object() -> Shape[dict[str, Any]]:
    """A JSON object whose fields are not fixed; asked for plainly where JSON mode is not known."""
    return Shape(
        "json_object",
        (
            Mode("json_mode", {"response_format": {"type": "json_object"}}, _object),
            Mode("plain", {}, _object),
        ),
    )


def text() -> Shape[str]:
    """Words."""
    return Shape("text", (Mode("plain", {}, _content),))


def with_tools(tools: Sequence[BaseTool]) -> Shape[AIMessage]:
    """A message that may ask for tools."""
    specs = [convert_to_openai_tool(tool) for tool in tools]
    return Shape("tools", (Mode("tools", {"tools": specs}, _message, sent=json.dumps(specs)),))


def _message(reply: Reply) -> AIMessage:
    return _whole(reply).message


def _whole(reply: Reply) -> Reply:
    if reply.finish_reason == "length":
        raise BadAnswer("answer cut at its length limit")
    if reply.finish_reason == "content_filter":
        raise BadAnswer("content filter")
    if reply.refused:
        raise BadAnswer("refused by the model")
    return reply


def _content(reply: Reply) -> str:
    words = _whole(reply).message.text.strip()
    if not words:
        raise BadAnswer("empty answer")
    return words


def _arguments(reply: Reply, name: str) -> str:
    for tool in _whole(reply).tools:
        if tool.name == name and isinstance(tool.args, dict):
            return json.dumps(tool.args)
    raise Unfitting("no usable function call")


def _json_of(words: str) -> str:
    fenced = _FENCE.match(words)
    return fenced[1] if fenced else words


def _validated(answer: type[A], words: str) -> A:
    try:
        return answer.model_validate_json(_json_of(words))
    except ValidationError as error:
        raise Unfitting(f"answer does not fit {answer.__name__}") from error


def _object(reply: Reply) -> dict[str, Any]:
    try:
        value = json.loads(_json_of(_content(reply)))
    except (ValueError, RecursionError) as error:
        raise BadAnswer("answer is not JSON") from error
    if not isinstance(value, dict):
        raise BadAnswer("answer is not a JSON object")
    return value
