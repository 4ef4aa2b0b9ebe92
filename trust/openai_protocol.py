"""Responses in the protocol of OpenAI's chat completions and embeddings."""

import json
from collections.abc import Sequence
from typing import Any

from trust.recording_server import Response


def chat_completion(message: dict[str, Any], model: str = "m") -> Response:
    """Returns a response with the message of an assistant, by a model of this name."""
    reason = "tool_calls" if "tool_calls" in message else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    envelope = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model, "usage": usage}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return Response({**envelope, "choices": [choice]})


def tool_calls(calls: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
    """Returns tool calls from pairs of name and arguments."""
    return [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]


def embeddings(body: dict[str, Any]) -> Response:
    """Returns one vector for each text of the request."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [{"object": "embedding", "index": at, "embedding": [1.0, at + 1.0, 0.5]} for at in range(len(texts))]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Response({"object": "list", "data": data, "model": "m", "usage": usage})
