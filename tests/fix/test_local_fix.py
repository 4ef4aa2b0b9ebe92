"""The fix flow at a terminal, in a repository of real git, over a fake model."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testing import factories
from testing.checkouts.git_repositories import ENVIRONMENT, commit, git, write
from testing.fakes import FakeClock, FakeCodebase, FakeModel, FakeProgressLog, fake_services
from tests.fix.graph.test_fix_graph import FILES, SOURCE, answers, code_changes
from triage.domain.proposal import ProposalStatus
from triage.domain.run import Limits
from triage.fix.base_files import open_base_files
from triage.fix.commit_text import make_branch_name
from triage.fix.graph.fix_state import FixState
from triage.fix.local_branch import LocalBranch
from triage.fix.local_fix import fix_locally
from triage.fix.project_check import CheckResult, ProjectCheck
from triage.git.write import UserRepository

NAME = make_branch_name(7, factories.issue().title)
PASSES = CheckResult(is_ok=True, output="")


class Check(ProjectCheck):
    """Answers in place of the project's command, and remembers which commits were checked."""

    def __init__(self, repository: UserRepository, answer: Callable[[], CheckResult]) -> None:
        super().__init__(repository, git(repository.folder, "rev-parse", "HEAD"), "")
        self.answer, self.checked = answer, list[str]()

    def run(self, commit: str) -> CheckResult:
        self.checked.append(commit)
        return self.answer()


@pytest.fixture
def repository(tmp_path: Path) -> UserRepository:
    write(tmp_path, FILES)
    (tmp_path / SOURCE).chmod(0o755)
    commit(tmp_path)
    return UserRepository(tmp_path, ENVIRONMENT)


class Fix:
    """One fix at a terminal."""

    def __init__(self, repository: UserRepository, check: Check | None = None, **changed_answers: Any) -> None:
        self.model = FakeModel(factories.answers() | answers(**changed_answers))
        self.repository, self.check = repository, check
        self.progress = FakeProgressLog()
        self.clock = FakeClock()

    async def run(self, *said: object, cancelled: asyncio.Event | None = None, **services: Any) -> FixState:
        remaining = list(said)

        async def ask(state: FixState, question: str) -> object:
            del state, question
            self.clock.seconds += 100_000  # a person may take a day
            return remaining.pop(0)

        opened = fake_services(
            codebase=FakeCodebase(FILES), model=self.model, progress=self.progress, clock=self.clock, **services
        )
        branch = LocalBranch(open_base_files(self.repository.folder, "HEAD"), self.repository)
        state = FixState(issue=factories.issue(number=7), repository=factories.repository())
        cancelled = cancelled or asyncio.Event()
        return await fix_locally(state, opened, branch, self.check, cancelled, ask if said else None)


async def test_an_earlier_branch_of_the_issue_is_left_alone(repository: UserRepository) -> None:
    git(repository.folder, "branch", NAME)
    state = await Fix(repository).run("approve")
    assert state.pending_mutation is not None
    assert state.branch_name == f"{NAME}-{state.pending_mutation.commit[:7]}"
    assert git(repository.folder, "rev-parse", state.branch_name) == state.pending_mutation.commit


async def test_the_time_of_a_person_and_of_the_check_is_not_the_time_of_the_run(repository: UserRepository) -> None:
    def check() -> CheckResult:
        fix.clock.seconds += 10_000
        return PASSES

    fix = Fix(repository, Check(repository, check), CodeChanges=[code_changes(), code_changes()])
    state = await fix.run("revise: smaller", "approve", limits=Limits(run_seconds=300))
    assert (state.status, state.error) == (ProposalStatus.APPROVED, None)
    assert fix.clock.seconds > 200_000


async def test_the_check_is_given_the_base_the_patch_and_its_tests_alone(repository: UserRepository) -> None:
    check = Check(repository, lambda: PASSES)
    state = await Fix(repository, check).run("approve")
    base, whole, tests = check.checked
    assert base == git(repository.folder, "rev-parse", "HEAD")
    assert git(repository.folder, "diff", "--stat", whole, state.branch_name) == ""
    assert git(repository.folder, "diff", "--name-only", base, tests) == "tests/test_spaces.py"
    assert git(repository.folder, "ls-tree", whole, SOURCE).startswith("100755 ")


async def test_a_check_is_cancelled_before_any_model_call(repository: UserRepository) -> None:
    cancelled, began, go_on = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def check() -> CheckResult:
        began.set()
        loop.call_soon_threadsafe(cancelled.set)
        go_on.wait(30)
        return PASSES

    fix = Fix(repository, Check(repository, check))
    state = await fix.run("approve", cancelled=cancelled)
    go_on.set()
    assert began.is_set()
    assert (state.error, state.branch_name) == ("The run was cancelled.", "")
    assert fix.model.asked == []
