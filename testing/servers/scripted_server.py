"""A real HTTP server on loopback that plays a model's endpoint or a search service from a script."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class ScriptedReply:
    """One HTTP answer; `body` is sent as JSON unless it is bytes, `cut` in half. `hang` seconds pass before it."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    drop: bool = False
    cut: bool = False


@dataclass(frozen=True)
class ReceivedRequest:
    """What was asked."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass
class ScriptedServer:
    """The running server: its address and what it was asked."""

    url: str
    requests: list[ReceivedRequest]


Script = Sequence[ScriptedReply] | Callable[[ReceivedRequest], ScriptedReply]


@contextmanager
def serve_script(script: Script) -> Iterator[ScriptedServer]:
    """Serve the script: its replies in order (the last one for ever), or what it makes of each request."""
    requests: list[ReceivedRequest] = []
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
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
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if reply.cut else data)
            self.close_connection = reply.cut

        def log_message(self, *_: Any) -> None:
            """Silence."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that went away is no error of the server."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield ScriptedServer(f"http://127.0.0.1:{server.server_port}", requests)
    finally:
        released.set()
        server.shutdown()
        server.server_close()


def chat_completion(content: str | None = None, **changes: Any) -> ScriptedReply:
    """A chat completion; `tool_calls`, `finish_reason`, `refusal`, `usage`, `cached` and `cut` change it."""
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


def error_reply(status: int, code: str | None = None, *, param: str | None = None, **headers: str) -> ScriptedReply:
    """An error as OpenAI words it."""
    error = {"message": "words from outside", "type": "error", "code": code, "param": param}
    return ScriptedReply({"error": error}, status, {name.replace("_", "-"): value for name, value in headers.items()})
