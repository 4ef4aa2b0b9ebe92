"""Records connections, processes and files of this process with Python's audit hook."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset("os.remove os.rename os.mkdir os.rmdir os.symlink os.link os.truncate os.chmod os.chown".split())
_RUNS = frozenset("os.exec os.spawn os.system os.startfile pty.spawn".split())


@dataclass
class AuditEvents:
    connected: list[str] = field(default_factory=list)
    """Addresses such as `127.0.0.1:8000`, and host names that were resolved."""
    started: list[list[str]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """Paths that were opened for writing, created, moved or removed."""
    opened: list[str] = field(default_factory=list)

    def record(self, event: str, values: tuple[Any, ...]) -> None:
        match event:
            case "socket.connect":
                self.connected.append(_address(values[1]))
            case "socket.getaddrinfo" | "socket.gethostbyname":
                self.connected.append(_text(values[0]))
            case "subprocess.Popen" | "os.posix_spawn":
                words = [_text(part) for part in values[1]]
                if self.started[-1:] != [words]:  # from Python 3.14 on, the first calls the second
                    self.started.append(words)
            case "open":
                self._record_open(values)
            case _ if event in _CHANGES:
                self.changed += [_text(value) for value in values if isinstance(value, str | bytes)]
            case _ if event in _RUNS:
                self.started.append([event])

    def _record_open(self, values: tuple[Any, ...]) -> None:
        path, mode, flags = values[0], values[1], values[2] or 0
        if isinstance(path, int):
            return
        self.opened.append(_text(path))
        if flags & _WRITES or (isinstance(mode, str) and set(mode) & set("wax+")):
            self.changed.append(_text(path))


_active: list[AuditEvents] = []
_hooked: list[bool] = []


def _hook(event: str, values: tuple[Any, ...]) -> None:
    for events in _active:
        events.record(event, values)


@contextmanager
def record_audit_events() -> Iterator[AuditEvents]:
    """Records all threads of this process until the block ends. The hook stays: Python cannot remove one."""
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    events = AuditEvents()
    _active.append(events)
    try:
        yield events
    finally:
        _active.remove(events)


def _address(address: Any) -> str:
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) else _text(address)


def _text(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else str(value)
