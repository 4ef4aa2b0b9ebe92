"""The fix flow at a terminal: whoever runs it is shown the patch and asked, and the result is a local branch."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from rich.console import Group
from rich.markdown import Markdown
from rich.text import Text

from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.issue import Issue, Repository
from triage.domain.proposal import (
    PROPOSAL_LIFETIME,
    ExampleResult,
    FileVersion,
    PatchDraft,
    PendingMutation,
)
from triage.domain.report import RunReport
from triage.fix.commit_text import build_files, build_request, make_branch_name
from triage.fix.fix_ports import BaseFiles, CheckResult, ReportExample
from triage.fix.graph.fix_graph import AskPerson, run_fix
from triage.fix.graph.fix_state import PASSED, FixContext, FixState
from triage.fix.local.local_workspace import LocalWorkspace
from triage.fix.proposal_text import render_words
from triage.graph.run_graph import run_graph
from triage.ports import Services
from triage.safety.clean_text import clean_text

CHECK_SECONDS = 600.0
"""For one run of the project's check."""
PATIENT_SECONDS = PROPOSAL_LIFETIME.total_seconds()
"""For what follows the triage: people read as long as they need. Each request and each check has its own limit."""
CHECK_BEGINS = "The check runs in a clean work tree of the last commit. What it writes elsewhere stays."
MAX_NAMES = 9
"""Branch names that are tried: an earlier fix of the same issue may have taken some."""


@dataclass(frozen=True)
class LocalFix:
    """What a fix of the checkout acts through."""

    services: Services
    files: BaseFiles
    workspace: LocalWorkspace
    check: str = ""
    """A command of the project; empty for none."""
    example: ReportExample | None = None
    """The report's own, which the model is shown."""
    runs_example: bool = False
    """It is run beside the check: somebody has seen it and allowed that."""

    async def run(
        self,
        issue: Issue,
        repository: Repository,
        cancelled: asyncio.Event,
        ask_person: AskPerson | None = None,
        change_request: str = "",
    ) -> FixState:
        """Propose a fix, and make it a branch if the person approves. Without `ask_person` nobody is asked."""

        async def triage(issue: Issue, repository: Repository) -> RunReport:
            return await run_graph(issue, repository, services, cancelled)

        def run_check(draft: PatchDraft, whole: bool) -> CheckResult:
            return self._run_check(draft.files if whole else draft.tests)

        described = self.example.describe() if self.example else ""
        state = FixState(issue=issue, repository=repository, change_request=change_request, example=described)
        unchanged, run_example = PASSED, None
        if self.check:
            try:
                unchanged = await call_with_deadline(self._try_check, cancelled)
                if self.example and self.runs_example:
                    before = await call_with_deadline(lambda: self._run_example([]), cancelled)
                    state = state.model_copy(update={"example": self.example.describe(before)})
                    run_example = partial(self._compare_example, self.example, before)
            except OutOfTime:
                return state.model_copy(update={"error": "The run was cancelled."})
        services = replace(self.services, started=self.services.clock())
        limits = services.limits.model_copy(update={"run_seconds": PATIENT_SECONDS})
        branch = LocalBranch(self.files, self.workspace)
        context = FixContext(
            replace(services, limits=limits),
            self.files,
            triage,
            store=branch.store,
            tool=branch,
            run_check=run_check if self.check else None,
            run_example=run_example,
            unchanged=unchanged,
        )
        return await run_fix(state, context, cancelled, ask_person)

    def _try_check(self) -> CheckResult:
        """Run the check on the commit as it is: a command that does not exist must cost no model call."""
        self.services.progress.info(CHECK_BEGINS)
        result = self._run_check([])
        if not result.is_ok:
            named = f" Tests that fail: {len(result.failed)}." if result.failed else ""
            self.services.progress.info(f"The check fails on the last commit too, without any change.{named}")
        return result

    def _run_example(self, versions: list[FileVersion]) -> bytes:
        assert self.example is not None
        return self.workspace.run_example(self.files.commit, build_files(versions, self.files), self.example.files)

    def _compare_example(self, example: ReportExample, before: bytes, draft: PatchDraft) -> ExampleResult:
        unrunnable = example.compare(before, before)
        if unrunnable.outcome == "not-run":
            return unrunnable
        return example.compare(before, self._run_example(draft.files))

    def _run_check(self, versions: list[FileVersion]) -> CheckResult:
        return self.workspace.run_check(self.files.commit, build_files(versions, self.files), self.check, CHECK_SECONDS)


class LocalBranch:
    """Implements `graph.fix_state.PullRequestTool` with a branch of the checkout. Nothing is pushed."""

    def __init__(self, files: BaseFiles, workspace: LocalWorkspace) -> None:
        self._files, self._workspace = files, workspace

    def store(self, draft: PatchDraft) -> PendingMutation:
        """Return the commits of a draft, and the first free name for their branch."""
        commit = self._workspace.write_commits(build_request(draft, self._files, is_local=True))
        first = make_branch_name(draft.issue, draft.issue_title)
        names = [first, *(f"{first}-{number}" for number in range(2, MAX_NAMES + 1))]
        free = next((name for name in names if not self._workspace.has_branch(name)), names[-1])
        return PendingMutation(commit=commit, branch=free)

    def find_objection(self, pending: PendingMutation) -> str:
        """Return nothing: whoever can run this may make branches."""
        del pending
        return ""

    def create_branch(self, pending: PendingMutation) -> None:
        self._workspace.create_branch(pending.branch, pending.commit)

    def open_pull_request(self, pending: PendingMutation) -> None:
        del pending

    def report(self, pending: PendingMutation) -> None:
        del pending

    def drop(self, pending: PendingMutation) -> None:
        """Leave the commits: git deletes them after two weeks."""
        del pending


MAX_OUTPUT_LINES = 15
_STYLES = {"+++": "bold", "---": "bold", "diff": "bold", "+": "green", "-": "red", "@": "cyan"}
"""By the start of a line, as `git diff` colours it. The first that fits counts."""


def render_terminal_proposal(draft: PatchDraft, diff: str, files: BaseFiles, check_output: str = "") -> Group:
    """Return what would be done and the whole diff, without control characters.

    `check_output` is what a check printed that fails with the change.
    """
    printed = clean_text(check_output).strip().split("\n")[-MAX_OUTPUT_LINES:] if check_output else []
    end = [Text("It printed, at the end:", style="bold"), *map(Text, printed), Text()] if printed else []
    return Group(Markdown(render_words(draft, files), hyperlinks=False), Text(), *end, *_render_diff(diff))


def _render_diff(diff: str) -> Iterator[Text]:
    # Added lines have no invisible characters: the checks of a patch refuse them.
    for line in diff.removesuffix("\n").split("\n"):
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
        yield Text(clean_text(line).replace("\n", " "), style=style)
