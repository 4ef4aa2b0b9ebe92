"""The formats of a model's answer: what is sent to request each, and how the reply is read.

A reply is read in the same way however it was requested: a model may answer with a function call when content is asked
for, and the reverse, and an endpoint may ignore the schema. It is validated here instead of by the SDK, so that the
tokens of an invalid one count.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, SystemMessage, ToolCall
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from openai import pydantic_function_tool
from pydantic import BaseModel

from triage.base.errors import InvalidAnswer
from triage.outside.model.answer_reader import Misfit, find_objects, fit_answer
from triage.outside.model.model_errors import CUT_AT_LENGTH, WrongFormat
from triage.safety.secrets.redactor import Redact

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

REASONING_FIELDS, REASONING_BLOCKS, REASONING_MODEL = "reasoning_fields", "reasoning_blocks", "reasoning_model"
"""Of `additional_kwargs`: what a message of chat completions has beside its content, items of the Responses API, and
whose they are."""
MAX_ITEMS, MAX_TEXT_CHARS, MAX_INNER_CHARS = 12, 2_000, 500
"""Of a list, of a text, and of a text in a list or an object, where the schema says no other number. A small model
writes without end otherwise."""
_SCHEMA_REQUEST = "Answer with one JSON object of this JSON schema and nothing else:\n"
_UNSENT = ("title", "default", "minimum", "maximum")
"""Pydantic repeats each field's name as its title: a fifth of what is sent. Some endpoints refuse the others; the
answer is checked here."""


def to_reply(message: AIMessage, model: str = "", redact: Redact = lambda tree: tree) -> AIMessage:
    """Return a response of either API as text, calls, why it ended, and what its endpoint wants back in the next turn.

    It is without our own secrets, and without lone surrogates, which no request can hold. Arguments that are no JSON
    object stay a string, in a call that is invalid.
    """
    metadata, fields = message.response_metadata, message.additional_kwargs.get(REASONING_FIELDS) or {}
    content = message.content if isinstance(message.content, list) else []
    blocks = [block for block in content if isinstance(block, dict)]
    thoughts = [block for block in blocks if block.get("type") == "reasoning"]
    reason = metadata.get("finish_reason") or (metadata.get("incomplete_details") or {}).get("reason")
    finish_reason = "length" if reason == "max_output_tokens" else reason
    # Some endpoints put the whole answer among the thoughts.
    is_misplaced = not message.text.strip() and not get_calls(message) and finish_reason != "length"
    calls = [
        (call["id"] or f"call-{number}", call["name"] or "", _read_arguments(call["args"] or {}))
        for number, call in enumerate(get_calls(message))
    ]
    refused = message.additional_kwargs.get("refusal") or any(block.get("type") == "refusal" for block in blocks)
    reply = AIMessage(
        next((text for text in fields.values() if isinstance(text, str)), "") if is_misplaced else str(message.text),
        tool_calls=[ToolCall(id=one, name=name, args=args) for one, name, args in calls if isinstance(args, dict)],
        invalid_tool_calls=[
            InvalidToolCall(id=one, name=name, args=args, error=None, type="invalid_tool_call")
            for one, name, args in calls
            if isinstance(args, str)
        ],
        additional_kwargs={REASONING_MODEL: model, REASONING_FIELDS: fields, REASONING_BLOCKS: thoughts}
        if fields or thoughts
        else {},
        response_metadata={"finish_reason": finish_reason, "refused": bool(refused)},
    )
    text = json.dumps(redact(reply.model_dump()), ensure_ascii=False)
    return AIMessage.model_validate_json(text.encode("utf-8", "replace"))


def get_calls(message: AIMessage) -> list[ToolCall | InvalidToolCall]:
    """Return the calls of a message, also those with arguments that cannot be read."""
    return [*message.tool_calls, *message.invalid_tool_calls]


def is_thought(reply: AIMessage) -> bool:
    """Return whether there are thoughts without an answer behind them."""
    return not reply.text.strip() or ("<think>" in reply.text and "</think>" not in reply.text)


def _read_arguments(args: dict[str, Any] | str) -> dict[str, Any] | str:
    return args if isinstance(args, dict) else next(iter(find_objects(args)), args)


@dataclass(frozen=True)
class OutputFormat(Generic[T]):
    """What is asked for, and the reader of the reply, which takes the prompt too: what that quotes is no answer.

    Of tools, the answer is one more.
    """

    read: Callable[[AIMessage, str], T]
    answer: type[BaseModel] | None = None
    tools: Sequence[dict[str, Any]] | None = None

    @property
    def options(self) -> Set[str]:
        """What of the request can be left out."""
        by_schema = {"strict"} if self.tools is not None else {"strict", "response_format"}
        return {"bounds"} | (by_schema if self.answer else set())

    def name_mode(self, left_out: Set[str]) -> str:
        """Return how the format is requested, as the record of the run names it."""
        if self.tools is not None:
            return "tools"
        return "plain" if "response_format" in left_out else "json_schema"

    def build_arguments(self, left_out: Set[str]) -> dict[str, Any]:
        """Return the arguments of the request, without options that its endpoint refuses."""
        own = [_adapt_function(_build_function(self.answer), left_out)] if self.answer else []
        if self.tools is not None:
            return {"tools": [*(_adapt_function(tool, left_out) for tool in self.tools), *own]}
        if "response_format" in left_out or not own:
            return {}
        function = own[0]["function"]
        schema = {"name": function["name"], "schema": function["parameters"]}
        schema |= {"strict": True} if "strict" not in left_out else {}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def build_preface(self, left_out: Set[str]) -> list[BaseMessage]:
        """Return the messages that go before the prompt: the schema for an endpoint that takes it nowhere else."""
        if self.answer is None or self.name_mode(left_out) != "plain":
            return []
        return [SystemMessage(_SCHEMA_REQUEST + json.dumps(_build_function(self.answer)["function"]["parameters"]))]


def structured_format(answer: type[A]) -> OutputFormat[A]:
    return OutputFormat(lambda reply, prompt: _read_answer(reply, answer, prompt), answer)


def tools_format(tools: Sequence[BaseTool]) -> OutputFormat[AIMessage]:
    return OutputFormat(
        lambda reply, prompt: _check_complete(_take_written_calls(reply, prompt)),
        tools=[*map(convert_to_openai_tool, tools)],
    )


def tools_or_answer_format(tools: Sequence[BaseTool], answer: type[A]) -> OutputFormat[AIMessage | A]:
    """Return the format of a turn that may call tools, or give the answer by a call of its own."""

    def read(reply: AIMessage, prompt: str) -> AIMessage | A:
        reply = _take_written_calls(reply, prompt)

        def is_own(call: ToolCall | InvalidToolCall) -> bool:
            return _is_named(call["name"] or "", answer.__name__)

        calls = {"tool_calls": [*filter(is_own, reply.tool_calls)]}
        own = reply.model_copy(update={**calls, "invalid_tool_calls": [*filter(is_own, reply.invalid_tool_calls)]})
        if get_calls(own) or (not get_calls(reply) and find_objects(reply.text, prompt)):
            return _read_answer(own, answer, prompt)
        _check_complete(reply)
        if not get_calls(reply) and not reply.text.strip():
            raise InvalidAnswer("empty answer")
        return reply

    return OutputFormat(read, answer, [*map(convert_to_openai_tool, tools)])


def _build_function(answer: type[BaseModel]) -> dict[str, Any]:
    """Return the answer's schema as a function that a model may call, with the fields that it is asked for."""
    tool: dict[str, Any] = dict(pydantic_function_tool(answer))
    schema = tool["function"]["parameters"]
    for name in getattr(answer, "unasked", ()):
        schema["properties"].pop(name, None)
    schema["required"] = list(schema["properties"])
    used = json.dumps(schema["properties"]) + json.dumps(schema.get("$defs", {}))
    schema["$defs"] = {name: one for name, one in schema.pop("$defs", {}).items() if f'"#/$defs/{name}"' in used}
    for described in (schema, tool["function"], *schema["$defs"].values()):  # the prompt says what each is
        described.pop("description", None)
    return tool


def _adapt_function(tool: dict[str, Any], left_out: Set[str]) -> dict[str, Any]:
    function = {name: value for name, value in tool["function"].items() if name != "strict" or name not in left_out}
    bounds = {} if "bounds" in left_out else {"array": ("maxItems", MAX_ITEMS), "string": ("maxLength", MAX_TEXT_CHARS)}
    return {"type": "function", "function": function | {"parameters": _adapt_schema(function["parameters"], bounds)}}


def _adapt_schema(schema: Any, bounds: Mapping[str, tuple[str, int]]) -> Any:
    """Return the schema without the keys that endpoints refuse; `bounds` has a limit for each type."""
    if isinstance(schema, list):
        return [_adapt_schema(item, bounds) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = bounds and {**bounds, "string": ("maxLength", MAX_INNER_CHARS)}
    adapted = {
        name: _adapt_schema(value, inner if name in ("items", "$defs") else bounds)
        for name, value in schema.items()
        if name not in _UNSENT or isinstance(value, dict)  # a property may be named so
    }
    name, number = bounds.get(str(adapted.get("type")), ("", 0))
    return {name: number} | adapted if name and not {"enum", "const"} & adapted.keys() else adapted


def _is_named(written: str, name: str) -> bool:
    """Return whether a name means a tool: `CodebaseFinding` comes as `functions.codebase_finding`."""
    return "".join(re.findall(r"[a-z0-9]", re.split(r"[.:/]", written)[-1].casefold())) == name.casefold()


def _take_written_calls(reply: AIMessage, prompt: str) -> AIMessage:
    """Return the reply with the calls that its text has as JSON, as `qwen2.5-coder` writes all of its own."""
    objects = [] if get_calls(reply) else find_objects(reply.text, prompt)
    calls = [call for value in reversed(objects) for call in _list_calls(value)]
    return reply.model_copy(update={"tool_calls": calls, "content": ""}) if calls else reply


def _list_calls(value: Mapping[str, Any]) -> list[ToolCall]:
    """Return the calls in an object: `{"name": ..., "arguments": {...}}`, also in `function` or `tool_calls`."""
    inside = value.get("tool_calls") or [value.get("function")]
    if objects := [one for one in inside if isinstance(one, dict)] if isinstance(inside, list) else []:
        return [call for one in objects for call in _list_calls(one)]
    name = value.get("name")
    args = _read_arguments(next((value[key] for key in ("arguments", "parameters") if value.get(key)), ""))
    if not isinstance(name, str) or not isinstance(args, dict):
        return []
    return [ToolCall(id="", name=name, args=args, type="tool_call")]


def _check_complete(reply: AIMessage) -> AIMessage:
    """Return the reply. Raises InvalidAnswer if it was cut, filtered or refused."""
    reason = reply.response_metadata.get("finish_reason")
    if reason == "length":
        raise InvalidAnswer(CUT_AT_LENGTH)
    if reason == "content_filter":
        raise InvalidAnswer("content filter")
    if reply.response_metadata.get("refused"):
        raise InvalidAnswer("refused by the model")
    return reply


def _read_answer(reply: AIMessage, schema: type[A], prompt: str) -> A:
    """Return the last answer in the reply's text, else in its calls. One that was cut counts as far as it goes.

    What `prompt` has is no answer: some models repeat its example.
    """
    if reply.response_metadata.get("finish_reason") != "length":
        _check_complete(reply)
    written = [*find_objects(reply.text, prompt), *(call["args"] for call in reply.tool_calls)]
    problems = list[str]()
    # Some models put the answer into another object.
    for value in (inner for outer in written for inner in (outer, *outer.values()) if isinstance(inner, dict)):
        try:
            return fit_answer(value, schema)
        except Misfit as error:
            problems.append(str(error))
        except RecursionError:
            problems.append("nested too deeply")
    _check_complete(reply)
    if not reply.text.strip() and not get_calls(reply):
        raise InvalidAnswer("empty answer")
    is_prose = not written and bool(reply.text.rpartition("</think>")[2].strip())
    problem = problems[0] if problems else "no JSON object"
    raise WrongFormat(f"answer does not fit {schema.__name__}: {problem}", is_prose=is_prose)
