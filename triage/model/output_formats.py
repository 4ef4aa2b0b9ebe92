"""The formats of a model's answer: how each is requested, and how the reply is read.

A structured answer is requested with its JSON schema, and from an endpoint that does not support this with the schema
in the prompt. The reply is validated here instead of by the SDK, so that the tokens of an invalid one count. It is read
in the same way in every mode, because models answer with a function call when content is requested, and the reverse.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, SystemMessage, ToolCall
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from openai import pydantic_function_tool
from pydantic import BaseModel, ValidationError

from triage.base.errors import InvalidAnswer
from triage.domain.value import Value
from triage.model.fit_schema import Misfit, fit_answer, fold
from triage.model.lenient_json import (
    find_json_objects,
    leave_out_quoted,
    read_first_object,
    replace_surrogates,
    strip_thinking,
)
from triage.model.model_errors import CUT_AT_LENGTH, WrongFormat
from triage.safety.secrets.redactor import Redact


class RequestedTool(Value):
    """A tool call that a model requests. Arguments that are not a JSON object stay a string."""

    id: str
    name: str
    args: dict[str, Any] | str


class ModelReply(Value):
    """What a model replied."""

    content: str | list[str | dict[str, Any]]
    tools: list[RequestedTool]
    finish_reason: str | None
    refused: bool

    def redact(self, redact: Redact) -> "ModelReply":
        """Return the reply without our own secrets, and without lone surrogates, which no request can hold."""
        text = json.dumps(redact(self.model_dump()), ensure_ascii=False)
        return ModelReply.model_validate_json(replace_surrogates(text))

    def leave_out_quoted(self, prompt: Sequence[BaseMessage]) -> "ModelReply":
        """Return the reply without the objects that it quotes from the prompt."""
        asked = "\n".join(message.text for message in prompt if message.type != "ai")
        text = self.message.text
        own = leave_out_quoted(text, asked)
        return self if own == text else self.model_copy(update={"content": own})

    @property
    def message(self) -> AIMessage:
        return AIMessage(
            content=self.content,
            tool_calls=[
                ToolCall(id=tool.id, name=tool.name, args=tool.args, type="tool_call")
                for tool in self.tools
                if isinstance(tool.args, dict)
            ],
            invalid_tool_calls=[
                InvalidToolCall(id=tool.id, name=tool.name, args=tool.args, error=None, type="invalid_tool_call")
                for tool in self.tools
                if isinstance(tool.args, str)
            ],
        )


def to_model_reply(message: AIMessage) -> ModelReply:
    """Return a response of the endpoint as a reply. Raises ValueError if it is neither text nor a tool call."""
    return ModelReply(
        content=message.content,
        tools=[
            RequestedTool(
                id=call["id"] or f"call-{number}", name=call["name"] or "", args=_read_arguments(call["args"] or {})
            )
            for number, call in enumerate([*message.tool_calls, *message.invalid_tool_calls])
        ],
        finish_reason=message.response_metadata.get("finish_reason"),
        refused=bool(message.additional_kwargs.get("refusal")),
    )


def _read_arguments(args: dict[str, Any] | str) -> dict[str, Any] | str:
    """Return the object in unreadable arguments, such as those in a fence or with slips."""
    return args if isinstance(args, dict) else read_first_object(args) or args


A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")

CUT_MARK = "\u2026"
"""Behind an answer that was cut, so that half a number is no number."""


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
    schema = _build_function(answer)["function"]["parameters"]
    text = json.dumps(schema)
    read = lambda reply: _read_answer(reply, answer)  # noqa: E731
    return OutputFormat(
        "structured",
        (
            Mode(
                "json_schema",
                {
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {"name": answer.__name__, "strict": True, "schema": schema},
                    }
                },
                read,
                prompt_addition=text,
            ),
            Mode(
                "plain",
                {},
                read,
                preface=(SystemMessage(f"Answer with one JSON object of this JSON schema and nothing else:\n{text}"),),
            ),
        ),
    )


def _build_function(answer: type[BaseModel]) -> dict[str, Any]:
    tool: dict[str, Any] = _shorten_schema(dict(pydantic_function_tool(answer)))
    schema = tool["function"]["parameters"]
    for name in getattr(answer, "unasked", ()):
        schema["properties"].pop(name, None)
    schema["required"] = list(schema["properties"])
    used = json.dumps(schema["properties"]) + json.dumps(schema.get("$defs", {}))
    schema["$defs"] = {name: one for name, one in schema.pop("$defs", {}).items() if f'"#/$defs/{name}"' in used}
    return tool


def _shorten_schema(schema: Any) -> Any:
    # Pydantic repeats each field's name as its title: a fifth of what is sent. Not every endpoint takes defaults.
    if isinstance(schema, list):
        return [_shorten_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _shorten_schema(value)
        for name, value in schema.items()
        if name not in ("title", "default") or not isinstance(value, str)  # a property may be named so
    }


def tools_format(tools: Sequence[BaseTool]) -> OutputFormat[AIMessage]:
    specs = [_shorten_schema(convert_to_openai_tool(tool)) for tool in tools]
    return OutputFormat("tools", (Mode("tools", {"tools": specs}, _read_message, prompt_addition=json.dumps(specs)),))


def tools_or_answer_format(tools: Sequence[BaseTool], answer: type[A]) -> OutputFormat[AIMessage | A]:
    """Return the format of a turn that may call tools, or give the answer by a call of its own."""
    specs = [*(_shorten_schema(convert_to_openai_tool(tool)) for tool in tools), _build_function(answer)]
    known = {_fold_name(tool.name) for tool in tools}

    def read(reply: ModelReply) -> AIMessage | A:
        reply = _take_written_calls(reply)
        if not reply.tools and find_json_objects(reply.message.text):
            return _read_answer(reply, answer)
        calls = [tool for tool in reply.tools if tool.name == answer.__name__] or [
            tool for tool in reply.tools if _fold_name(tool.name) not in known
        ]
        if any(_fold_name(tool.name) == _fold_name(answer.__name__) for tool in calls):
            return _read_answer(reply.model_copy(update={"tools": calls}), answer)
        with suppress(InvalidAnswer):  # a call of a tool that does not exist may be the answer
            return _read_answer(reply.model_copy(update={"tools": calls, "content": ""}), answer)
        return _read_message(reply)

    return OutputFormat("tools", (Mode("tools", {"tools": specs}, read, prompt_addition=json.dumps(specs)),))


def _fold_name(name: str) -> str:
    """Names of tools come as `CodebaseFinding`, `codebase_finding` or `functions.CodebaseFinding`."""
    return fold(re.split(r"[.:/]", name)[-1])


def _read_message(reply: ModelReply) -> AIMessage:
    return _check_complete(_take_written_calls(reply)).message


def _take_written_calls(reply: ModelReply) -> ModelReply:
    """Return the reply with the calls that its text has as JSON, as `qwen2.5-coder` writes all of its own."""
    objects = [] if reply.tools else find_json_objects(reply.message.text)
    calls = [call for value in reversed(objects) for call in _list_calls(value)]
    return reply.model_copy(update={"tools": calls, "content": ""}) if calls else reply


def _list_calls(value: Mapping[str, Any]) -> list[RequestedTool]:
    """Return the calls in an object: `{"name": ..., "arguments": {...}}`, also in `function` or `tool_calls`."""
    inside = value.get("tool_calls") or [value.get("function")]
    if objects := [one for one in inside if isinstance(one, dict)] if isinstance(inside, list) else []:
        return [call for one in objects for call in _list_calls(one)]
    name = value.get("name")
    args = next((value[key] for key in ("arguments", "parameters", "args", "input") if key in value), None)
    args = read_first_object(args) if isinstance(args, str) else args
    is_call = isinstance(name, str) and isinstance(args, dict)
    return [RequestedTool(id="", name=name, args=args)] if is_call else []


def _check_complete(reply: ModelReply) -> ModelReply:
    if reply.finish_reason == "length":
        raise InvalidAnswer(CUT_AT_LENGTH)
    if reply.finish_reason == "content_filter":
        raise InvalidAnswer("content filter")
    if reply.refused:
        raise InvalidAnswer("refused by the model")
    return reply


def _require_any(texts: Sequence[str]) -> Sequence[str]:
    if not any(texts):
        raise InvalidAnswer("empty answer")
    return texts


def _read_answer(reply: ModelReply, schema: type[A]) -> A:
    """Return the last answer that fits in the reply's content, else in the arguments of its function calls.

    An answer that was cut is used as far as it goes.
    """
    is_cut = reply.finish_reason == "length"
    if not is_cut:
        _check_complete(reply)
    texts = _list_texts(reply)
    problems: list[str] = []
    is_form, fields = False, set(map(fold, schema.model_fields))
    for text in filter(None, texts):
        try:
            return schema.model_validate_json(text)
        except ValidationError:
            pass
        for value in find_json_objects(text + CUT_MARK if is_cut else text):
            is_form = is_form or not fields.isdisjoint(map(fold, value))
            try:
                return fit_answer(value, schema)
            except Misfit as error:
                problems.append(str(error))
            except RecursionError:
                problems.append("nested too deeply")
    _check_complete(reply)
    _require_any(texts)
    # Braces in prose about code are no form.
    prose = "" if is_form else strip_thinking(texts[0]).strip()
    problem = problems[0] if problems else "no JSON object"
    raise WrongFormat(f"answer does not fit {schema.__name__}: {problem}", prose)


def _list_texts(reply: ModelReply) -> list[str]:
    """Return the content, and the arguments of the calls as JSON."""
    return [reply.message.text.strip(), *(_dump_arguments(tool.args) for tool in reply.tools)]


def _dump_arguments(args: dict[str, Any] | str) -> str:
    return args if isinstance(args, str) else json.dumps(args)
