"""Runs a process with a limit of time and output, and ends everything that it has started."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from triage.base.threads import call_when_abandoned, raise_if_abandoned

_GRACE_SECONDS = 1.0
"""Between SIGTERM and SIGKILL, so that a test run can end the servers that it started."""
_READ_SECONDS = 1.0
"""For the rest of the output after the end. A process that left the group may hold the pipe open."""


class ProcessResult(NamedTuple):
    code: int
    """Of the process; negative for a signal."""
    output: bytes
    errors: bytes
    """Standard error; empty if it went to the output."""
    is_late: bool
    """It was ended because its time was up."""


def run_process(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    max_bytes: int,
    *,
    stdin: bytes = b"",
    has_errors_apart: bool = False,
    cleans_up: bool = False,
) -> ProcessResult:
    """Run a command in a process group of its own. Return how it ended, and the end of what it printed.

    Args:
        command: Program and arguments.
        folder: Where it runs.
        environment: Of the process, complete.
        seconds: After which all its processes are ended.
        max_bytes: How much of the end of each output is returned.
        stdin: What it reads.
        has_errors_apart: Standard error does not go to the output.
        cleans_up: In a run that is over it is asked to end, as git is, which removes its lock files then.

    Raises OSError if there is no such program.
    """
    raise_if_abandoned()
    with TemporaryFile() as input_file:  # and no pipe: nobody has to write while we read
        input_file.write(stdin)
        input_file.seek(0)
        process = subprocess.Popen(  # noqa: S603
            command,
            cwd=folder,
            env=environment,
            stdin=input_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if has_errors_apart else subprocess.STDOUT,
            start_new_session=True,
        )
    tails = [_OutputTail(pipe, max_bytes) for pipe in (process.stdout, process.stderr) if pipe is not None]
    is_late = False
    try:
        ending = signal.SIGTERM if cleans_up else signal.SIGKILL
        with call_when_abandoned(lambda: _signal_group(process, ending)):
            is_late = not _wait(process, seconds)
    finally:
        _end_group(process, politely=is_late)
    output, *errors = [tail.read() for tail in tails]
    return ProcessResult(process.returncode, output, b"".join(errors), is_late)


class _OutputTail:
    """Reads a pipe in a thread, so that no command waits for us, and remembers the end."""

    def __init__(self, pipe: IO[bytes], max_bytes: int) -> None:
        self._pipe = pipe
        self._max_bytes = max_bytes
        self._data = bytearray()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read_all, daemon=True, name="process output")
        self._thread.start()

    def _read_all(self) -> None:
        with self._pipe:
            while piece := os.read(self._pipe.fileno(), 65_536):
                with self._lock:
                    self._data += piece
                    del self._data[: -self._max_bytes]

    def read(self) -> bytes:
        self._thread.join(_READ_SECONDS)
        with self._lock:
            return bytes(self._data)


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Return whether the process has ended in time."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end_group(process: "subprocess.Popen[bytes]", *, politely: bool) -> None:
    """End what the command has started and not ended, also after a command that ended in time."""
    if politely:
        _signal_group(process, signal.SIGTERM)
        _wait(process, _GRACE_SECONDS)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # all have ended; macOS answers "not permitted"
        os.killpg(process.pid, number)
