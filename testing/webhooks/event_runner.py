"""Runs the action in this process on an event: payload and variables in; log, files and requests out."""

from dataclasses import dataclass, field
from pathlib import Path

from testing.checkouts.git_repositories import commit
from testing.runner_grammar import RunnerCommand, parse_commands
from testing.runs.action_run import JobResult, job_variables, read_result, run_here
from testing.servers.github_api import JOB_TOKEN, GitHubApi


@dataclass(frozen=True)
class EventResult(JobResult):
    """Result of a run on an event."""

    requests: list[str]
    """Requests to GitHub, as `GET /path`."""

    @property
    def errors(self) -> list[str]:
        """Error annotations."""
        return [command.data for command in parse_commands(self.log) if command.name == "error"]

    @property
    def unexpected_commands(self) -> list[RunnerCommand]:
        """Commands in the log that no run writes."""
        ours = {"add-mask", "error", "warning", "notice"}
        return [command for command in parse_commands(self.log) if command.name not in ours]


@dataclass
class EventRunner:
    """A folder with a checkout of one commit, and a GitHub on loopback."""

    folder: Path
    github: GitHubApi
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workspace = self.folder / "workspace"
        commit(self.workspace, {"shop/cart.py": "def total(prices):\n    return sum(prices) / len(prices)\n"})

    def run(self, event: str, content: bytes | Path, **variables: str) -> EventResult:
        """Runs on this event. The payload is the content of the event file, or the path of another file."""
        path = content if isinstance(content, Path) else self.folder / "event.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        for name in ("output", "summary"):
            (self.folder / name).write_bytes(b"")
        self.github.requests.clear()
        inputs = {"github-token": JOB_TOKEN, "engine": "rules", "comment": "always"}
        known = job_variables(self.github.url, event, self.folder, self.workspace, **inputs)
        code, log = run_here(known | {"GITHUB_EVENT_PATH": str(path)} | self.variables | variables)
        done = read_result(self.folder, code, log)
        return EventResult(code, log, done.outputs, done.summary, self.github.request_lines())
