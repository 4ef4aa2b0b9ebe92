"""Runs the action in this process on an event: payload and variables in; log, files and requests out."""

import contextlib
import io
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from testing.runner_grammar import RunnerCommand, parse_commands, parse_outputs
from testing.servers.github_server import SLUG, GitHubServer
from triage.action import main


@dataclass(frozen=True)
class EventResult:
    """Result of a run."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str
    requests: list[str]
    """Requests to GitHub, as `GET /path`."""

    @property
    def errors(self) -> list[str]:
        """Error annotations."""
        return [command.data for command in parse_commands(self.log) if command.name == "error"]

    @property
    def unexpected_commands(self) -> list[RunnerCommand]:
        """Commands in the log that no run writes."""
        ours = {"add-mask", "error", "warning", "notice", "group", "endgroup"}
        return [command for command in parse_commands(self.log) if command.name not in ours]


@dataclass
class EventRunner:
    """A folder with a checkout of one commit, and a GitHub on loopback."""

    folder: Path
    github: GitHubServer
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workspace = self.folder / "workspace"
        (self.workspace / "shop").mkdir(parents=True)
        (self.workspace / "shop" / "cart.py").write_text("def total(prices):\n    return sum(prices) / len(prices)\n")
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "x"]):
            subprocess.run(["git", *command], cwd=self.workspace, check=True)

    def run(self, event: str, content: bytes | Path, **variables: str) -> EventResult:
        """Runs on this event. The payload is the content of the event file, or the path of another file."""
        path = content if isinstance(content, Path) else self.folder / "event.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        output, summary = self.folder / "output", self.folder / "summary"
        for left in (output, summary):
            left.unlink(missing_ok=True)
        self.github.request_lines.clear()
        environ = {
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": SLUG,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "INPUT_GITHUB-TOKEN": "ghs_" + "x1" * 18,
            "INPUT_ENGINE": "rules",
            "INPUT_COMMENT": "always",
        }
        log = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = main(environ | self.variables | variables, log=log)
        return EventResult(
            code,
            log.getvalue(),
            parse_outputs(output.read_bytes()) if output.exists() else {},
            summary.read_text("utf-8") if summary.exists() else "",
            list(self.github.request_lines),
        )
