"""The fix flow at a terminal, in a repository of real git, over a fake model."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from testing import factories
from testing.checkouts.git_repositories import ENVIRONMENT, commit, git, write
from testing.fakes import FakeClock, FakeCodebase, FakeModel, FakeProgressLog, fake_services
from tests.fix.graph.test_fix_graph import FILES, SOURCE, answers, code_changes
from triage.domain.proposal import BaseFile, ProposalStatus
from triage.domain.run import Limits
from triage.fix.base_files import open_base_files
from triage.fix.commit_text import make_branch_name
from triage.fix.fix_ports import CheckResult
from triage.fix.graph.fix_state import FixState
from triage.fix.local.local_fix import MAX_NAMES, LocalFix
from triage.fix.local.local_workspace import LocalWorkspace

NAME = make_branch_name(7, factories.issue().title)
Files = Mapping[str, BaseFile]
Check = Callable[[Files], CheckResult]


class Workspace(LocalWorkspace):
    """Answers in place of the project's check, and remembers what was checked."""

    answer: Check | None = None

    def __init__(self, root: Path) -> None:
        super().__init__(root, ENVIRONMENT)
        self.root = root
        self.checked: list[tuple[str, str, Files]] = []

    def run_check(self, base: str, files: Files, command: str, seconds: float) -> CheckResult:
        self.checked.append((base, command, files))
        return self.answer(files) if self.answer else CheckResult(is_ok=True, output="")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    write(tmp_path, FILES)
    (tmp_path / SOURCE).chmod(0o755)
    commit(tmp_path)
    return Workspace(tmp_path)


class Fix:
    """One fix at a terminal."""

    def __init__(self, workspace: Workspace, check: str = "", **changed_answers: Any) -> None:
        self.model = FakeModel(factories.answers() | answers(**changed_answers))
        self.workspace = workspace
        self.progress = FakeProgressLog()
        self.clock = FakeClock()
        self.asked: list[FixState] = []
        self._check = check

    async def run(self, *said: object, cancelled: asyncio.Event | None = None, **services: Any) -> FixState:
        remaining = list(said)

        async def ask(state: FixState, question: str) -> object:
            del question
            self.asked.append(state)
            self.clock.seconds += 100_000  # a person may take a day
            return remaining.pop(0)

        opened = fake_services(
            codebase=FakeCodebase(FILES), model=self.model, progress=self.progress, clock=self.clock, **services
        )
        files = open_base_files(self.workspace.root, "HEAD")
        local = LocalFix(opened, files, self.workspace, self._check)
        return await local.run(
            factories.issue(number=7),
            factories.repository(),
            cancelled or asyncio.Event(),
            ask if said else None,
            "only in parse",
        )


async def test_earlier_branches_of_the_issue_are_left_alone(workspace: Workspace) -> None:
    for name in (NAME, f"{NAME}-2"):
        git(workspace.root, "branch", name)
    state = await Fix(workspace).run("approve")
    assert state.branch_name == f"{NAME}-3"
    for number in range(4, MAX_NAMES + 1):
        git(workspace.root, "branch", f"{NAME}-{number}")
    state = await Fix(workspace).run("approve")
    assert state.branch_name == ""
    assert str(state.error).startswith(f"The branch {NAME}-{MAX_NAMES} exists and has other commits.")


async def test_the_time_of_a_person_and_of_the_check_is_not_the_time_of_the_run(workspace: Workspace) -> None:
    fix = Fix(workspace, check="make test", CodeChanges=[code_changes(), code_changes()])

    def check(_: Files) -> CheckResult:
        fix.clock.seconds += 10_000
        return CheckResult(is_ok=True, output="")

    workspace.answer = check
    state = await fix.run("revise: smaller", "approve", limits=Limits(run_seconds=300))
    assert (state.status, state.error) == (ProposalStatus.APPROVED, None)
    assert fix.clock.seconds > 200_000


async def test_a_check_is_cancelled_before_any_model_call(workspace: Workspace) -> None:
    cancelled, began, go_on = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def check(_: Files) -> CheckResult:
        began.set()
        loop.call_soon_threadsafe(cancelled.set)
        go_on.wait(30)
        return CheckResult(is_ok=True, output="")

    workspace.answer = check
    fix = Fix(workspace, check="make test")
    state = await fix.run("approve", cancelled=cancelled)
    go_on.set()
    assert began.is_set()
    assert (state.error, state.branch_name) == ("The run was cancelled.", "")
    assert fix.model.asked == []
