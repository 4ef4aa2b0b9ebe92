"""A model's answer in a form that can be kept."""

from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall

from triage.adapters.llm.token_count import TokenCount
from triage.domain.value import Value
from triage.secrets.redactor import Redact


class RequestedTool(Value):
    """A tool call that a model asked for; its arguments as they came where they are no JSON object."""

    id: str
    name: str
    args: dict[str, Any] | str


class ModelReply(Value):
    """What a model answered, and what that took.

    A fresh answer is read in this form too, so that a kept one says the same.
    """

    model: str
    """Which answered: the fallback's name when it took over."""
    mode: str
    content: str | list[str | dict[str, Any]]
    tools: list[RequestedTool]
    finish_reason: str | None
    refused: bool
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    estimated: bool
    """The endpoint did not say what it billed."""

    @property
    def token_count(self) -> TokenCount:
        """What the call took."""
        return TokenCount(self.input_tokens, self.output_tokens, self.cached_tokens)

    def redact(self, screened: Redact) -> "ModelReply":
        """The same without secrets of ours."""
        tools = [tool.model_copy(update={"args": screened(tool.args)}) for tool in self.tools]
        return self.model_copy(update={"content": screened(self.content), "tools": tools})

    @property
    def message(self) -> AIMessage:
        """The answer as LangChain has it."""
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


def to_model_reply(message: AIMessage, model: str, mode: str, counted: TokenCount, *, estimated: bool) -> ModelReply:
    """The endpoint's answer. Raises ValueError for one that is no text and no tool call."""
    return ModelReply(
        model=model,
        mode=mode,
        content=message.content,
        tools=[
            RequestedTool(id=call["id"] or f"call-{number}", name=call["name"] or "", args=call["args"] or {})
            for number, call in enumerate([*message.tool_calls, *message.invalid_tool_calls])
        ],
        finish_reason=message.response_metadata.get("finish_reason"),
        refused=bool(message.additional_kwargs.get("refusal")),
        input_tokens=counted.input,
        output_tokens=counted.output,
        cached_tokens=counted.cached,
        estimated=estimated,
    )
