"""Runs a command of the project: in a shell, with a timeout, without input, and ends everything that it started."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from triage.base.errors import BadInput
from triage.base.threads import call_when_abandoned, raise_if_abandoned
from triage.fix.fix_ports import CheckResult
from triage.fix.local.failed_tests import list_failed_tests
from triage.fix.local.git_commands import remove_repository_variables
from triage.safety.clean_text import clean_text

MAX_OUTPUT_CHARS = 8_000
_MAX_OUTPUT_BYTES = 4 * MAX_OUTPUT_CHARS + 32_768
"""Colours take some of it."""
_CHUNK_BYTES = 65_536
_GRACE_SECONDS = 1.0
"""Between SIGTERM and SIGKILL, so that a test run can end the servers that it started."""
_READ_SECONDS = 1.0
"""For the rest of the output after the end. A process that left the group may hold the pipe open."""
_CANNOT_RUN = {126: "is not executable", 127: "was not found"}
"""Exit codes of shells. They say something about the command and nothing about the patch."""
_PYTHON_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


def run_command(command: str, folder: Path, environment: Mapping[str, str], seconds: float) -> CheckResult:
    """Run a command line in the user's shell. Return how it ended, and the end of what it printed.

    Args:
        command: As the user would type it.
        folder: Where it runs. In a Python project it comes first on PYTHONPATH, before packages that are installed
            in editable mode.
        environment: Of the command.
        seconds: After which the command and all processes that it started are ended.

    Raises:
        BadInput: The shell says that there is no such command.
    """
    raise_if_abandoned()
    process = subprocess.Popen(  # noqa: S603
        [_find_shell(environment), "-c", command],
        cwd=folder,
        env=_prepare_environment(environment, folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    tail = _OutputTail(process.stdout)
    is_late = False
    try:
        with call_when_abandoned(lambda: _signal_group(process, signal.SIGKILL)):
            is_late = not _wait(process, seconds)
    finally:
        _end_group(process, politely=is_late)
    output = tail.read()
    if is_late:
        text = _cut_start(f"{output}\n[stopped after {seconds:g} seconds]")
        return CheckResult(is_ok=False, output=text)  # what was not run may fail as well
    if process.returncode in _CANNOT_RUN:
        raise BadInput(f"The check's command {_CANNOT_RUN[process.returncode]}. Try it yourself in the checkout.")
    is_ok = process.returncode == 0
    return CheckResult(is_ok=is_ok, output=_cut_start(output), failed=[] if is_ok else list_failed_tests(output))


class _OutputTail:
    """Reads a pipe in a thread, so that no command waits for us, and remembers the end."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._data = bytearray()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read_all, daemon=True, name="check output")
        self._thread.start()

    def _read_all(self) -> None:
        with self._pipe:
            while piece := os.read(self._pipe.fileno(), _CHUNK_BYTES):
                with self._lock:
                    self._data += piece
                    del self._data[:-_MAX_OUTPUT_BYTES]

    def read(self) -> str:
        self._thread.join(_READ_SECONDS)
        with self._lock:
            return clean_text(self._data.decode("utf-8", "replace")).strip()


def _prepare_environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    # Without a virtual environment pip would change the user's Python, of which the check has no copy.
    prepared = {"PIP_REQUIRE_VIRTUALENV": "1", **remove_repository_variables(environment)}
    if any((folder / name).is_file() for name in _PYTHON_FILES):
        inherited = prepared.get("PYTHONPATH")
        source = folder / "src"
        paths = [*([str(source)] if source.is_dir() else []), str(folder), *([inherited] if inherited else [])]
        prepared["PYTHONPATH"] = os.pathsep.join(paths)
    return prepared


def _find_shell(environment: Mapping[str, str]) -> str:
    shell = environment.get("SHELL", "")
    return shell if os.access(shell, os.X_OK) else "/bin/sh"


def _wait(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
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


def _cut_start(text: str) -> str:
    return text if len(text) <= MAX_OUTPUT_CHARS else "…" + text[1 - MAX_OUTPUT_CHARS :]
