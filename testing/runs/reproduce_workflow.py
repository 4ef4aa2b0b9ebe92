"""The jobs of `.github/workflows/reproduce.yml` on loopback, with a checkout and a registry of a small project."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.comment_parts import CommentParts, split_comment
from testing.runner_grammar import parse_outputs
from testing.runs.fix_workflow import run_here
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi
from testing.servers.issue_writes_api import IssueWritesApi


@dataclass
class ReproduceWorkflow:
    """One method per job. `folder` has the repository as `checkout`."""

    folder: Path
    api: GitHubApi
    writes: IssueWritesApi
    variables: dict[str, str]
    event_name: str = "issue_comment"
    event: dict[str, Any] = field(default_factory=dict)
    run_action: Callable[[dict[str, str]], tuple[int, str]] = run_here
    log: str = ""

    def say(self, body: str, by: str = "mona") -> None:
        comment = self.api.add_comment(body, by)
        user = {"login": by, "type": "User"}
        self.event = {"action": "created", "issue": self.api.issues[7], "comment": dict(comment), "sender": user}

    def open_issue(self) -> None:
        self.event_name = "issues"
        self.event = {"action": "opened", "issue": self.api.issues[7], "sender": self.api.issues[7]["user"]}

    def run(self, stage: str, **inputs: str) -> dict[str, str]:
        """Run one job of the flow. Return its outputs. Only `run` has no token."""
        return self.run_task(f"reproduce-{stage}", **({"github-token": ""} if stage == "run" else {}), **inputs)

    def run_task(self, task: str, **inputs: str) -> dict[str, str]:
        """Run a job with this task. Return its outputs."""
        (self.folder / "event.json").write_text(json.dumps(self.event | {"repository": {"full_name": SLUG}}))
        for name in ("output", "summary"):
            (self.folder / name).write_text("")
        given = {"task": task, "github-token": JOB_TOKEN} | inputs
        variables = {f"INPUT_{name.upper()}": value for name, value in given.items()}
        code, self.log = self.run_action(self.environment() | variables)
        assert code == 0, self.log
        return parse_outputs((self.folder / "output").read_bytes())

    def run_all(self) -> str:
        """Run all jobs. Return the block of the comment; empty without a comment."""
        selected = self.run("select")
        task = selected["reproduce-task"]
        if task == "run":
            self.run("run")
        if task:
            self.run("report", selection=selected["reproduce-selection"])
        return self.parts.answer or self.parts.reproduction

    def environment(self) -> dict[str, str]:
        return self.variables | {
            "GITHUB_REPOSITORY": SLUG,
            "GITHUB_EVENT_NAME": self.event_name,
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_WORKSPACE": str(self.folder / "checkout"),
            "GITHUB_API_URL": self.api.url,
            "GITHUB_SERVER_URL": "https://github.com",
        }

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text()

    @property
    def parts(self) -> CommentParts:
        ours = [one["body"] for one in self.api.comments if one["body"].startswith("<!-- bug-triage:")]
        assert len(ours) <= 1, "one comment"
        return split_comment(ours[0]) if ours else CommentParts()
