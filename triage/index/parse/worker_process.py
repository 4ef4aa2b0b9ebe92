"""One worker process: how it is started, asked, heard and ended."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import triage
from triage.index.parse.extract import ExtractedFiles, SourceFile
from triage.index.parse.worker_protocol import InvalidResponse, decode_response, encode_request
from triage.threads import call_when_abandoned

_PIPE_BYTES = 1 << 20
"""The most that Linux gives to everybody: so much is handed over before somebody has to wait for the other."""
_MAX_ANSWER = 1 << 28
"""Bytes; a batch of 512 KB makes a hundredth of it."""
_NOBODY = 0xFFFFFFFF
_START_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path.extend(sys.argv[2:-1]); "
    "from triage.index.parse.extract_worker import main; main()"
)


class WorkerDied(Exception):
    """The worker ended, does not answer, or answers nonsense."""


class WorkerProcess:
    """A worker, started when it is first asked."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = ExitStack()
        self._progress = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the worker lives
        self._note_nobody()
        self._heard = bytearray()
        self._size = -1
        """Bytes of the answer; -1 before that is known."""

    @property
    def stdout(self) -> IO[bytes]:
        """Where its answers come from."""
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout

    def send(self, sources: Sequence[SourceFile]) -> None:
        """Hand files over. Raises Lost."""
        self._note_nobody()
        try:
            process = self._process or self._start()
            assert process.stdin is not None
            process.stdin.write(encode_request(sources))
            process.stdin.flush()
        except OSError as error:
            raise WorkerDied from error

    def _start(self) -> "subprocess.Popen[bytes]":
        self._process = _started(self._progress.fileno())
        self._ending.enter_context(call_when_abandoned(self._process.kill))
        return self._process

    def receive(self) -> ExtractedFiles | None:
        """What came, once it is whole. To be called when there is something to read. Raises Lost."""
        piece = os.read(self.stdout.fileno(), _PIPE_BYTES)
        if not piece:
            raise WorkerDied
        self._heard += piece
        try:
            if self._size < 0 and (end := self._heard.find(b"\n")) >= 0:
                self._size = int(self._heard[:end])
                del self._heard[: end + 1]
            if self._size > _MAX_ANSWER or len(self._heard) > max(self._size, 0) + _PIPE_BYTES:
                raise WorkerDied
            if len(self._heard) < self._size or self._size < 0:
                return None
            extract = decode_response(bytes(self._heard))
        except (ValueError, InvalidResponse) as error:
            raise WorkerDied from error
        self._heard.clear()
        self._size = -1
        return extract

    def stop(self) -> int | None:
        """End the process, if there is one; the number of the file that it was at. Raises Abandoned."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        number = int.from_bytes(os.pread(self._progress.fileno(), 4, 0), "little")
        self._progress.close()
        self._ending.close()
        return None if number == _NOBODY else number

    def _note_nobody(self) -> None:
        os.pwrite(self._progress.fileno(), _NOBODY.to_bytes(4, "little"), 0)


def count_processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_INHERITED = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
"""Where the machine keeps its libraries."""


def _started(progress: int) -> "subprocess.Popen[bytes]":
    home = Path(triage.__file__).resolve().parents[1]
    # -I: nothing from the folder we are in, which may hold the very repository that is read. It also hides packages
    # that were installed for one user only, so the places of the libraries are named.
    found = [spec.origin for name in ("tree_sitter", "numpy") if (spec := find_spec(name)) and spec.origin]
    places = dict.fromkeys(str(Path(origin).parents[1]) for origin in found)
    command = [sys.executable, "-I", "-B", "-c", _START_CODE, str(home), *places, str(progress)]
    process = subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        pass_fds=[progress],
        # No key of ours. One thread is enough, and a hundred times smaller.
        env={name: os.environ[name] for name in _INHERITED if name in os.environ} | {"OPENBLAS_NUM_THREADS": "1"},
    )
    _widen(process)
    return process


def _widen(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
            try:
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            except OSError:
                return  # The user has many large pipes open already: it goes on with small ones.
