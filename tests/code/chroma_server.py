"""A real Chroma server on loopback."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triage.code.vectors.chroma_connection import StoreFailed, connect_to_chroma

SERVE = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def run_chroma_server(folder: Path) -> Iterator[str]:
    """The server that chromadb's wheel carries, in a process of its own."""
    port = free_port()
    words = ["run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not is_running(f"http://127.0.0.1:{port}"):
            assert process.poll() is None
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def is_running(url: str) -> bool:
    try:
        connect_to_chroma(url)
    except StoreFailed:
        return False
    return True
