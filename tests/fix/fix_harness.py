"""The jobs of the fix flow: over fakes, but for what they store, which is on GitHub's git data."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from testing import factories
from testing.comment_parts import CommentParts, split_comment
from testing.fake_files import FakeFiles
from testing.fakes import NOW
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, LOGINS, SLUG
from testing.servers.pull_requests_api import PullRequestsApi
from tests.run.run_harness import RunHarness, our_comment
from triage.domain.issue import IssueComment
from triage.domain.proposal import (
    Approvers,
    Patch,
    PatchedFile,
    TestsOutcome,
    TextFile,
)
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.fix.commit_text import build_commits
from triage.fix.jobs.fix_job import FixJob, JobArtifacts, ProposeResult
from triage.fix.jobs.run_fix_job import run_fix_job
from triage.fix.proposal_store import GitHubProposalStore
from triage.run.job_context import JobContext
from triage.run.may_run.event import Event
from triage.safety.secrets.redactor import SecretRedactor
from triage.say.comment import compose_comment
from triage.say.hidden_state import CommentState, hash_text

ISSUE = factories.issue()
COMMAND_ID = 77
SOURCE = "src/dates.py"
OLD = "def parse(text):\n    return int(text)\n"
NEW = "def parse(text):\n    return int(text.strip())\n"
TEST = "tests/test_dates.py"
TEST_TEXT = "from dates import parse\n\n\ndef test_spaces():\n    assert parse(' 1 ') == 1\n"


SHOWN = "## Proposed changes"
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(kw_only=True)
class FixHarness(RunHarness):
    """One job of the fix flow after the other, for the command of a person."""

    git: GitDataApi
    pulls: PullRequestsApi
    store: GitHubProposalStore
    workspace: Path
    approvers: Approvers = "write"
    tests: TestsOutcome = ""
    actor: str = "maintainer"
    report: str = "It fails here."
    shown_commit: str = ""
    """Of the proposal that our comment shows."""

    def __post_init__(self) -> None:
        self.github.roles["maintainer"] = "write"
        self.git.api.date_header = NOW - timedelta(minutes=1)
        self.base = self.set_main({SOURCE: OLD})
        self.files = FakeFiles({SOURCE: TextFile(text=OLD)}, self.base)

    def set_main(self, files: Mapping[str, str | bytes], *parents: str) -> str:
        """Let the default branch lead to a new commit with these files."""
        return self.git.set_ref("refs/heads/main", self.git.commit(dict(files), *parents, message="Main\n"))

    def build_context(self) -> JobContext:
        return replace(super().build_context(), repository=factories.repository(labels=[], slug=SLUG))

    def command(self, words: str = "/triage fix", comment: str | None = None, **said: Any) -> None:
        """A person writes a command below our comment."""
        fields = {"author": self.actor, "body": words, "comment_id": COMMAND_ID, "created_at": NOW} | said
        command = IssueComment(**fields)
        if comment is None:
            state = CommentState(proposal=self.shown_commit, tests=self.tests)
            proposal = SHOWN if self.shown_commit else ""
            comment = compose_comment("", state, {"report": self.report, "proposal": proposal}, [])
        if not self.git.api.comments:
            self.git.api.add_comment(comment, LOGINS[JOB_TOKEN], id=55, node_id="IC_55")
        self.set_thread(*([our_comment(comment)] if comment else []), command)
        self.event = Event(issue=factories.issue(), comment=command)

    def make_patch(self, **changes: Any) -> Patch:
        known: dict[str, Any] = {
            "repository": SLUG,
            "issue": 7,
            "issue_title": ISSUE.title,
            "issue_text_hash": hash_text(ISSUE.title, ISSUE.body),
            "base": self.base,
            "summary": "Strip the text before it is parsed",
            "root_cause": "`parse` takes white space for digits.",
            "modules": ["src/"],
            "changes": [PatchedFile(path=SOURCE, description="Strips.", text=NEW)],
            "tests": [PatchedFile(path=TEST, description="Spaces.", is_new_file=True, text=TEST_TEXT)],
        }
        return Patch(**known | changes)

    def store_patch(self, first: Mapping[str, str] = NOTHING, last: Mapping[str, str] = NOTHING, **changes: Any) -> str:
        """Store a patch as the job `store` does, and return its commit. The next comment shows it.

        `first` and `last` are files that the commit with the test and the last one have besides.
        """
        patch = self.make_patch(**changes)
        files, commit = {SOURCE: OLD}, patch.base
        for made, others in zip(build_commits(patch, self.files), (first, last), strict=True):
            files |= {path: file.text for path, file in made.files.items()}
            commit = self.git.commit({**files, **others}, commit, message=made.message)
        self.shown_commit = self.git.set_ref(f"refs/triage/proposals/{patch.issue}/1", commit)
        return commit

    def run_job(self, stage: str, **task: Any) -> Status:
        flow = FixJob(
            self.build_context(),
            proposal_store=self.store,
            open_base_files=lambda _: self.files,
            artifacts=JobArtifacts(self.workspace, SecretRedactor([])),
            open_example=lambda _: None,
            approvers=self.approvers,
            tests_outcome=self.tests,
            run_url="https://github.com/octo/shop/actions/runs/1",
        )
        asked = FixTask(**{"number": 7, "actor": self.actor} | task)
        return asyncio.run(run_fix_job(f"fix-{stage}", asked, flow))

    @property
    def result_file(self) -> bytes | None:
        """Between the jobs `propose` and `store`."""
        return self._file.read_bytes() if self._file.exists() else None

    @result_file.setter
    def result_file(self, data: bytes) -> None:
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_bytes(data)

    @property
    def _file(self) -> Path:
        return self.workspace / ".triage/propose-result.json"

    def leave_result(self, **changes: Any) -> None:
        """Leave a patch, as the job `propose` does."""
        result = ProposeResult(
            patch=self.make_patch(**changes),
        )
        self.result_file = result.model_dump_json().encode()

    def answer(self, stored: str, command: str = "approve", **task: Any) -> Status:
        """A person answers the proposal with this commit."""
        return self.run_job("apply", command=command, proposal_id=stored[:12], **task)

    @property
    def outputs(self) -> dict[str, str]:
        return self.output.values

    @property
    def parts(self) -> CommentParts:
        """Of our comment after the last edit."""
        return split_comment(self.github.edited[-1][1] if self.github.edited else self.github.posted[-1][1])

    @property
    def reactions(self) -> list[str]:
        return [reaction for _, reaction in self.github.reactions]

    @property
    def proposals(self) -> list[str]:
        """Their refs."""
        return [ref for ref in self.git.refs if ref.startswith("refs/triage/")]

    @property
    def branches(self) -> list[str]:
        """All but the default one."""
        return [ref for ref in self.git.refs if ref.startswith("refs/heads/triage/")]
