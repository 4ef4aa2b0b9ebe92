"""Git as a reader: no hook, filter, monitor, pager, prompt or network, whatever the repository's own config says."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

from triage.threads import ended_when_abandoned, stop_if_abandoned

_QUIET = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.checkStat=minimal",
    "core.trustctime=false",
    "protocol.allow=never",
)
SECONDS = 60.0
"""For one git command."""


class GitFailed(Exception):
    """Git is missing, took too long, or refused."""


class Git:
    """Runs git on one repository."""

    def __init__(self, folder: Path, *, bare: bool = False, trusted: bool = True) -> None:
        """Take a repository.

        Args:
            folder: Where commands run: the work tree, a folder in it, or the bare repository.
            bare: The folder is the git directory itself.
            trusted: Read it although somebody else owns it, as in a container whose workspace belongs to the host.
        """
        program = shutil.which("git")
        if program is None:
            raise GitFailed("git is not installed")
        settings = [*_QUIET, *([f"safe.directory={folder}"] if trusted else [])]
        self._command = [program, "--no-pager", "--no-optional-locks", "-C", str(folder)]
        self._command += [word for setting in settings for word in ("-c", setting)]
        self._command += ["--git-dir=."] if bare else []
        self._environment = {
            "PATH": os.path.dirname(program),  # noqa: PTH120
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            # Wins over `protocol.ext.allow` in the repository's config, which `protocol.allow` does not.
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ATTR_NOSYSTEM": "1",
        }

    def without_filters(self) -> Self:
        """Switch off the content filters that the repository's config names: they are programs."""
        listed = self.run("config", "--null", "--name-only", "--get-regexp", r"^filter\.", accept=(0, 1))
        drivers = {name.rpartition(".")[0] for name in listed.decode("utf-8", "surrogateescape").split("\0") if name}
        off = [
            (f"{driver}.{key}", value)
            for driver in sorted(drivers)
            for key, value in (("clean", ""), ("process", ""), ("required", "false"))
        ]
        self._environment["GIT_CONFIG_COUNT"] = str(len(off))
        for number, (key, value) in enumerate(off):
            self._environment[f"GIT_CONFIG_KEY_{number}"] = key
            self._environment[f"GIT_CONFIG_VALUE_{number}"] = value
        return self

    def run(self, *words: str, accept: Sequence[int] = (0,), seconds: float = SECONDS) -> bytes:
        """Standard output of one command.

        Raises:
            GitFailed: It ended otherwise than accepted, or took longer than `seconds`.
        """
        try:
            with self._started(words, subprocess.DEVNULL) as process:
                output = process.communicate(timeout=seconds)[0]
        except (subprocess.TimeoutExpired, ValueError) as error:
            raise GitFailed(f"git {words[0]} did not run: {type(error).__name__}") from error
        if process.returncode not in accept:
            raise GitFailed(f"git {words[0]} ended with {process.returncode}")
        return output

    @contextmanager
    def stream(self, *words: str, lines: Sequence[str], seconds: float = SECONDS) -> Iterator[IO[bytes]]:
        """Standard output of one command that reads `lines`; the command is killed after `seconds`.

        Raises:
            GitFailed: It could not be started.
        """
        with tempfile.TemporaryFile() as asked:
            # A file rather than a pipe: nobody has to write while we read.
            asked.write("".join(f"{line}\n" for line in lines).encode())
            asked.seek(0)
            with self._started(words, asked) as process:
                watchdog = threading.Timer(seconds, process.kill)
                watchdog.daemon = True  # The end of the process must not wait for it.
                watchdog.start()
                try:
                    assert process.stdout is not None
                    yield process.stdout
                finally:
                    watchdog.cancel()

    @contextmanager
    def _started(self, words: Sequence[str], asked: int | IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
        """One command, which ends with the block."""
        stop_if_abandoned()
        try:
            process = subprocess.Popen(  # noqa: S603
                [*self._command, *words],
                env=self._environment,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=1 << 20,
            )
        except (OSError, ValueError) as error:
            raise GitFailed(f"git {words[0]} did not run: {type(error).__name__}") from error
        with ended_when_abandoned(process.kill):
            try:
                yield process
            finally:
                process.kill()
                process.communicate()
