"""One worker process: started, asked and stopped by the pool."""

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import IO

from triage.base.threads import call_when_abandoned
from triage.code.parse.extract import ExtractedFiles, SourceFile
from triage.code.parse.extract_worker import decode_response, encode_request, read_message, write_message
from triage.code.parse.worker_command import ADD_LIBRARIES, build_worker_command, build_worker_environment

_START_CODE = f"{ADD_LIBRARIES}from triage.code.parse.extract_worker import main; main()"
_PIPE_BYTES = 1 << 20
"""The default maximum of Linux. A request fits in, so that sending it does not wait for the worker."""


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
    process = subprocess.Popen(  # noqa: S603
        build_worker_command(_START_CODE, str(progress)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        pass_fds=[progress],
        env=build_worker_environment(),
    )
    assert process.stdin is not None
    with suppress(OSError, AttributeError):  # The user has too many large pipes, or this is not Linux.
        fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return process
