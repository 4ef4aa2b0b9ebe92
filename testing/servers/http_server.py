"""Runs an HTTP server on loopback in a thread."""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that logs nothing."""

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect, but reports errors of the server."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def serve_http(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Yields the URL of a server that listens until the block ends. To look for the end all the time costs more."""
    server = _Server(("127.0.0.1", 0), handler)
    ended = threading.Event()

    def listen() -> None:
        while not ended.is_set():
            server.handle_request()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        ended.set()
        socket.create_connection(("127.0.0.1", server.server_port)).close()  # wakes it
        thread.join()
        server.server_close()
