"""An HTTP server on loopback that replies from a script, as an endpoint for models or a search service."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from testing.servers.endless_body import EndlessBody
from testing.servers.http_server import QuietHandler, serve_http


@dataclass(frozen=True)
class ScriptedReply:
    """One HTTP response, after `hang` seconds. `body` is sent as JSON unless it is bytes; `cut` sends half of it."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    drop: bool = False
    cut: bool = False


@dataclass(frozen=True)
class ReceivedRequest:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class ScriptedServer:
    """A running server and its requests."""

    url: str
    requests: list[ReceivedRequest]


Script = Sequence[ScriptedReply] | Callable[[ReceivedRequest], ScriptedReply]


@contextmanager
def serve_script(script: Script) -> Iterator[ScriptedServer]:
    """Serves a list of replies in order, repeating the last one, or the result of a function of the request."""
    requests: list[ReceivedRequest] = []
    released = threading.Event()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            request = ReceivedRequest(
                self.path,
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(self.rfile.read(length) or b"{}"),
            )
            requests.append(request)
            reply = script(request) if callable(script) else script[min(len(requests), len(script)) - 1]
            released.wait(reply.delay_seconds)
            if reply.drop:
                self.connection.close()
                return
            if isinstance(reply.body, EndlessBody):
                reply.body.send(self, reply.status)
                return
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if reply.cut else data)
            self.close_connection = reply.cut

        do_GET = do_POST  # noqa: N815

    with serve_http(Handler) as url:
        try:
            yield ScriptedServer(url, requests)
        finally:
            released.set()


def chat_completion(content: str | None = None, **changes: Any) -> ScriptedReply:
    """Returns a chat completion. Options: `tool_calls`, `finish_reason`, `refusal`, `usage`, `cached`, `cut`."""
    message = {"role": "assistant", "content": content, "refusal": changes.get("refusal")}
    if "tool_calls" in changes:
        message["tool_calls"] = [
            {"id": f"call-{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i, (name, arguments) in enumerate(changes["tool_calls"])
        ]
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    if "cached" in changes:
        usage["prompt_tokens_details"] = {"cached_tokens": changes["cached"]}  # type: ignore[assignment]
    return ScriptedReply(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": changes.get("finish_reason", "stop")}],
            **({"usage": usage} if changes.get("usage", True) else {}),
        },
        cut=changes.get("cut", False),
    )


def to_response(reply: ScriptedReply, *thoughts: dict[str, Any]) -> ScriptedReply:
    """Returns a chat completion in the form of the Responses API, behind items of reasoning."""
    choice, usage = reply.body["choices"][0], reply.body.get("usage")
    text: dict[str, Any] = {"type": "output_text", "text": choice["message"]["content"] or "", "annotations": []}
    message = {"type": "message", "id": "msg-1", "role": "assistant", "status": "completed", "content": [text]}
    calls = [
        {"type": "function_call", "id": f"fc-{call['id']}", "call_id": call["id"], **call["function"]}
        for call in choice["message"].get("tool_calls", [])
    ]
    is_cut = choice["finish_reason"] == "length"
    body = {
        "id": "resp-1",
        "object": "response",
        "created_at": 0,
        "model": "m",
        "error": None,
        "tools": [],
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "output": [*thoughts, *([message] if text["text"] else []), *calls],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
    }
    if usage:
        counts = {"input": usage["prompt_tokens"], "output": usage["completion_tokens"], "total": usage["total_tokens"]}
        details = {"input_tokens_details": usage.get("prompt_tokens_details") or {"cached_tokens": 0}}
        details["output_tokens_details"] = usage.get("completion_tokens_details") or {"reasoning_tokens": 0}
        body["usage"] = {f"{name}_tokens": count for name, count in counts.items()} | details
    return ScriptedReply(body)


def stream_completion(reply: ScriptedReply, request: ReceivedRequest, *, knows_usage: bool = True) -> ScriptedReply:
    """Returns a chat completion as server-sent events, a word in each; as it is to a request that asks for no stream.

    The usage comes in the last event if the request asks for it by `stream_options` and the endpoint knows that option.
    """
    if not request.body.get("stream"):
        return reply
    head = {**reply.body, "object": "chat.completion.chunk"}
    usage = head.pop("usage", None)
    choice = head["choices"][0]
    message = choice["message"]
    calls = [{**call, "index": number} for number, call in enumerate(message.get("tool_calls", []))]
    words = re.findall(r"\S+\s*", message["content"] or "")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "tool_calls": calls} if calls else {}]
    deltas += [{"content": word} for word in words]
    events = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if knows_usage and request.body.get("stream_options", {}).get("include_usage"):
        events.append({**head, "choices": [], "usage": usage})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return ScriptedReply("".join([*lines, "data: [DONE]\n\n"]).encode(), headers={"content-type": "text/event-stream"})


def error_reply(status: int, code: str | None = None, *, param: str | None = None, **headers: str) -> ScriptedReply:
    """Returns an error in OpenAI's format."""
    error = {"message": "words from outside", "type": "error", "code": code, "param": param}
    return ScriptedReply({"error": error}, status, {name.replace("_", "-"): value for name, value in headers.items()})
