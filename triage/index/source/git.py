"""Git as a reader: no hook, filter, monitor, pager, prompt or network, whatever the repository's own config says.

What it says is bounded in bytes and seconds, what it needs in memory: a repository of a few kilobytes can make it talk
for ever (folders in folders that are the same ones), or unpack gigabytes (a small file stored as a change to a large).
"""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Self

from triage.index.source.tree import SHA1_HEX_DIGITS
from triage.threads import call_when_abandoned, raise_if_abandoned

_SAFE_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.checkStat=minimal",
    # A copy of what commits say, which nobody compares with them: it may be wrong.
    "core.commitGraph=false",
    "core.trustctime=false",
    "protocol.allow=never",
)
SCAN_SECONDS = 60.0
"""For one git command that goes through a whole repository."""
QUERY_SECONDS = 10.0
"""For one that answers a question."""
MAX_OUTPUT_BYTES = 1 << 20
_MAX_RECORD_BYTES = 1 << 20
_SHA1 = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"
_SHA256 = "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
MAX_MEMORY_BYTES = 1 << 30
"""Of git's own, beside the packs that it maps; a repository of a million files takes a third."""


class GitError(Exception):
    """Git is missing, took too long, said too much, or refused."""


class Git:
    """Runs git on one repository."""

    def __init__(self, folder: Path, *, bare: bool = False, trusted: bool = True, top: Path | None = None) -> None:
        """Take a repository.

        Args:
            folder: Where commands run: the work tree, a folder in it, or the bare repository.
            bare: The folder is the git directory itself.
            trusted: Read it although somebody else owns it, as in a container whose workspace belongs to the host.
            top: The work tree's own folder, whatever the repository's config says; none for a bare repository.
        """
        program = shutil.which("git")
        if program is None:
            raise GitError("git is not installed")
        self.folder = folder
        settings = [*_SAFE_SETTINGS, *([f"safe.directory={folder}"] if trusted else [])]
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
            **({"GIT_WORK_TREE": str(top)} if top else {}),
        }

    def disable_filters(self) -> Self:
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

    def run(self, *words: str, accept: Sequence[int] = (0,), seconds: float = QUERY_SECONDS) -> bytes:
        """Standard output of one command, at most `MAX_ANSWER_BYTES`.

        Raises:
            GitFailed: It ended otherwise than accepted, said more, or took longer than `seconds`.
        """
        with self._start(words, subprocess.DEVNULL, seconds) as process:
            output = _stdout(process).read(MAX_OUTPUT_BYTES + 1)
            if len(output) > MAX_OUTPUT_BYTES:
                raise GitError(f"git {words[0]} said too much")
            _check_exit(process, words[0], accept)
        return output

    def has_output(self, *words: str, seconds: float = SCAN_SECONDS) -> bool:
        """Whether one command has anything to say. Raises GitFailed as `run`."""
        with self._start(words, subprocess.DEVNULL, seconds) as process:
            anything = bool(_stdout(process).read(1))
            if not anything:
                _check_exit(process, words[0], (0,))
        return anything

    def iter_records(self, *words: str, seconds: float = SCAN_SECONDS) -> Iterator[bytes]:
        """What one command says, in pieces that end with a NUL; who has enough may stop.

        Raises:
            GitFailed: It did not come to its end, which is found out after the last piece.
        """
        with self._start(words, subprocess.DEVNULL, seconds) as process:
            rest = b""
            while piece := os.read(_stdout(process).fileno(), MAX_OUTPUT_BYTES):
                *whole, rest = (rest + piece).split(b"\0")
                yield from whole
                if len(rest) > _MAX_RECORD_BYTES:
                    raise GitError(f"git {words[0]} said too much")
            _check_exit(process, words[0], (0,))

    @contextmanager
    def stream(self, *words: str, lines: Sequence[str], seconds: float = SCAN_SECONDS) -> Iterator[IO[bytes]]:
        """Standard output of one command that reads `lines`; the command is killed after `seconds`.

        Raises:
            GitFailed: It could not be started.
        """
        with _write_input(lines) as asked, self._start(words, asked, seconds) as process:
            yield _stdout(process)

    @contextmanager
    def _make_environment(self) -> Iterator[Mapping[str, str]]:
        """The variables for one command."""
        yield self._environment

    @contextmanager
    def _start(
        self, words: Sequence[str], asked: int | IO[bytes], seconds: float
    ) -> Iterator["subprocess.Popen[bytes]"]:
        """One command, which ends with the block, and after so many seconds."""
        raise_if_abandoned()
        with ExitStack() as stack:
            environment = stack.enter_context(self._make_environment())
            try:
                process = subprocess.Popen(  # noqa: S603
                    [*self._command, *words],
                    env=environment,
                    stdin=asked,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    bufsize=1 << 20,
                )
            except (OSError, ValueError) as error:
                raise GitError(f"git {words[0]} did not run: {type(error).__name__}") from error
            _limit_memory(process)
            stack.enter_context(call_when_abandoned(process.kill))
            watchdog = threading.Timer(seconds, process.kill)
            watchdog.daemon = True  # The end of the process must not wait for it.
            watchdog.start()
            try:
                yield process
            finally:
                watchdog.cancel()
                process.kill()
                _stdout(process).close()
                process.wait()


class IsolatedGit(Git):
    """Git on a repository's objects alone, through a repository of our own: nothing that theirs sets up is read.

    That is not only safer. In a partial clone git stops at the first object that is missing, since it may not fetch it;
    here it is told as missing.
    """

    def __init__(self, home: Path, commit: str) -> None:
        """Take the objects.

        Args:
            home: The git directory that has them.
            commit: One's id, whose length tells which kind of ids they are.
        """
        super().__init__(home)
        self._config = _SHA1 if len(commit) == SHA1_HEX_DIGITS else _SHA256
        self._environment |= {"GIT_OBJECT_DIRECTORY": str(home / "objects"), "GIT_SHALLOW_FILE": str(home / "shallow")}

    @contextmanager
    def _make_environment(self) -> Iterator[Mapping[str, str]]:
        """With a repository of our own, which goes with the command."""
        with ExitStack() as stack:
            try:
                own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="triage-git-")))
                (own / "refs").mkdir()
                (own / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
                (own / "config").write_text(self._config, encoding="ascii")
            except OSError as error:
                raise GitError(f"there is no room for temporary files: {type(error).__name__}") from error
            yield {**self._environment, "GIT_DIR": str(own)}


@contextmanager
def _write_input(lines: Sequence[str]) -> Iterator[IO[bytes]]:
    """Lines to be read by a command. A file rather than a pipe: nobody has to write while we read."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.TemporaryFile())
            file.write("".join(f"{line}\n" for line in lines).encode())
            file.seek(0)
        except OSError as error:
            raise GitError(f"there is no room for temporary files: {type(error).__name__}") from error
        yield file


def _stdout(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _check_exit(process: "subprocess.Popen[bytes]", word: str, accept: Sequence[int]) -> None:
    """Wait for an end that was to be expected. Raises GitFailed for another."""
    code = process.wait()
    if code == -signal.SIGKILL:
        raise GitError(f"git {word} took too long")
    if code not in accept:
        raise GitError(f"git {word} ended with {code}")


def _limit_memory(process: "subprocess.Popen[bytes]") -> None:
    """Packs are mapped into memory and do not count. Nothing is done where the system has no such limit."""
    if hasattr(resource, "prlimit"):
        with suppress(OSError, ValueError):  # it is over already, or is held shorter by others
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
