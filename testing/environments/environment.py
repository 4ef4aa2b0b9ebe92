"""A whole run on a machine that is odd in one way: how that is arranged, and what was wrong with the run."""

import json
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
from typing import Any

from testing.runs import sample_bug
from testing.runs.external_services import ExternalServices
from testing.runs.job import ENTRYPOINT, MOUNTS, Job, JobResult
from testing.servers.github_server import serve_github as github_serving
from testing.servers.scripted_server import serve_script as endpoint_serving

MAX_SECONDS = 60.0
"""Longer than any run takes here, however slow the machine."""
UNKNOWN_UID = 4242
"""A user that no machine knows."""
AS_UNKNOWN_USER = ("setpriv", f"--reuid={UNKNOWN_UID}", f"--regid={UNKNOWN_UID}", "--clear-groups")
LAST_LINES = 12
TRACEBACK_MARKERS = 'Traceback (most recent call last):\n  File "', "most recent call first"
"""How Python tells where something broke."""


@dataclass
class EnvironmentGitHub(ExternalServices):
    """GitHub, which may have its pages and its API at another address than in public."""

    pages: str = "https://github.com"
    api_path: str = ""
    """The path that all of the API lies under."""

    def answer(self, method: str, path: str, sent: dict[str, Any]) -> tuple[int, Any]:
        if not path.startswith(f"{self.api_path}/"):
            return 404, {"message": "nothing is here"}
        status, value = super().answer(method, path.removeprefix(self.api_path), sent)
        return status, json.loads(json.dumps(value).replace("https://github.com", self.pages))


@dataclass
class EnvironmentSetup:
    """A job, and the servers that it is to speak to."""

    job: Job
    server: EnvironmentGitHub
    services: str
    """Address of the model, the embeddings and the search."""

    @property
    def comments(self) -> list[str]:
        """What was written to the issue."""
        return [comment["body"] for comment in self.server.comments]


Check = Callable[[JobResult], dict[str, bool]]
"""Looks at a finished run: names of what might be wrong, and whether it is."""


def no_checks(done: JobResult) -> dict[str, bool]:
    """Nothing more to look at."""
    return {}


@contextmanager
def no_arrangement(setting: EnvironmentSetup) -> Iterator[Check]:
    """Nothing goes on beside the run."""
    yield no_checks


@dataclass(frozen=True)
class Environment:
    """What is odd, and what a run must do all the same."""

    variables: Mapping[str, str | None] = field(default_factory=dict)
    """Further ones, and with none those that are not there; `{temp}` and `{workspace}` are the job's folders."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    arrange: Callable[[EnvironmentSetup], AbstractContextManager[Check]] = no_arrangement
    """Arranges what must be there during the run."""
    command_prefix: tuple[str, ...] = ()
    """The command that starts the action's."""
    preamble: str = ""
    """What Python does before."""
    shell: str = 'exec "$@"'
    """How the action's command is run."""
    with_model: bool = False
    exit_code: int = 0
    status: str = "complete"
    """In the outputs; empty where they cannot be read."""
    comments: int = 1
    expected_text: str = ""
    """Words that must stand in the log, the summary or the comment."""
    summary: bool = True
    """Whether the job's page can be written."""
    root: bool = False
    """Only a superuser can make it so."""

    @property
    def is_possible(self) -> bool:
        """Whether it can be made on this machine."""
        if not shutil.which("bash") or (self.command_prefix and not shutil.which(self.command_prefix[0])):
            return False
        if self.command_prefix[-len(AS_UNKNOWN_USER) :] == AS_UNKNOWN_USER and not _python_is_everybodys():
            return False
        return not self.root or (os.getuid() == 0 and _may("unshare", "--mount", "true"))


def _may(*command: str) -> bool:
    return bool(shutil.which(command[0])) and not subprocess.run(command, capture_output=True, check=False).returncode


def _python_is_everybodys() -> bool:
    """It may lie in somebody's home, where nobody else comes."""
    return all(folder.stat().st_mode & 0o001 for folder in Path(sys.executable).resolve().parents)


def find_problems(environment: Environment, folder: Path) -> list[str]:
    """Run the action in it; what was wrong with the run, then its last lines. Empty when nothing was."""
    with _set_up(environment, folder) as setting, environment.arrange(setting) as check:
        began = time.monotonic()
        try:
            code, log = _run(environment, setting.job)
        except subprocess.TimeoutExpired as hung:
            return [f"no end within {MAX_SECONDS:.0f} seconds", *_last(hung.output or b"")]
        seconds = time.monotonic() - began
        setting.job.workspace.chmod(0o755)
        for kept in (setting.job.folder / "temp").glob("*.away"):
            kept.with_suffix("").rename(kept.with_suffix(".odd"))
            kept.rename(kept.with_suffix(""))
        done = setting.job.read_result(code, log)
        found = _found(environment, setting, done) | {f"{seconds:.0f} seconds": seconds > MAX_SECONDS / 2} | check(done)
        wrong = [what for what, is_so in found.items() if is_so]
        return [*wrong, *_last(log)] if wrong else []


def _last(log: bytes) -> list[str]:
    return log.decode(errors="replace").splitlines()[-LAST_LINES:]


@contextmanager
def _set_up(environment: Environment, folder: Path) -> Iterator[EnvironmentSetup]:
    server = EnvironmentGitHub(sample_bug.TITLE, sample_bug.BODY)
    with github_serving(server), endpoint_serving(server.reply) as endpoint:
        job = Job(folder, server)
        if environment.with_model:
            job.inputs |= {
                "engine": "model",
                "model-api-key": "sk-" + "y2" * 20,
                "model-base-url": f"{endpoint.url}/v1",
                "embedding-model": "text-embedding-3-small",
                "tavily-api-key": "tvly-" + "z3" * 16,
            }
            job.variables["TAVILY_BASE_URL"] = endpoint.url
        job.inputs |= environment.inputs
        sample_bug.write_plain_checkout(job.workspace)
        job.commit()
        yield EnvironmentSetup(job, server, endpoint.url)


def _found(environment: Environment, setting: EnvironmentSetup, done: JobResult) -> dict[str, bool]:
    everything = "\n".join([done.log, done.summary, *setting.comments])
    keys = [value for name, value in setting.job.inputs.items() if name.endswith(("token", "-key"))]
    spoken = "\n".join(line for line in everything.splitlines() if not line.startswith("::add-mask::"))
    status = done.outputs.get("status", "")
    return {
        f"exit code {done.exit_code}": done.exit_code != environment.exit_code,
        f"status {status}": status != environment.status,
        f"{len(setting.comments)} comments": len(setting.comments) != environment.comments,
        "a traceback": any(words in done.log for words in TRACEBACK_MARKERS),
        "no report anywhere": not (setting.comments or "ug triage" in done.summary or "Analysis" in done.log),
        "no summary": environment.summary and "ug triage" not in done.summary,
        f"not told: {environment.expected_text}": environment.expected_text not in everything,
        "a secret": any(key in spoken for key in keys),
    }


def _run(environment: Environment, job: Job) -> tuple[int, bytes]:
    seen_as = {name: str(job.folder / name) for name in MOUNTS}
    variables = job.environment(seen_as) | {"PATH": os.environ["PATH"]}
    for name, value in environment.variables.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = value.format(**seen_as)
    start = [str(ENTRYPOINT)]
    if environment.preamble:
        start = [
            "-c",
            f"{environment.preamble}\nimport runpy\nrunpy.run_path({str(ENTRYPOINT)!r}, run_name='__main__')",
        ]
    # Not `sh`: Debian's drops variables with a hyphen in their name.
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
