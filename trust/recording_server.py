"""HTTP servers on loopback that record each request before they answer it."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from testing.servers.http_server import QuietHandler, serve_http
from testing.servers.scripted_server import ScriptedReply


@dataclass(frozen=True)
class RecordedRequest:
    server: str
    method: str
    target: str
    """Path and query as they were sent."""
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def body(self) -> Any:
        """The JSON of the request; None if it is not JSON."""
        try:
            return json.loads(self.content)
        except ValueError:
            return None

    @property
    def line(self) -> str:
        return f"{self.server} {self.method} {self.target[:120]}"


@contextmanager
def serve_recorded(
    name: str, asked: list[RecordedRequest], answer: Callable[[RecordedRequest], ScriptedReply]
) -> Iterator[str]:
    lock = threading.Lock()

    class Handler(QuietHandler):
        def _reply(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {key.lower(): value for key, value in self.headers.items()}
            request = RecordedRequest(name, self.command, self.path, headers, self.rfile.read(length))
            with lock:
                asked.append(request)
            reply = answer(request)
            content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for key, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _reply  # noqa: N815 - http.server's

    with serve_http(Handler) as url:
        yield url
