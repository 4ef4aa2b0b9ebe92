"""The action as the runner starts it: an event and inputs in; exit code, log, outputs and summary out."""

import contextlib
import io
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from testing.runner_grammar import parse_outputs
from testing.servers.github_api import SLUG
from triage.action import main

RunAction = Callable[[dict[str, str]], tuple[int, str]]
"""Runs the action with an environment. Returns the exit code and the log."""


@dataclass(frozen=True)
class JobResult:
    """Result of a run."""

    exit_code: int
    log: str
    outputs: dict[str, str]
    summary: str


def job_variables(
    api_url: str, event_name: str, files: Path | str, workspace: Path | str, **inputs: str
) -> dict[str, str]:
    """Returns the environment of a job. `files` is the folder of the event and of what the runner reads afterwards."""
    return {
        "GITHUB_API_URL": api_url,
        "GITHUB_EVENT_NAME": event_name,
        "GITHUB_EVENT_PATH": f"{files}/event.json",
        "GITHUB_OUTPUT": f"{files}/output",
        "GITHUB_REPOSITORY": SLUG,
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_STEP_SUMMARY": f"{files}/summary",
        "GITHUB_WORKSPACE": str(workspace),
        **{f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()},
    }


def run_here(variables: dict[str, str]) -> tuple[int, str]:
    """Runs the action in this process."""
    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        return main(variables), log.getvalue()


def run_on_event(files: Path, event: object, variables: dict[str, str], run_action: RunAction = run_here) -> JobResult:
    """Runs a job on this payload, with empty files."""
    (files / "event.json").write_text(json.dumps(event))
    for name in ("output", "summary"):
        (files / name).write_text("")
    code, log = run_action(variables)
    return read_result(files, code, log)


def read_result(files: Path, exit_code: int, log: str) -> JobResult:
    """Returns the result of a run from the files of the job."""
    return JobResult(
        exit_code,
        log,
        defaultdict(str, parse_outputs((files / "output").read_bytes())),
        (files / "summary").read_text("utf-8"),
    )
