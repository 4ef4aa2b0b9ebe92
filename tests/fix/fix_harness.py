"""The jobs of the fix flow over fakes."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast

from testing import factories
from testing.comment_parts import CommentParts, split_comment
from testing.fake_files import FakeFiles
from testing.fake_proposals import FakeProposalStore
from testing.fakes import COMMIT, NOW
from tests.run.run_harness import RunHarness, our_comment
from triage.domain.issue import IssueComment
from triage.domain.proposal import (
    Approvers,
    BaseFile,
    CommentRecord,
    FileVersion,
    PatchDraft,
    PatchProposal,
    ProposalStatus,
    ProposalTests,
)
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.fix.commit_text import build_commits
from triage.fix.github.proposal_store import GitHubProposalStore
from triage.fix.graph.ask_model import (
    ChosenModule,
    CodeChanges,
    EditAnswer,
    FileAnswer,
    ModuleChoice,
    TestChanges,
    TicketClass,
)
from triage.fix.jobs.fix_job import FixJob, FixResult, JobFiles
from triage.fix.jobs.run_fix_job import run_fix_job
from triage.safety.secrets.redactor import SecretRedactor
from triage.say.comment import compose_comment
from triage.say.hidden_state import CommentState, hash_text

ISSUE = factories.issue()
SLUG = factories.repository().slug
COMMAND_ID = 77
SOURCE = "src/dates.py"
OLD = "def parse(text):\n    return int(text)\n"
NEW = "def parse(text):\n    return int(text.strip())\n"
TEST = "tests/test_dates.py"
TEST_TEXT = "from dates import parse\n\n\ndef test_spaces():\n    assert parse(' 1 ') == 1\n"


def make_draft(**changes: Any) -> PatchDraft:
    known: dict[str, Any] = {
        "repository": SLUG,
        "issue": 7,
        "issue_title": ISSUE.title,
        "issue_text": hash_text(ISSUE.title, ISSUE.body),
        "base": COMMIT,
        "summary": "Strip the text before it is parsed",
        "root_cause": "`parse` takes white space for digits.",
        "modules": ["src/"],
        "changes": [FileVersion(path=SOURCE, description="Strips.", text=NEW)],
        "tests": [FileVersion(path=TEST, description="Spaces.", is_new_file=True, text=TEST_TEXT)],
    }
    return PatchDraft(**known | changes)


def make_answers() -> dict[str, Any]:
    """What a model answers that makes the draft above."""
    no_edits: dict[str, Any] = {"is_new_file": True, "edits": []}
    source = FileAnswer(
        file_path=SOURCE,
        description="Strips.",
        is_new_file=False,
        edits=[EditAnswer(search="int(text)", replace="int(text.strip())")],
        new_content=None,
    )
    return {
        "TicketClass": TicketClass(
            confirmed_type="Bug",
            technical_summary="parse fails on spaces",
            acceptance_criteria=[],
            error=None,
        ),
        "ModuleChoice": ModuleChoice(
            affected_modules=[ChosenModule(name="src/", reason="It parses.")], files_likely_to_change=[], error=None
        ),
        "CodeChanges": CodeChanges(
            root_cause="`parse` takes white space for digits.",
            summary="Strip the text",
            changes=[source],
            look_at=[],
            unverified=[],
            error=None,
        ),
        "TestChanges": TestChanges(
            tests=[FileAnswer(file_path=TEST, description="Spaces.", new_content=TEST_TEXT, **no_edits)],
            no_test_reason=None,
            look_at=[],
            error=None,
        ),
    }


SHOWN = "## Proposed changes"


@dataclass
class FixHarness(RunHarness):
    """One job of the fix flow after the other, for the command of a person."""

    store: FakeProposalStore = field(default_factory=lambda: FakeProposalStore(repository=SLUG))
    files: FakeFiles = field(default_factory=lambda: FakeFiles({SOURCE: BaseFile(text=OLD)}))
    workspace: Path = field(default_factory=lambda: Path(mkdtemp()))
    approvers: Approvers = "write"
    tests: ProposalTests = ""
    actor: str = "maintainer"
    report: str = "It fails here."
    shown_commit: str = ""
    """Of the proposal that our comment shows."""

    def __post_init__(self) -> None:
        self.github.roles["maintainer"] = "write"

    def command(self, words: str = "/triage fix", comment: str | None = None, **said: Any) -> None:
        """A person writes a command below our comment."""
        fields = {"author": self.actor, "body": words, "comment_id": COMMAND_ID, "created_at": NOW} | said
        command = IssueComment(**fields)
        if comment is None:
            state = CommentState(proposal=self.shown_commit, tests=self.tests)
            proposal = SHOWN if self.shown_commit else ""
            comment = compose_comment("", state, {"report": self.report, "proposal": proposal}, [])
        self.approvals.records.setdefault(55, CommentRecord(comment_id=55, body=comment, is_ours_alone=True))
        self.set_thread(*([our_comment(comment)] if comment else []), command)
        self.event_issue = factories.issue(thread=[command])

    def store_draft(self, draft: PatchDraft | None = None) -> PatchProposal:
        """Store a draft as the job `store` does. The next comment shows it."""
        draft = draft or make_draft()
        stored = self.store.store(draft.issue or 0, draft.base, build_commits(draft, self.files))
        self.shown_commit = stored.commit
        return stored

    def run_job(self, stage: str, **task: Any) -> Status:
        flow = FixJob(
            self.build_context(),
            store=cast("GitHubProposalStore", self.store),
            open_files=lambda _: self.files,
            files=JobFiles(self.workspace, SecretRedactor([])),
            approvers=self.approvers,
            tests=self.tests,
            run_url="https://github.com/octo/shop/actions/runs/1",
        )
        asked = FixTask(**{"number": 7, "actor": self.actor} | task)
        return asyncio.run(run_fix_job(f"fix-{stage}", asked, flow)).status

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
        return self.workspace / ".triage/proposal.json"

    def leave_result(self, draft: PatchDraft | None = None, **changes: Any) -> None:
        known = {"draft": draft or make_draft(), "status": ProposalStatus.AWAITING}
        self.result_file = FixResult(**known | changes).model_dump_json().encode()

    def answer(self, stored: PatchProposal, command: str = "approve", **task: Any) -> Status:
        return self.run_job("apply", command=command, proposal_id=stored.id, **task)

    @property
    def outputs(self) -> dict[str, str]:
        return self.output.values

    @property
    def parts(self) -> CommentParts:
        """Of our comment after the last edit."""
        return split_comment(self.github.edited[-1][2] if self.github.edited else self.github.posted[-1][1])

    @property
    def reactions(self) -> list[str]:
        return [reaction for _, reaction in self.approvals.reactions]

    @property
    def branches(self) -> dict[str, str]:
        return {ref: commit for ref, commit in self.store.refs.items() if ref.startswith("refs/heads/")}
