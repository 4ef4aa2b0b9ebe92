"""One worker process: started, asked and stopped by the pool."""

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import triage
from triage.index.parse.extract import ExtractedFiles, SourceFile
from triage.index.parse.extract_worker import decode_response, encode_request, read_message, write_message
from triage.threads import call_when_abandoned

_PIPE_BYTES = 1 << 20
"""The default maximum of Linux. A request fits in, so that sending it does not wait for the worker."""
_START_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path.extend(sys.argv[2:-1]); "
    "from triage.index.parse.extract_worker import main; main()"
)
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
"""Environment variables that libraries need."""


class WorkerDied(Exception):
    """The worker ended or sent an invalid response."""


class WorkerProcess:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._on_abandon = ExitStack()
        self._progress = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the worker lives

    @property
    def stdout(self) -> IO[bytes]:
        """Becomes readable when a response comes or the worker ends."""
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout

    def send(self, files: Sequence[SourceFile]) -> None:
        """Send a request. Raises WorkerDied."""
        os.ftruncate(self._progress.fileno(), 0)
        try:
            if self._process is None:
                self._process = _start(self._progress.fileno())
                self._on_abandon.enter_context(call_when_abandoned(self._process.kill))
            assert self._process.stdin is not None
            write_message(self._process.stdin, encode_request(files))
        except OSError as error:
            raise WorkerDied from error

    def receive(self) -> ExtractedFiles:
        """Return the response to the last request. Raises WorkerDied."""
        try:
            return decode_response(read_message(self.stdout))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise WorkerDied from error

    def stop(self) -> int | None:
        """End the process and return the number of the file that it was reading, if any. Raises Abandoned."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        position = int.from_bytes(os.pread(self._progress.fileno(), 4, 0), "little")
        self._progress.close()
        self._on_abandon.close()
        return position - 1 if position else None


def _start(progress: int) -> "subprocess.Popen[bytes]":
    # -I: Python imports nothing from the current folder, which may hold the repository that is indexed. It also hides
    # packages installed for one user, so the folders of our libraries are passed on.
    home = Path(triage.__file__).resolve().parents[1]
    origins = [spec.origin for name in ("tree_sitter", "numpy") if (spec := find_spec(name)) and spec.origin]
    libraries = dict.fromkeys(str(Path(origin).parents[1]) for origin in origins)
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", "-B", "-c", _START_CODE, str(home), *libraries, str(progress)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        pass_fds=[progress],
        # None of our secrets. One thread is enough and takes a hundredth of the memory.
        env={name: os.environ[name] for name in _INHERITED if name in os.environ} | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdin is not None
    with suppress(OSError, AttributeError):  # The user has too many large pipes, or this is not Linux.
        fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return process
