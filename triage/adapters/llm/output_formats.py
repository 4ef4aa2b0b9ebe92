"""The formats of a model's answer: how each is requested, and how the reply is read.

A structured answer can be requested in three modes: `json_schema`, function calling, JSON mode. Endpoints differ in
which ones they support. The reply is validated here instead of by the SDK, so that the tokens of an invalid one count.
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

from triage.adapters.llm.model_errors import WrongFormat
from triage.adapters.llm.model_reply import ModelReply
from triage.errors import InvalidAnswer

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

_FENCE = re.compile(r"\A\s*```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Mode(Generic[T]):
    """One way to request a format: extra arguments of the request, and the reader of the reply."""

    name: str
    arguments: Mapping[str, Any]
    read: Callable[[ModelReply], T]
    preface: Sequence[BaseMessage] = ()
    prompt_addition: str = ""
    """JSON in the arguments that counts as part of the prompt."""


@dataclass(frozen=True)
class OutputFormat(Generic[T]):
    """A format and the modes in which it can be requested, best first."""

    name: str
    modes: Sequence[Mode[T]] = field(default_factory=tuple)


def structured_format(answer: type[A]) -> OutputFormat[A]:
    tool: dict[str, Any] = dict(pydantic_function_tool(answer))
    schema = tool["function"]["parameters"]
    text = json.dumps(schema)
    name = answer.__name__
    from_content = lambda reply: _validate(answer, _read_content(reply))  # noqa: E731
    return OutputFormat(
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
                prompt_addition=text,
            ),
            Mode(
                "function_calling",
                {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": name}}},
                lambda reply: _validate(answer, _read_arguments(reply, name)),
                prompt_addition=text,
            ),
            Mode(
                "json_mode",
                {"response_format": {"type": "json_object"}},
                from_content,
                preface=(SystemMessage(f"Answer with one JSON object of this JSON schema and nothing else:\n{text}"),),
            ),
        ),
    )


def json_format() -> OutputFormat[dict[str, Any]]:
    """Returns the format of a JSON object with any fields; without JSON mode for endpoints that lack it."""
    return OutputFormat(
        "json_object",
        (
            Mode("json_mode", {"response_format": {"type": "json_object"}}, _read_object),
            Mode("plain", {}, _read_object),
        ),
    )


def text_format() -> OutputFormat[str]:
    return OutputFormat("text", (Mode("plain", {}, _read_content),))


def tools_format(tools: Sequence[BaseTool]) -> OutputFormat[AIMessage]:
    specs = [convert_to_openai_tool(tool) for tool in tools]
    return OutputFormat("tools", (Mode("tools", {"tools": specs}, _read_message, prompt_addition=json.dumps(specs)),))


def _read_message(reply: ModelReply) -> AIMessage:
    return _check_complete(reply).message


def _check_complete(reply: ModelReply) -> ModelReply:
    if reply.finish_reason == "length":
        raise InvalidAnswer("answer cut at its length limit")
    if reply.finish_reason == "content_filter":
        raise InvalidAnswer("content filter")
    if reply.refused:
        raise InvalidAnswer("refused by the model")
    return reply


def _read_content(reply: ModelReply) -> str:
    text = _check_complete(reply).message.text.strip()
    if not text:
        raise InvalidAnswer("empty answer")
    return text


def _read_arguments(reply: ModelReply, name: str) -> str:
    for tool in _check_complete(reply).tools:
        if tool.name == name and isinstance(tool.args, dict):
            return json.dumps(tool.args)
    raise WrongFormat("no usable function call")


def _strip_fence(text: str) -> str:
    fenced = _FENCE.match(text)
    return fenced[1] if fenced else text


def _validate(answer: type[A], text: str) -> A:
    try:
        return answer.model_validate_json(_strip_fence(text))
    except ValidationError as error:
        raise WrongFormat(f"answer does not fit {answer.__name__}") from error


def _read_object(reply: ModelReply) -> dict[str, Any]:
    try:
        value = json.loads(_strip_fence(_read_content(reply)))
    except (ValueError, RecursionError) as error:
        raise InvalidAnswer("answer is not JSON") from error
    if not isinstance(value, dict):
        raise InvalidAnswer("answer is not a JSON object")
    return value
