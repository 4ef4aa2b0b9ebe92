"""A mail server with TLS on loopback that keeps the mails it gets."""

import base64
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import trustme


@dataclass
class MailServer:
    """Its address, and what it got."""

    url: str
    logins: list[str] = field(default_factory=list)
    """User and password as `user:password`."""
    envelopes: list[str] = field(default_factory=list)
    """`MAIL FROM` and `RCPT TO` lines."""
    mails: list[str] = field(default_factory=list)


class _Handler(socketserver.StreamRequestHandler):
    server: "_TlsServer"

    def handle(self) -> None:
        found = self.server.found
        self._say("220 ready")
        while line := self.rfile.readline().decode().strip():
            verb = line.partition(" ")[0].upper()
            if verb == "EHLO":
                self._say("250-localhost\r\n250 AUTH PLAIN")
            elif verb == "AUTH":
                text = line.split(" ")[2:] or [self._ask()]
                found.logins.append(":".join(base64.b64decode(text[0]).decode().split("\0")[1:]))
                self._say("235 ok")
            elif verb == "DATA":
                self._say("354 go on")
                found.mails.append(self._read_mail())
                self._say("250 stored")
            elif verb == "QUIT":
                self._say("221 bye")
                return
            else:
                found.envelopes.append(line)
                self._say("250 ok")

    def _ask(self) -> str:
        self._say("334 ")
        return self.rfile.readline().decode().strip()

    def _read_mail(self) -> str:
        lines = []
        while (line := self.rfile.readline().decode()) != ".\r\n":
            lines.append(line)
        return "".join(lines).replace("\r\n", "\n")

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class _TlsServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    found: MailServer

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.socket = context.wrap_socket(self.socket, server_side=True)


@contextmanager
def serve_mail(authority: trustme.CA) -> Iterator[MailServer]:
    """Serves with a certificate of the authority for `127.0.0.1`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with _TlsServer(context) as server:
        server.found = MailServer(f"smtps://127.0.0.1:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.found
        server.shutdown()
