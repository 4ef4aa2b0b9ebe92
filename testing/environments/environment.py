"""Runs the whole action on a machine or network with one unusual property, and checks the result."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from testing.runs.action_run import JobResult
from testing.runs.external_services import serve_all
from testing.runs.job import ENTRYPOINT, MOUNTS, Job
from testing.servers.github_api import GitHubApi

MAX_SECONDS = 60.0
"""Longer than any run takes, even on a slow machine."""
UNKNOWN_UID = 4242
"""Id of a user that does not exist."""
AS_UNKNOWN_USER = ("setpriv", f"--reuid={UNKNOWN_UID}", f"--regid={UNKNOWN_UID}", "--clear-groups")
LAST_LINES = 12
TRACEBACK_MARKERS = 'Traceback (most recent call last):\n  File "', "most recent call first"
"""Parts of tracebacks."""


@dataclass
class EnvironmentSetup:
    """A job and its servers."""

    job: Job
    github: GitHubApi
    services: str
    """URL of the model, the embeddings and the search."""

    @property
    def comments(self) -> list[str]:
        """Texts of the comments on the issue."""
        return self.github.comment_bodies


Check = Callable[[JobResult], dict[str, bool]]
"""Checks a finished run: maps each possible problem to whether it occurred."""


def no_checks(done: JobResult) -> dict[str, bool]:
    """Checks nothing."""
    return {}


@contextmanager
def no_arrangement(setup: EnvironmentSetup) -> Iterator[Check]:
    """Arranges nothing."""
    yield no_checks


@dataclass(frozen=True)
class Environment:
    """An unusual property, and the expected result."""

    variables: Mapping[str, str | None] = field(default_factory=dict)
    """Variables to set, or to remove (None); `{temp}` and `{workspace}` stand for the job's folders."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    arrange: Callable[[EnvironmentSetup], AbstractContextManager[Check]] = no_arrangement
    """Sets up what the run needs, and yields a check of the result."""
    command_prefix: tuple[str, ...] = ()
    """Command before the action's command."""
    preamble: str = ""
    """Python code that runs first."""
    shell: str = 'exec "$@"'
    """Shell script that runs the action's command."""
    with_model: bool = False
    status: str = "complete"
    """Expected status output."""
    comments: int = 1
    expected_text: str = ""
    """Text that log, summary or comment must contain."""
    root: bool = False
    """Needs root."""

    @property
    def is_possible(self) -> bool:
        """Whether this machine can provide it."""
        if not shutil.which("bash") or (self.command_prefix and not shutil.which(self.command_prefix[0])):
            return False
        if self.command_prefix[-len(AS_UNKNOWN_USER) :] == AS_UNKNOWN_USER and not _can_everybody_run_python():
            return False
        return not self.root or (os.getuid() == 0 and _succeeds("unshare", "--mount", "true"))


def _succeeds(*command: str) -> bool:
    return bool(shutil.which(command[0])) and not subprocess.run(command, capture_output=True, check=False).returncode


def _can_everybody_run_python() -> bool:
    """Python may be in a home folder that other users cannot read."""
    return all(folder.stat().st_mode & 0o001 for folder in Path(sys.executable).resolve().parents)


def find_problems(environment: Environment, folder: Path) -> list[str]:
    """Runs the action in the environment. Returns the problems and the last log lines; empty without problems."""
    with _set_up(environment, folder) as setup, environment.arrange(setup) as check:
        started = time.monotonic()
        try:
            code, log = _run(environment, setup.job)
        except subprocess.TimeoutExpired as error:
            return [f"not finished within {MAX_SECONDS:.0f} seconds", *_last_lines(error.output or b"")]
        seconds = time.monotonic() - started
        setup.job.workspace.chmod(0o755)
        done = setup.job.read_result(code, log)
        found = (
            _check_result(environment, setup, done)
            | {f"{seconds:.0f} seconds": seconds > MAX_SECONDS / 2}
            | check(done)
        )
        problems = [problem for problem, is_present in found.items() if is_present]
        return [*problems, *_last_lines(log)] if problems else []


def _last_lines(log: bytes) -> list[str]:
    return log.decode(errors="replace").splitlines()[-LAST_LINES:]


@contextmanager
def _set_up(environment: Environment, folder: Path) -> Iterator[EnvironmentSetup]:
    with serve_all(folder, with_model=environment.with_model) as (services, job):
        job.inputs |= environment.inputs
        yield EnvironmentSetup(job, services.github, services.url)


def _check_result(environment: Environment, setup: EnvironmentSetup, done: JobResult) -> dict[str, bool]:
    published = "\n".join([done.log, done.summary, *setup.comments])
    keys = [value for name, value in setup.job.inputs.items() if name.endswith(("token", "-key"))]
    visible = "\n".join(line for line in published.splitlines() if not line.startswith("::add-mask::"))
    status = done.outputs.get("status", "")
    return {
        f"exit code {done.exit_code}": done.exit_code != 0,
        f"status {status}": status != environment.status,
        f"{len(setup.comments)} comments": len(setup.comments) != environment.comments,
        "a traceback": any(words in done.log for words in TRACEBACK_MARKERS),
        "no summary": "ug triage" not in done.summary,
        f"missing text: {environment.expected_text}": environment.expected_text not in published,
        "a secret": any(key in visible for key in keys),
    }


def _run(environment: Environment, job: Job) -> tuple[int, bytes]:
    folders = {name: str(job.folder / name) for name in MOUNTS}
    variables = job.environment(folders) | {"PATH": os.environ["PATH"]}
    for name, value in environment.variables.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value.format(**folders)
    start = [str(ENTRYPOINT)]
    if environment.preamble:
        start = [
            "-c",
            f"{environment.preamble}\nimport runpy\nrunpy.run_path({str(ENTRYPOINT)!r}, run_name='__main__')",
        ]
    # Debian's `sh` drops variables with a hyphen in their name.
    command = ["bash", "-c", environment.shell, "bash", *environment.command_prefix, sys.executable, "-u", *start]
    running = subprocess.Popen(
        command,
        cwd=job.workspace,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        log, _ = running.communicate(timeout=MAX_SECONDS)
    except BaseException:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        raise
    return running.returncode, log
