"""A real small language model on loopback: llama.cpp's server with SmolLM2 (135 million parameters), from packages alone."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[2] / "requirements-try.txt"
START_SECONDS = 120
_SERVE = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], int(sys.argv[2])
params.model_alias, params.hostnames = {"small"}, ["127.0.0.1"]
params.n_ctx, params.n_parallel, params.n_predict = 8192, 1, 2000  # a small model may never stop
params.cpuparams.n_threads, params.use_jinja, params.warmup = 1, True, False
server = xllamacpp.Server(params)
threading.Event().wait()
"""


class NoSmallModel(Exception):
    """The packages cannot be installed here; the message says why."""


def install_small_model() -> Path:
    """Return the folder with the packages, 350 MB, which stay in the user's cache."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bug-triage-try"
    if not any(folder.rglob("*.gguf")):
        options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(REQUIREMENTS)]
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), *options]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoSmallModel(done.stderr.strip().rpartition("\n")[2])
    return folder


@contextmanager
def serve_small_model() -> Iterator[str]:
    """Serve it while the block runs; yields the base URL of its endpoint. Raises NoSmallModel."""
    folder = install_small_model()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    weights = next(folder.rglob("*.gguf"))
    command = [sys.executable, "-c", _SERVE, str(weights), str(port)]
    known = os.environ | {"PYTHONPATH": str(folder)}
    server = subprocess.Popen(command, env=known, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(server, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


def _wait(server: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise NoSmallModel("its server does not start")
