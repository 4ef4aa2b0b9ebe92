"""A model's reply, as it is read."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall

from triage.domain.value import Value
from triage.model.lenient_json import leave_out_quoted, read_first_object, replace_surrogates
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
