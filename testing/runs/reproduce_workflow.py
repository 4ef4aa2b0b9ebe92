"""The jobs of `.github/workflows/reproduce.yml` on loopback, with a checkout and a registry of a small project."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.comment_parts import CommentParts, split_comment
from testing.runs.action_run import job_variables, run_on_event
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
    log: str = ""
    summary: str = ""

    def say(self, body: str, by: str = "mona") -> None:
        comment = self.api.add_comment(body, by)
        user = {"login": by, "type": "User"}
        self.event = {"action": "created", "issue": self.api.issues[7], "comment": dict(comment), "sender": user}

    def open_issue(self) -> None:
        self.event_name = "issues"
        self.event = {"action": "opened", "issue": self.api.issues[7], "sender": self.api.issues[7]["user"]}

    def run(self, stage: str, **inputs: str) -> dict[str, str]:
        """Run one job of the flow. Return its outputs. Only `run` has no token."""
        return self.run_task(f"reproduce-{stage}", **({"github_token": ""} if stage == "run" else {}), **inputs)

    def run_task(self, task: str, **inputs: str) -> dict[str, str]:
        """Run a job with this task. Return its outputs."""
        given = {"task": task, "github_token": JOB_TOKEN} | inputs
        variables = job_variables(self.api.url, self.event_name, self.folder, self.folder / "checkout", **given)
        event = self.event | {"repository": {"full_name": SLUG}}
        done = run_on_event(self.folder, event, self.variables | variables)
        self.log, self.summary = done.log, done.summary
        assert done.exit_code == 0, self.log
        return done.outputs

    def run_all(self) -> str:
        """Run all jobs. Return the block of the comment; empty without a comment."""
        selected = self.run("select")
        task = selected["reproduce-task"]
        if task == "run":
            self.run("run")
        if task:
            self.run("report", selection=selected["reproduce-selection"])
        return self.parts.answer or self.parts.reproduction

    @property
    def parts(self) -> CommentParts:
        ours = [one["body"] for one in self.api.comments if one["body"].startswith("<!-- bug-triage:")]
        assert len(ours) <= 1, "one comment"
        return split_comment(ours[0]) if ours else CommentParts()
