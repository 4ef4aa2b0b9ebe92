"""TCP servers on loopback: a proxy that records requests, TLS, silent and slow servers, a redirect."""

import base64
import contextlib
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import trustme

BUFFER_SIZE = 65_536
LOGIN = "worker:p%40ss-w0rd%2F9"
"""User name and password as in a URL."""
PASSWORD = "p@ss-w0rd/9"
BASIC_AUTH = base64.b64encode(f"worker:{PASSWORD}".encode()).decode()


@contextmanager
def serve_tcp(answer: Callable[[socket.socket], None], host: str = "127.0.0.1") -> Iterator[int]:
    """Yields a port. Each connection is handled in its own thread."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family, backlog=64) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(target=guarded, args=(connection,), daemon=True).start()

        def guarded(connection: socket.socket) -> None:
            with connection, contextlib.suppress(OSError, ValueError):
                answer(connection)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield int(server.getsockname()[1])
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


def relay(one: socket.socket, other: socket.socket) -> None:
    """Copies bytes in both directions until one side closes."""
    pairs = {one: other, other: one}
    while True:
        waiting = [connection for connection in pairs if isinstance(connection, ssl.SSLSocket) and connection.pending()]
        for connection in waiting or select.select(list(pairs), [], [])[0]:
            piece = connection.recv(BUFFER_SIZE)
            if not piece:
                return
            pairs[connection].sendall(piece)


def read_head(connection: socket.socket) -> bytes:
    """Reads the head of a request or response, and what arrives with it."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(BUFFER_SIZE)
        if not piece:
            raise ConnectionError
        head += piece
    return head


@dataclass
class Proxy:
    """A proxy for `CONNECT` and for plain URLs, which maps hosts to ports on loopback."""

    login: str = ""
    """Base64 of the required user name and password; empty for none."""
    misbehavior: str = ""
    """`garbage` or `hang up`: how it fails; empty if it works."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Port on loopback by host, or by host and port; other hosts are contacted directly."""
    request_lines: list[str] = field(default_factory=list)
    """First line of each request."""
    port: int = 0

    @property
    def hosts(self) -> set[str]:
        """Hosts of all requests."""
        where = [one.split()[1] for one in self.request_lines]
        return {urlsplit(one if "://" in one else f"//{one}").hostname or "" for one in where}

    def answer(self, connection: socket.socket) -> None:
        head = read_head(connection)
        first, _, _ = head.partition(b"\r\n")
        self.request_lines.append(first.decode("latin-1"))
        if self.misbehavior:
            self._misbehave(connection)
        elif self.login and f"proxy-authorization: basic {self.login}".lower() not in head.decode("latin-1").lower():
            connection.sendall(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        else:
            self._forward(connection, head)

    def _misbehave(self, connection: socket.socket) -> None:
        if self.misbehavior == "garbage":
            connection.sendall(b"\x00\x01 220 mail.example ESMTP \xff\xfe ready\r\n\r\n")

    def _forward(self, connection: socket.socket, head: bytes) -> None:
        verb, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split()
        where = target if verb == "CONNECT" else target.removeprefix("http://").partition("/")[0]
        with self._connect(where if ":" in where.rpartition("]")[2] else f"{where}:80") as other:
            if verb == "CONNECT":
                connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = "/" + target.removeprefix("http://").partition("/")[2]
                other.sendall(head.replace(target.encode("latin-1"), path.encode("latin-1"), 1))
            relay(connection, other)

    def _connect(self, where: str) -> socket.socket:
        host, _, port = where.rpartition(":")
        port_on_loopback = self.ports.get(where) or self.ports.get(host.strip("[]"))
        return socket.create_connection(
            ("127.0.0.1", port_on_loopback) if port_on_loopback else (host.strip("[]"), int(port))
        )


@contextmanager
def serve_proxy(proxy: Proxy, tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """Serves the proxy, with TLS if there is a certificate."""

    def answer(connection: socket.socket) -> None:
        if tls is None:
            proxy.answer(connection)
        else:
            with tls.wrap_socket(connection, server_side=True) as sealed:
                proxy.answer(sealed)

    with serve_tcp(answer) as proxy.port:
        yield proxy


class CertificateAuthority:
    """A private certificate authority."""

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA(organization_name="A company")
        self.file = folder / "company.pem"
        folder.mkdir(parents=True, exist_ok=True)
        self._authority.cert_pem.write_to_path(self.file)

    def issue_certificate(self, *hosts: str, expired: bool = False) -> ssl.SSLContext:
        """Returns a context with a certificate for these host names."""
        now = datetime.now(UTC)
        until = now - timedelta(days=2) if expired else now + timedelta(days=9)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued = self._authority.issue_cert(*hosts, not_before=now - timedelta(days=9), not_after=until)
        issued.configure_cert(context)
        return context


@contextmanager
def serve_tls(port: int, certificate: ssl.SSLContext, host: str = "127.0.0.1") -> Iterator[int]:
    """Adds TLS in front of a server on loopback; yields the port."""

    def answer(connection: socket.socket) -> None:
        with (
            certificate.wrap_socket(connection, server_side=True) as plain,
            socket.create_connection(("127.0.0.1", port)) as inner,
        ):
            relay(plain, inner)

    with serve_tcp(answer, host) as own:
        yield own


@contextmanager
def serve_redirect(to: str, status: int = 307) -> Iterator[tuple[int, list[bytes]]]:
    """Redirects every request; yields the port and the requests."""
    asked: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        asked.append(read_head(connection))
        head = f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())

    with serve_tcp(answer) as port:
        yield port, asked


@contextmanager
def serve_silence() -> Iterator[int]:
    """Accepts every connection and sends nothing; yields the port."""
    released = threading.Event()

    def answer(connection: socket.socket) -> None:
        released.wait(90)

    with serve_tcp(answer) as port:
        try:
            yield port
        finally:
            released.set()


@contextmanager
def serve_slowly(seconds: float = 1.0) -> Iterator[int]:
    """Sends a response byte by byte without end; yields the port."""
    released = threading.Event()

    def answer(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        while not released.wait(seconds):
            connection.sendall(b" ")

    with serve_tcp(answer) as port:
        try:
            yield port
        finally:
            released.set()
