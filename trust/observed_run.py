"""Runs the whole action between servers on loopback and records all its effects."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from testing.runs.action_run import job_variables
from testing.servers.scripted_server import ScriptedReply
from triage.action import main
from trust import git_import
from trust.audit_hook import AuditEvents, record_audit_events
from trust.permissive_github import PermissiveGitHub
from trust.recording_server import RecordedRequest, serve_recorded

ENTRYPOINT = Path(__file__).parents[1] / "entrypoint.py"
TOKEN = "ghs_Qm7Vx2Lr9Tz4Kc8Wd1Yb6Ns3Hf5Jg0PaXe"
MODEL_KEY = "sk-Zt5Rv8Nq2Mw7Lx4Kd9Jc1Hb6Gf3DsAe0Uy"
SEARCH_KEY = "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"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", ""})

Answers = Callable[[RecordedRequest], ScriptedReply]


@dataclass
class Scenario:
    tracker: PermissiveGitHub
    files: Mapping[bytes, bytes]
    model: Answers
    search: Answers
    commits: list[tuple[bytes, bytes]] = field(default_factory=list)
    inputs: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    untracked: Mapping[str, str] = field(default_factory=dict)
    """Texts of files by path in the folder of the job: `workspace/…`, `temp/…`, `home/…`."""
    telemetry: bool = False


@dataclass
class ObservedRun:
    code: int
    log: str
    recorded_requests: list[RecordedRequest]
    ports: Mapping[str, str]
    outputs: bytes
    summary: str
    report: str
    """Content of `.triage/report.json`; empty without one."""
    unused_files: Mapping[str, bytes]
    """Content of the runner's files that no run writes."""
    new_files: list[str]
    """Files in the folder of the job that the run created."""
    events: AuditEvents
    changed: list[str]
    """Paths that were written, created, moved or removed, except temporary files that are gone."""
    tracker: PermissiveGitHub
    folder: Path

    @property
    def comment(self) -> str:
        """Current text of our comment; empty without one."""
        return str(self.tracker.ours[-1]["body"]) if self.tracker.ours else ""

    def requests(self, server: str) -> list[RecordedRequest]:
        return [request for request in self.recorded_requests if request.server == server]


def observe_run(
    make: Callable[[str], Scenario], agent: Callable[[Mapping[str, str]], int] = main, *, separate_process: bool = False
) -> ObservedRun:
    """Runs once and records the effects.

    Args:
        make: Returns the scenario, given the URL of a server that no run may contact.
        agent: The program that is run.
        separate_process: Runs the entry point in another process inside the workspace, as the runner does. Files and
            connections that it opens and processes that it starts are not recorded then.
    """
    requests: list[RecordedRequest] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="trust-")))
        trap = stack.enter_context(serve_recorded("trap", requests, lambda _: ScriptedReply("caught")))
        scenario = make(trap)
        answers: dict[str, Answers] = {
            "github": scenario.tracker.reply,
            "model": scenario.model,
            "search": scenario.search,
        }
        ports = {"trap": trap} | {
            name: stack.enter_context(serve_recorded(name, requests, answer))
            for name, answer in {**answers, "collector": lambda _: ScriptedReply({})}.items()
        }
        scenario.tracker.url = ports["github"]
        variables = _set_up_job(folder, scenario, ports)
        before = set(_files(folder))
        watch = AuditEvents() if separate_process else stack.enter_context(record_audit_events())
        code, log = _run_separately(variables) if separate_process else _run_here(agent, variables)
        return _collect(folder, before, code, log, requests, ports, watch, scenario.tracker)


def _run_here(agent: Callable[[Mapping[str, str]], int], variables: Mapping[str, str]) -> tuple[int, str]:
    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        return agent(variables), log.getvalue()


def _run_separately(variables: Mapping[str, str]) -> tuple[int, str]:
    command = [sys.executable, str(ENTRYPOINT)]
    done = subprocess.run(
        command,
        cwd=variables["GITHUB_WORKSPACE"],
        env={**variables, "PATH": os.environ["PATH"], "TMPDIR": str(Path(variables["HOME"]).parent / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


UNUSED_FILES = ("env", "path", "state")
"""Files of the runner that no run writes."""


def _set_up_job(folder: Path, scenario: Scenario, ports: Mapping[str, str]) -> dict[str, str]:
    for name in ("workspace", "temp", "home", "tmp"):
        (folder / name).mkdir()
    for name in ("output", "summary", *UNUSED_FILES):
        (folder / "temp" / name).touch()
    git_import.import_repository(folder / "workspace", scenario.files, scenario.commits)
    for path, text in scenario.untracked.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a", encoding="utf-8") as file:
            file.write(text)
    (folder / "temp" / "event.json").write_text(json.dumps(scenario.tracker.opened_event()), encoding="utf-8")
    return _variables(folder, scenario, ports)


def _variables(folder: Path, scenario: Scenario, ports: Mapping[str, str]) -> dict[str, str]:
    temp = folder / "temp"
    runner = {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTOR": "mona",
        "GITHUB_ENV": f"{temp}/env",
        "GITHUB_PATH": f"{temp}/path",
        "GITHUB_RUN_ID": "1",
        "GITHUB_STATE": f"{temp}/state",
        "HOME": f"{folder}/home",
        "RUNNER_TEMP": str(temp),
        "TAVILY_BASE_URL": ports["search"],
    }
    inputs = {
        "engine": "model",
        "comment": "always",
        "github-token": TOKEN,
        "model-api-key": MODEL_KEY,
        "model-base-url": f"{ports['model']}/v1",
        "tavily-api-key": SEARCH_KEY,
        "max-tokens": "100000000",
        "max-cost-usd": "1000",
        "timeout-seconds": "120",
        **scenario.inputs,
    }
    listener = {"OTEL_EXPORTER_OTLP_ENDPOINT": ports["collector"]} if scenario.telemetry else {}
    known = job_variables(ports["github"], "issues", temp, folder / "workspace", **inputs)
    return {**runner, **listener, **known, **scenario.variables}


def _collect(
    folder: Path,
    before: set[str],
    code: int,
    log: str,
    requests: list[RecordedRequest],
    ports: Mapping[str, str],
    watch: AuditEvents,
    tracker: PermissiveGitHub,
) -> ObservedRun:
    temp, report = folder / "temp", folder / "workspace" / ".triage" / "report.json"
    return ObservedRun(
        code=code,
        log=log,
        recorded_requests=list(requests),
        ports=ports,
        outputs=(temp / "output").read_bytes(),
        summary=(temp / "summary").read_text(encoding="utf-8"),
        report=report.read_text(encoding="utf-8") if report.exists() else "",
        unused_files={name: (temp / name).read_bytes() for name in UNUSED_FILES},
        new_files=sorted(set(_files(folder)) - before),
        events=watch,
        changed=[path for path in watch.changed if not _is_gone(path)],
        tracker=tracker,
        folder=folder,
    )


def _is_gone(path: str) -> bool:
    folder = gettempdir()
    return path == folder or (path.startswith(f"{folder}/") and not Path(path).exists())


def _files(folder: Path) -> Iterator[str]:
    yield from (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def list_strings(value: Any) -> Iterator[str]:
    """Yields every string in a JSON value, including names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield str(name)
            yield from list_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from list_strings(item)
