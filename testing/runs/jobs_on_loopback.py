"""The jobs of a called workflow on loopback: each runs the action with its own token."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.runs.action_run import RunAction, job_variables, run_here, run_on_event
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi
from testing.servers.issue_writes_api import IssueWritesApi


@dataclass
class JobsOnLoopback:
    """`folder` has the repository as `checkout`."""

    folder: Path
    api: GitHubApi
    writes: IssueWritesApi
    variables: dict[str, str]
    """Of the runner, besides those that GitHub sets."""
    event_name: str = "issue_comment"
    event: dict[str, Any] = field(default_factory=dict)
    run_action: RunAction = run_here
    log: str = ""
    summary: str = ""

    def say(self, body: str, by: str = "mona") -> None:
        """Somebody comments on the issue."""
        comment = self.api.add_comment(body, by)
        user = {"login": by, "type": "User"}
        self.event = {"action": "created", "issue": self.api.issues[7], "comment": dict(comment), "sender": user}

    def run_task(self, task: str, **inputs: str) -> dict[str, str]:
        """Run a job with this task. Return its outputs."""
        given = {"task": task, "github_token": JOB_TOKEN} | inputs
        variables = job_variables(self.api.url, self.event_name, self.folder, self.folder / "checkout", **given)
        event = self.event | {"repository": {"full_name": SLUG}}
        done = run_on_event(self.folder, event, self.variables | variables, self.run_action)
        self.log, self.summary = done.log, done.summary
        assert done.exit_code == 0, self.log
        return done.outputs
