"""Replies of well-known endpoints where they differ from each other: what each refuses, ignores and understands."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, to_response

Endpoint = Callable[[ReceivedRequest], ScriptedReply]
PROSE = "Green, I would say."


def openai_endpoint(
    answer: str, *, optional_reasoning: bool = True, thoughts: Sequence[dict[str, Any]] = ()
) -> Endpoint:
    """OpenAI's GPT-5.6 and later; without `optional_reasoning` like GPT-6 Astra, which has no effort `none`.

    From https://developers.openai.com/api/docs/guides/deployment-checklist, and for the messages
    https://github.com/BerriAI/litellm/pull/34569.
    """

    def reply(request: ReceivedRequest) -> ScriptedReply:
        body, is_response = request.body, request.path.endswith("/responses")
        effort = body.get("reasoning", {}).get("effort") or body.get("reasoning_effort", "medium")
        if effort == "none" and not optional_reasoning:
            return _refuse("reasoning_effort", "Unsupported value: 'reasoning_effort' does not support 'none'.")
        if "tools" in body and effort != "none" and not is_response:
            return _refuse(
                "reasoning_effort", "Function tools with reasoning_effort are not supported. Use /v1/responses."
            )
        if "temperature" in body and effort != "none":
            return _refuse("temperature", "Unsupported value: 'temperature' does not support 0 with this model.")
        if "max_tokens" in body:
            return _refuse("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model.")
        return to_response(_answer(body, answer), *thoughts) if is_response else _answer(body, answer)

    return reply


def anthropic_endpoint(answer: str) -> Endpoint:
    """It ignores `response_format`, `strict` and `reasoning_effort`: https://platform.claude.com/docs/en/api/openai-sdk"""

    def reply(request: ReceivedRequest) -> ScriptedReply:
        is_asked_for = "tools" in request.body or "JSON schema" in request.body["messages"][0]["content"]
        return _answer(request.body, answer) if is_asked_for else chat_completion(PROSE)

    return reply


def gemini_endpoint(answer: str) -> Endpoint:
    """It reads a part of JSON schema only, and puts its errors into a list."""

    def reply(request: ReceivedRequest) -> ScriptedReply:
        if "json_schema" in request.body.get("response_format", {}):
            text = 'Invalid JSON payload received. Unknown name "additionalProperties": Cannot find field.'
            return ScriptedReply([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}], 400)
        return _answer(request.body, answer)

    return reply


def _refuse(parameter: str, message: str) -> ScriptedReply:
    error = {"message": message, "type": "invalid_request_error", "param": parameter, "code": None}
    return ScriptedReply({"error": error}, 400)


def _answer(body: Mapping[str, Any], answer: str) -> ScriptedReply:
    if "tools" not in body:
        return chat_completion(answer)
    tool = body["tools"][0]
    name = tool.get("function", tool)["name"]
    return chat_completion(tool_calls=[(name, answer)], finish_reason="tool_calls")
