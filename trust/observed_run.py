"""One whole run of the action between servers on loopback, and everything that was seen of it."""

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

from triage.action import main
from trust import git_import
from trust.audit_hook import AuditEvents, record_audit_events
from trust.permissive_github import SLUG, PermissiveGitHub
from trust.recording_server import RecordedRequest, Response, serve_recorded

ENTRYPOINT = Path(__file__).parents[1] / "entrypoint.py"
TOKEN = "ghs_Qm7Vx2Lr9Tz4Kc8Wd1Yb6Ns3Hf5Jg0PaXe"
MODEL_KEY = "sk-Zt5Rv8Nq2Mw7Lx4Kd9Jc1Hb6Gf3DsAe0Uy"
SEARCH_KEY = "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"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", ""})

Answers = Callable[[RecordedRequest], Response]


@dataclass
class Scenario:
    """What a run meets."""

    tracker: PermissiveGitHub
    files: Mapping[bytes, bytes]
    model: Answers
    search: Answers
    commits: list[tuple[bytes, bytes]] = field(default_factory=list)
    inputs: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    untracked: Mapping[str, str] = field(default_factory=dict)
    """Texts by path below the job's folder: `workspace/…`, `temp/…`, `home/…`."""
    telemetry: bool = False


@dataclass
class ObservedRun:
    """What was seen of a run."""

    code: int
    log: str
    recorded_requests: list[RecordedRequest]
    ports: Mapping[str, str]
    """Address of each server, by name."""
    outputs: bytes
    summary: str
    report: str
    """What `.triage/report.json` holds; empty when there is none."""
    cache_files: Mapping[str, str]
    """Text of each file below `.triage/cache`."""
    forbidden: Mapping[str, bytes]
    """What stands in files of the runner that no run writes."""
    new_files: list[str]
    """Files below the job's folder that were not there before."""
    events: AuditEvents
    changed: list[str]
    """Paths that were written, made, moved or removed, but for temporary files that are gone."""
    tracker: PermissiveGitHub
    folder: Path

    @property
    def comment(self) -> str:
        """The last text of our comment; empty when there is none."""
        return str(self.tracker.ours[-1]["body"]) if self.tracker.ours else ""

    def requests(self, server: str) -> list[RecordedRequest]:
        """Those that one server got."""
        return [request for request in self.recorded_requests if request.server == server]


def observe_run(
    make: Callable[[str], Scenario], agent: Callable[[Mapping[str, str]], int] = main, *, apart: bool = False
) -> ObservedRun:
    """One run, watched.

    Args:
        make: Of the scene; is told the address of a server that nobody may speak to.
        agent: What is run.
        apart: Run the action's entry point in a process of its own instead, inside of the workspace, as the runner
            does. Its servers, files and log tell of it; what it opens and starts is not seen.
    """
    asked: list[RecordedRequest] = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="trust-")))
        trap = stack.enter_context(serve_recorded("trap", asked, lambda _: Response("caught")))
        scene = make(trap)
        answers: dict[str, Answers] = {"github": scene.tracker.answer, "model": scene.model, "search": scene.search}
        ports = {"trap": trap} | {
            name: stack.enter_context(serve_recorded(name, asked, answer))
            for name, answer in {**answers, "collector": lambda _: Response({})}.items()
        }
        variables = _job(folder, scene, ports)
        before = set(_files(folder))
        watch = AuditEvents() if apart else stack.enter_context(record_audit_events())
        code, log = _apart(variables) if apart else _here(agent, variables)
        return _seen(folder, before, code, log, asked, ports, watch, scene.tracker)


def _here(agent: Callable[[Mapping[str, str]], int], variables: Mapping[str, str]) -> tuple[int, str]:
    log = io.StringIO()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        return agent(variables), log.getvalue()


def _apart(variables: Mapping[str, str]) -> tuple[int, str]:
    """Exit code and log, of both streams."""
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


RUNNERS_FILES = ("env", "path", "state")
"""Which no run writes."""


def _job(folder: Path, scene: Scenario, ports: Mapping[str, str]) -> dict[str, str]:
    """The runner's folders and files; its variables."""
    for name in ("workspace", "temp", "home", "tmp"):
        (folder / name).mkdir()
    for name in ("output", "summary", *RUNNERS_FILES):
        (folder / "temp" / name).touch()
    git_import.import_repository(folder / "workspace", scene.files, scene.commits)
    for path, text in scene.untracked.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a", encoding="utf-8") as file:
            file.write(text)
    (folder / "temp" / "event.json").write_text(json.dumps(scene.tracker.event), encoding="utf-8")
    return _variables(folder, scene, ports)


def _variables(folder: Path, scene: Scenario, ports: Mapping[str, str]) -> dict[str, str]:
    temp = folder / "temp"
    runner = {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTOR": "mona",
        "GITHUB_API_URL": ports["github"],
        "GITHUB_ENV": f"{temp}/env",
        "GITHUB_EVENT_NAME": "issues",
        "GITHUB_EVENT_PATH": f"{temp}/event.json",
        "GITHUB_OUTPUT": f"{temp}/output",
        "GITHUB_PATH": f"{temp}/path",
        "GITHUB_REPOSITORY": SLUG,
        "GITHUB_RUN_ID": "1",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_STATE": f"{temp}/state",
        "GITHUB_STEP_SUMMARY": f"{temp}/summary",
        "GITHUB_WORKSPACE": f"{folder}/workspace",
        "HOME": f"{folder}/home",
        "RUNNER_TEMP": str(temp),
        "TAVILY_BASE_URL": ports["search"],
    }
    inputs = {
        "engine": "model",
        "github-token": TOKEN,
        "model-api-key": MODEL_KEY,
        "model-base-url": f"{ports['model']}/v1",
        "tavily-api-key": SEARCH_KEY,
        "max-tokens": "100000000",
        "max-cost-usd": "1000",
        "timeout-seconds": "120",
        **scene.inputs,
    }
    listener = {"OTEL_EXPORTER_OTLP_ENDPOINT": ports["collector"]} if scene.telemetry else {}
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    return {**runner, **listener, **given, **scene.variables}


def _seen(
    folder: Path,
    before: set[str],
    code: int,
    log: str,
    asked: list[RecordedRequest],
    ports: Mapping[str, str],
    watch: AuditEvents,
    tracker: PermissiveGitHub,
) -> ObservedRun:
    temp, ours = folder / "temp", folder / "workspace" / ".triage"
    report = ours / "report.json"
    return ObservedRun(
        code=code,
        log=log,
        recorded_requests=list(asked),
        ports=ports,
        outputs=(temp / "output").read_bytes(),
        summary=(temp / "summary").read_text(encoding="utf-8"),
        report=report.read_text(encoding="utf-8") if report.exists() else "",
        cache_files={path: (folder / path).read_bytes().decode("latin-1") for path in _files(ours / "cache")},
        forbidden={name: (temp / name).read_bytes() for name in RUNNERS_FILES},
        new_files=sorted(set(_files(folder)) - before),
        events=watch,
        changed=[path for path in watch.changed if not _is_gone(path)],
        tracker=tracker,
        folder=folder,
    )


def _is_gone(path: str) -> bool:
    """A temporary file that left nothing: without a name from the start, or removed."""
    place = gettempdir()
    return path == place or (path.startswith(f"{place}/") and not Path(path).exists())


def _files(folder: Path) -> Iterator[str]:
    """Files below a folder, as paths from the job's folder."""
    root = folder
    while root.name in ("cache", ".triage", "workspace"):
        root = root.parent
    yield from (str(path.relative_to(root)) for path in folder.rglob("*") if path.is_file())


def list_strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, names too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield str(name)
            yield from list_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from list_strings(item)
