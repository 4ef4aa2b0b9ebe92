"""Runs git read-only: no hook, filter, monitor, pager, prompt or network, whatever the repository's config says.

Output and time are limited.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from triage.base.errors import GitError
from triage.base.threads import call_when_abandoned, raise_if_abandoned

_SAFE_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    # With these, `log` and `show` run a program, and a commit that is made asks for a key.
    "log.showSignature=false",
    "commit.gpgSign=false",
    *(f"{name}.program=/dev/null" for name in ("gpg", "gpg.x509", "gpg.ssh")),  # `archive` asks one, too
    "protocol.allow=never",
)
SCAN_SECONDS = 60.0
"""For a command that goes through a whole repository."""
QUERY_SECONDS = 10.0
"""For a command that answers a question, which may go through every commit."""
MAX_OUTPUT_BYTES = 1 << 20
"""Of an answer, or of one record. So much is read at once."""
_CONFIG = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"
"""Of a repository of our own, with SHA-1 object ids: GitHub has no others."""
# `https://host/owner/name.git`, `ssh://git@host/owner/name`, `git@host:owner/name.git`
_REMOTE = re.compile(
    r"(?:[a-z+]+://[^/\s]+/|[^/\s:]+:)(?:[^\s]+/)?(?P<slug>[\w.-]+/[\w.-]+?)(?:\.git)?/?", re.IGNORECASE | re.ASCII
)


class Git:
    def __init__(self, folder: Path, *, bare: bool = False, trusted: bool = True, top: Path | None = None) -> None:
        """Find git.

        Args:
            folder: Where commands run: the work tree, a folder in it, or the bare repository.
            bare: The folder is the git directory itself.
            trusted: Read it although somebody else owns it, as in a container whose workspace belongs to the host.
            top: The top folder of the work tree, whatever the repository's config says; None for a bare repository.

        Raises GitError if git is not installed.
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
            # Overrides `protocol.ext.allow` in the repository's config, which `protocol.allow` does not.
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            **({"GIT_WORK_TREE": str(top)} if top else {}),
        }

    def run(
        self,
        *args: str,
        accept: Sequence[int] = (0,),
        seconds: float = QUERY_SECONDS,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> bytes:
        """Return the output of a command.

        Raises GitError for an exit code that is none of `accept`, more than `max_bytes`, or after `seconds`.
        """
        with self._start(args, seconds) as process:
            output = _stdout(process).read(max_bytes + 1)
            if len(output) > max_bytes:
                raise GitError(f"git {args[0]} printed too much")
            _check_exit(process, args[0], accept)
        return output

    def ask(self, *args: str) -> str:
        """Return what git prints for a question; empty if it has no answer."""
        try:
            return self.run(*args).decode("utf-8", "replace")
        except GitError:
            return ""

    def iter_records(
        self, *args: str, seconds: float = SCAN_SECONDS, max_bytes: int = MAX_OUTPUT_BYTES
    ) -> Iterator[bytes]:
        """Yield the records of a command's output, each of which ends with a NUL and has at most `max_bytes`.

        Raises GitError if the command failed, which shows after the last record.
        """
        with self._start(args, seconds) as process:
            rest = b""
            while piece := os.read(_stdout(process).fileno(), MAX_OUTPUT_BYTES):
                *records, rest = (rest + piece).split(b"\0")
                yield from records
                if len(rest) > max_bytes:
                    raise GitError(f"git {args[0]} printed too much")
            _check_exit(process, args[0], (0,))

    @contextmanager
    def stream(
        self, *args: str, lines: Sequence[str] = (), seconds: float = SCAN_SECONDS, is_whole: bool = False
    ) -> Iterator[IO[bytes]]:
        """Open the output of a command that reads `lines`. It just ends when git fails, or `seconds` are over.

        With `is_whole` it is read to its end, and these raise GitError then.
        """
        with self._start(args, seconds, lines) as process:
            yield _stdout(process)
            if is_whole:
                _check_exit(process, args[0], (0,))

    @contextmanager
    def _make_environment(self) -> Iterator[Mapping[str, str]]:
        yield self._environment

    @contextmanager
    def _start(
        self, args: Sequence[str], seconds: float, lines: Sequence[str] = ()
    ) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a command that reads `lines`. It ends with the block, after `seconds`, or when nobody waits."""
        raise_if_abandoned()
        with ExitStack() as stack:
            try:
                process = subprocess.Popen(  # noqa: S603
                    [*self._command, *args],
                    env=stack.enter_context(self._make_environment()),
                    stdin=stack.enter_context(_write_input(lines)) if lines else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    bufsize=1 << 20,
                )
            except (OSError, ValueError) as error:
                raise GitError(f"git {args[0]} did not start: {type(error).__name__}") from error
            stack.enter_context(call_when_abandoned(process.kill))
            watchdog = threading.Timer(seconds, process.kill)
            watchdog.daemon = True  # The end of our own process does not wait for it.
            watchdog.start()
            try:
                yield process
            finally:
                watchdog.cancel()
                process.kill()
                _stdout(process).close()
                process.wait()


class IsolatedGit(Git):
    """Git on the objects of a repository only: none of its config is read, for commands run in a repository of our own.

    In a partial clone this reports a missing object as missing. Otherwise git would stop there, since it may not fetch.
    """

    def __init__(self, home: Path) -> None:
        """Take the objects of the git directory `home`."""
        super().__init__(home)
        self._environment |= {"GIT_OBJECT_DIRECTORY": str(home / "objects"), "GIT_SHALLOW_FILE": str(home / "shallow")}

    @contextmanager
    def _make_environment(self) -> Iterator[Mapping[str, str]]:
        """Make an empty repository for the command, which finds the objects by an environment variable."""
        with tempfile.TemporaryDirectory(prefix="triage-git-") as folder:
            (Path(folder) / "refs").mkdir()
            (Path(folder) / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
            (Path(folder) / "config").write_text(_CONFIG, encoding="ascii")
            yield {**self._environment, "GIT_DIR": folder}


def _write_input(lines: Sequence[str]) -> IO[bytes]:
    """Return the lines as a file. A pipe would need somebody to write while we read."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write("".join(f"{line}\n" for line in lines).encode())
    file.seek(0)
    return file


def _stdout(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _check_exit(process: "subprocess.Popen[bytes]", command: str, accept: Sequence[int]) -> None:
    """Wait until the process has ended. Raises GitError if it was killed, or its exit code is none of `accept`."""
    code = process.wait()
    if code == -signal.SIGKILL:
        raise GitError(f"git {command} took too long")
    if code not in accept:
        raise GitError(f"git {command} exited with {code}")


def read_origin(root: Path) -> str | None:
    """Return `owner/name` of the remote `origin`; None without git, a work tree, or a remote on a host."""
    try:
        output = Git(root).run("config", "--get", "remote.origin.url", accept=(0, 1))
    except GitError:
        return None
    found = _REMOTE.fullmatch(output.decode("utf-8", "replace").strip())
    return found["slug"] if found else None
