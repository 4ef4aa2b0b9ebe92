"""A job as GitHub's runner sets it up: folders, files, variables. Runs with this Python or in the image."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.checkouts.git_repositories import commit
from testing.runs.action_run import JobResult, job_variables, read_result
from testing.runs.forked_process import ForkedProcess, run_action
from testing.servers.github_api import JOB_TOKEN, GitHubApi

ROOT = Path(__file__).parents[2]
ENTRYPOINT = ROOT / "entrypoint.py"
MOUNTS = {"workspace": "/github/workspace", "temp": "/github/runner_temp", "home": "/github/home"}
"""Folders of the job, and their paths in the container."""


@dataclass
class Job:
    """The folders of one job, with a checkout of one file."""

    folder: Path
    github: GitHubApi
    inputs: dict[str, str] = field(
        default_factory=lambda: {"engine": "rules", "comment": "always", "github-token": JOB_TOKEN}
    )
    """With a comment in any case, so that a test can read what stands in it."""
    name: str = field(default_factory=lambda: f"triage-{uuid.uuid4().hex[:12]}")
    variables: dict[str, str] = field(default_factory=dict)
    """Variables of the step's `env:`."""

    def __post_init__(self) -> None:
        for name in MOUNTS:
            (self.folder / name).mkdir(parents=True)
        for name in ("output", "summary"):
            (self.folder / "temp" / name).touch()
        if self.github.issues:
            self.write_event()

    def write_event(self, payload: dict[str, Any] | None = None) -> None:
        """Writes the payload of the event; by default that the issue was opened, as GitHub shows it now."""
        text = json.dumps(payload or self.github.opened_event())
        (self.folder / "temp" / "event.json").write_text(text, encoding="utf-8")

    @property
    def log(self) -> Path:
        """Output of the last run."""
        return self.folder / "log"

    @property
    def workspace(self) -> Path:
        """The checkout."""
        return self.folder / "workspace"

    def commit(self) -> None:
        """Commits the files in the workspace."""
        commit(self.workspace)

    def environment(self, folders: dict[str, str]) -> dict[str, str]:
        """Returns the environment of the run, with the paths of the job's folders as the run sees them."""
        temp = folders["temp"]
        runner = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": "mona",
            "GITHUB_RUN_ID": "1",
            "HOME": folders["home"],
            "RUNNER_TEMP": temp,
        }
        known = job_variables(self.github.url, "issues", temp, folders["workspace"], **self.inputs)
        return runner | known | self.variables

    def run_here(self) -> JobResult:
        """Runs `entrypoint.py` with this Python in the workspace."""
        return self.wait(self.start_here())

    def start_here(self) -> "subprocess.Popen[bytes]":
        """Starts `entrypoint.py` as the image does, with signals blocked. Its session has the id of the process."""
        folders = {name: str(self.folder / name) for name in MOUNTS}
        command = [sys.executable, str(ENTRYPOINT)]
        environment = self.environment(folders) | {"PATH": os.environ["PATH"]}
        blocked = signal.pthread_sigmask(
            signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM)
        )  # The new process inherits the mask.
        try:
            with self.log.open("wb") as log:
                return subprocess.Popen(
                    command,
                    cwd=self.workspace,
                    env=environment,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def run_forked(self) -> JobResult:
        """Runs the action in a process that has imported it already: all but the entry point is as the runner has it."""
        return self.wait(self.start_forked())

    def start_forked(self) -> ForkedProcess:
        """Starts such a run."""
        self.log.touch()
        environment = self.environment({name: str(self.folder / name) for name in MOUNTS})
        return ForkedProcess(run_action, environment | {"PATH": os.environ["PATH"]}, self.log)

    def wait(self, running: "subprocess.Popen[bytes] | ForkedProcess", seconds: float = 120) -> JobResult:
        """Waits for the end and returns the result. If it takes too long, kills it and raises TimeoutExpired."""
        try:
            running.wait(seconds)
        finally:
            running.kill()
            running.wait()
        return self.read_result(running.returncode, self.log.read_bytes())

    def container_command(self, engine: str, image: str) -> list[str]:
        """Returns the command of the runner, but with the network of the host, where the servers listen."""
        command = [engine, "run", "--rm", "--network", "host", "--name", self.name, "--workdir", MOUNTS["workspace"]]
        for name, path in MOUNTS.items():
            command += ["-v", f"{self.folder / name}:{path}"]
        for key, value in self.environment(MOUNTS).items():
            command += ["-e", f"{key}={value}"]
        return [*command, image]

    def run_in_container(self, engine: str, image: str, seconds: float = 120) -> JobResult:
        """Runs the image."""
        done = subprocess.run(
            self.container_command(engine, image),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
        return self.read_result(done.returncode, done.stdout)

    def start_in_container(self, engine: str, image: str) -> "subprocess.Popen[bytes]":
        """Starts the image and returns the process of the container engine."""
        with self.log.open("wb") as log:
            return subprocess.Popen(self.container_command(engine, image), stdout=log, stderr=subprocess.STDOUT)

    def signal_container(self, engine: str, sent: signal.Signals, running: "subprocess.Popen[bytes]") -> None:
        """Sends a signal to the first process of the container as soon as it exists."""
        command = [engine, "kill", "--signal", sent.name, self.name]
        while running.poll() is None and subprocess.run(command, capture_output=True, check=False).returncode:
            time.sleep(0.01)

    def read_result(self, exit_code: int, log: bytes) -> JobResult:
        return read_result(self.folder / "temp", exit_code, log.decode(errors="replace"))
