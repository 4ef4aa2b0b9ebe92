"""Processes forked from one that has imported the whole program: starting Python would take most of a test's time.

`tests/e2e/test_entrypoint.py` starts real ones, as the runner does.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["testing.runs.preload"])


class ForkedProcess:
    """A process that calls a function, with the methods of `subprocess.Popen`. Its session has its id."""

    def __init__(self, function: Callable[..., None], *arguments: Any) -> None:
        self._process = _context.Process(target=_lead_session, args=(function, *arguments))
        self._process.start()
        self._reading = threading.Lock()
        """The exit code can be read once, and a test may wait in several threads."""
        self.pid = self._process.pid or 0

    @property
    def returncode(self) -> int:
        """Exit code, or the negative number of the signal that ended it; 0 while it runs."""
        return self.poll() or 0

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        with self._reading:
            return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises TimeoutExpired."""
        if not wait([self._process.sentinel], timeout):
            raise subprocess.TimeoutExpired(str(self._process), timeout or 0.0)
        return self.returncode

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _lead_session(function: Callable[..., None], *arguments: Any) -> None:
    os.setsid()
    function(*arguments)


def run_action(environment: Mapping[str, str], log: Path) -> None:
    """Run the action as the entry point does, and end the process."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    from triage.action import main
    from triage.base.os_signals import SignalHandler

    os.environ.update({name: value for name, value in environment.items() if not name.startswith("INPUT_")})
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    signals = SignalHandler()
    signals.listen()
    with log.open("w", encoding="utf-8", errors="backslashreplace") as lines:
        code = main(environment, signals, lines)
    os._exit(code)


def run_command(words: Sequence[str], environment: Mapping[str, str], folder: Path, streams: Sequence[Path]) -> None:
    """Run the command line with these files as its three standard streams; a terminal is the session's own."""
    for stream, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which a suite that was started by `nohup` ignores
    sys.argv = ["bug-triage", *words]
    from triage import cli

    cli.main()
