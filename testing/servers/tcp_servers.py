"""What stands between a run and a server: a proxy that keeps a record, TLS, silence, a redirect. All on loopback."""

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
"""User name and password as an address has them."""
PASSWORD = "p@ss-w0rd/9"
BASIC_AUTH = base64.b64encode(f"worker:{PASSWORD}".encode()).decode()


@contextmanager
def serve_tcp(answer: Callable[[socket.socket], None], host: str = "127.0.0.1") -> Iterator[int]:
    """A port; each connection is handed over in a thread of its own."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family, backlog=64) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = server.accept()
                    threading.Thread(target=guarded, args=(line,), daemon=True).start()

        def guarded(line: socket.socket) -> None:
            with line, contextlib.suppress(OSError, ValueError):
                answer(line)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield int(server.getsockname()[1])
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


def relay(one: socket.socket, other: socket.socket) -> None:
    """Carry bytes both ways until one side has no more."""
    pairs = {one: other, other: one}
    while True:
        waiting = [line for line in pairs if isinstance(line, ssl.SSLSocket) and line.pending()]
        for line in waiting or select.select(list(pairs), [], [])[0]:
            piece = line.recv(BUFFER_SIZE)
            if not piece:
                return
            pairs[line].sendall(piece)


def relay_to(port: int) -> Callable[[socket.socket], None]:
    """Carry each connection on to a port."""

    def answer(line: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", port)) as inner:
            relay(line, inner)

    return answer


def read_head(line: socket.socket) -> bytes:
    """A request's or an answer's head, and what came with it."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = line.recv(BUFFER_SIZE)
        if not piece:
            raise ConnectionError
        head += piece
    return head


@dataclass
class Proxy:
    """A proxy for `CONNECT` and for plain addresses, which sends every host where it is told to."""

    login: str = ""
    """Base64 of user name and password that it wants; empty to let everybody in."""
    misbehavior: str = ""
    """`garbage`, `silence` or `hang up`: how it answers, if it does not do its work."""
    ports: Mapping[str, int] = field(default_factory=dict)
    """Port on loopback for a host, or for a host and a port; others are taken for what they are."""
    request_lines: list[str] = field(default_factory=list)
    """First line of each request."""
    released: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def hosts(self) -> set[str]:
        """Hosts that somebody wanted to get to."""
        where = [one.split()[1] for one in self.request_lines]
        return {urlsplit(one if "://" in one else f"//{one}").hostname or "" for one in where}

    def answer(self, line: socket.socket) -> None:
        head = read_head(line)
        first, _, _ = head.partition(b"\r\n")
        self.request_lines.append(first.decode("latin-1"))
        if self.misbehavior:
            self._misbehave(line)
        elif self.login and f"proxy-authorization: basic {self.login}".lower() not in head.decode("latin-1").lower():
            line.sendall(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        else:
            self._carry(line, head)

    def _misbehave(self, line: socket.socket) -> None:
        if self.misbehavior == "garbage":
            line.sendall(b"\x00\x01 220 mail.example ESMTP \xff\xfe ready\r\n\r\n")
        elif self.misbehavior == "silence":
            self.released.wait(60)

    def _carry(self, line: socket.socket, head: bytes) -> None:
        verb, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split()
        where = target if verb == "CONNECT" else target.removeprefix("http://").partition("/")[0]
        with self._connect(where if ":" in where.rpartition("]")[2] else f"{where}:80") as other:
            if verb == "CONNECT":
                line.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = "/" + target.removeprefix("http://").partition("/")[2]
                other.sendall(head.replace(target.encode("latin-1"), path.encode("latin-1"), 1))
            relay(line, other)

    def _connect(self, where: str) -> socket.socket:
        host, _, port = where.rpartition(":")
        told = self.ports.get(where) or self.ports.get(host.strip("[]"))
        return socket.create_connection(("127.0.0.1", told) if told else (host.strip("[]"), int(port)))


@contextmanager
def serve_proxy(proxy: Proxy, tls: ssl.SSLContext | None = None) -> Iterator[Proxy]:
    """Have it listen, behind TLS if there is a certificate."""

    def answer(line: socket.socket) -> None:
        if tls is None:
            proxy.answer(line)
        else:
            with tls.wrap_socket(line, server_side=True) as sealed:
                proxy.answer(sealed)

    with serve_tcp(answer) as proxy.port:
        try:
            yield proxy
        finally:
            proxy.released.set()


class CertificateAuthority:
    """A company's own authority of certificates."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._authority = trustme.CA(organization_name="A company")
        self.file = folder / "company.pem"
        folder.mkdir(parents=True, exist_ok=True)
        self._authority.cert_pem.write_to_path(self.file)

    def issue_certificate(self, *hosts: str, expired: bool = False) -> ssl.SSLContext:
        """For a server of these names."""
        now = datetime.now(UTC)
        until = now - timedelta(days=2) if expired else now + timedelta(days=9)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued = self._authority.issue_cert(*hosts, not_before=now - timedelta(days=9), not_after=until)
        issued.configure_cert(context)
        return context

    def issue_client_key(self, name: str) -> Path:
        """A file with a certificate for somebody who asks, and its key."""
        file = self._folder / f"{name}.pem"
        self._authority.issue_cert(name).private_key_and_cert_chain_pem.write_to_path(file)
        return file


@contextmanager
def serve_tls(port: int, certificate: ssl.SSLContext, host: str = "127.0.0.1") -> Iterator[int]:
    """TLS before a server on loopback; its port."""

    def answer(line: socket.socket) -> None:
        with (
            certificate.wrap_socket(line, server_side=True) as open_line,
            socket.create_connection(("127.0.0.1", port)) as inner,
        ):
            relay(open_line, inner)

    with serve_tcp(answer, host) as own:
        yield own


@contextmanager
def serve_redirect(to: str, status: int = 307) -> Iterator[tuple[int, list[bytes]]]:
    """A server that sends everybody elsewhere; its port, and what it was asked."""
    asked: list[bytes] = []

    def answer(line: socket.socket) -> None:
        asked.append(read_head(line))
        head = f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        line.sendall(head.encode())

    with serve_tcp(answer) as port:
        yield port, asked


@contextmanager
def serve_silence() -> Iterator[int]:
    """A port that takes every connection and says nothing."""
    released = threading.Event()

    def answer(line: socket.socket) -> None:
        released.wait(90)

    with serve_tcp(answer) as port:
        try:
            yield port
        finally:
            released.set()


@contextmanager
def serve_slowly(seconds: float = 1.0) -> Iterator[int]:
    """A server whose answer comes a byte at a time, for ever."""
    released = threading.Event()

    def answer(line: socket.socket) -> None:
        read_head(line)
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        while not released.wait(seconds):
            line.sendall(b" ")

    with serve_tcp(answer) as port:
        try:
            yield port
        finally:
            released.set()
