"""The command `fix`: proposes a change, asks whoever runs it, and makes a local branch of what they approved."""

import asyncio
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from triage.app.command_line import (
    GitHubOption,
    IssueOption,
    Repo,
    Verbose,
    open_issue,
    run_until_signal,
)
from triage.app.open_app import open_terminal_app
from triage.app.settings.secret_inputs import remove_own_variables
from triage.base.errors import BadInput, SetupError
from triage.base.os_signals import EXIT_CODES
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.proposal import ProposalStatus
from triage.say.wording import format_usage

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles
    from triage.fix.graph.fix_graph import AskPerson
    from triage.fix.graph.fix_state import FixState

NO_MODEL = "A fix needs a model: set TRIAGE_MODEL_API_KEY, or TRIAGE_MODEL_BASE_URL for an endpoint of your own."


def fix(
    context: typer.Context,
    issue: IssueOption,
    repo: Repo = Path(),
    github: GitHubOption = "",
    check: Annotated[
        str, typer.Option(help="Command of the project that must pass, such as its tests. Runs on this machine.")
    ] = "",
    change: Annotated[str, typer.Option(help="What to change, in your words.")] = "",
    verbose: Verbose = False,
) -> None:
    """Propose a fix for one issue. What you approve becomes a local branch; nothing is pushed."""
    from triage.fix.base_files import open_base_files
    from triage.fix.graph.fix_state import FixState
    from triage.fix.local_branch import LocalBranch
    from triage.fix.local_fix import fix_locally
    from triage.fix.project_check import ProjectCheck
    from triage.git.write import UserRepository

    app, output = open_terminal_app(repo, task="fix-propose", verbose=verbose)
    if app.settings.effective_engine == "rules":
        raise SetupError(NO_MODEL)
    # Neither git nor the check gets one of our keys.
    with UserRepository(app.root, remove_own_variables(os.environ)) as user_repository:
        with output.progress:
            user_repository.check_can_commit()
            app, found, repository = open_issue(app.with_project_config(), issue, github)
            files = open_base_files(app.root, "HEAD")
            example = context.obj(app)(found) if context.obj else None  # `cli` gives what opens it
            services = app.open_services()
        # A proposal that went into a pipe was not seen, so nobody can answer it.
        is_interactive = sys.stdin.isatty() and sys.stdout.isatty() and issue != "-"
        project_check = ProjectCheck(user_repository, files.commit, check) if check else None
        state = FixState(
            issue=found,
            repository=repository,
            change_request=change,
            example=example.describe() if example else "",
        )

        async def run(cancelled: asyncio.Event) -> FixState:
            ask = _build_question(files, cancelled) if is_interactive else None
            branch = LocalBranch(files, user_repository)
            return await fix_locally(state, services, branch, project_check, cancelled, ask)

        with output.progress:
            state, stopped_by = run_until_signal(run)
        if stopped_by:
            raise SystemExit(EXIT_CODES[stopped_by])
        if services.model:
            output.annotate("notice", f"The model took {format_usage(services.model.usage)}.")
        _print_result(state, files)


def _build_question(files: "BaseFiles", cancelled: asyncio.Event) -> "AskPerson":
    shown: list[object] = []

    async def ask(state: "FixState", question: str) -> object:
        if state.patch not in shown:  # else an unclear answer is asked again
            _print_proposal(state, files)
        shown[:] = [state.patch]
        try:
            return await call_with_deadline(lambda: _read_answer(question), cancelled)
        except OutOfTime:
            return None  # no yes

    return ask


def _read_answer(question: str) -> str:
    """Return the first line that is not blank, typed after the question; empty at the end of the input."""
    with suppress(ImportError, OSError):  # Windows has no termios
        import termios

        # Rest of a paste, or typed before the proposal was there to read: no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    while True:
        # Not `input`: its line editing would leave the terminal without echo if the process ends meanwhile.
        sys.stdout.write(f"\n{question}\n> ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not line or line.strip():
            return line.strip()


def _print_proposal(state: "FixState", files: "BaseFiles") -> None:
    from triage.fix.local_fix import render_terminal_proposal

    assert state.patch is not None
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(
        render_terminal_proposal(state.patch, state.diff, files, state.check_output), crop=False, soft_wrap=True
    )


def _print_result(state: "FixState", files: "BaseFiles") -> None:
    """Print the branch, or what else became of the patch. Raises BadInput with the error, if there is one."""
    pending, name = state.pending_mutation, state.branch_name
    if pending and state.status is ProposalStatus.AWAITING and not state.error:
        _print_proposal(state, files)
        sys.stdout.write(
            "\nNobody was asked, so there is no branch. To take exactly this:\n\n"
            f"  git switch -c {pending.branch} {pending.commit}\n"
        )
    elif state.branch_name:
        sys.stdout.write(
            f"\nThe branch {name} has the change. Nothing was pushed, and your files are as they were. Next:\n\n"
            f"  git switch {name}\n  git push -u origin {name}\n"
        )
    elif state.status is ProposalStatus.REJECTED and pending:
        sys.stdout.write(f"\nRejected: there is no branch. Git keeps commit {pending.commit[:12]} for two weeks.\n")
        if words := state.rejection_reason:
            sys.stdout.write(f"To have another change made with your words, add: --change {shlex.quote(words)}\n")
    if state.error:
        raise BadInput(state.error)
