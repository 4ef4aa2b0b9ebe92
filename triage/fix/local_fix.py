"""The fix flow at a terminal: whoever runs it is shown the patch and asked, and the result is a local branch."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from rich.console import Group
from rich.markdown import Markdown
from rich.text import Text

from triage.agents.services import Services
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.proposal import PROPOSAL_LIFETIME, Patch
from triage.fix.base_files import BaseFiles
from triage.fix.graph.fix_graph import AskPerson, run_fix
from triage.fix.graph.fix_state import FixContext, FixState
from triage.fix.local_branch import LocalBranch
from triage.fix.project_check import ProjectCheck
from triage.fix.proposal_text import render_without_diff
from triage.graph.run_graph import run_graph
from triage.safety.clean_text import clean_text

PATIENT_SECONDS = PROPOSAL_LIFETIME.total_seconds()
"""For what follows the triage: people read as long as they need. Each request and each check has its own limit."""
CHECK_BEGINS = "The check runs in a clean work tree of the last commit. What it writes elsewhere stays."


async def fix_locally(
    state: FixState,
    services: Services,
    branch: LocalBranch,
    check: ProjectCheck | None,
    cancelled: asyncio.Event,
    ask_person: AskPerson | None = None,
) -> FixState:
    """Propose a fix, and make it a branch if the person approves. Without `ask_person` nobody is asked."""
    if check is not None:
        services.progress.info(CHECK_BEGINS)
        try:
            unchanged = await call_with_deadline(check.run_on_base, cancelled)
        except OutOfTime:
            return state.model_copy(update={"error": "The run was cancelled."})
        if not unchanged.is_ok:
            named = f" Tests that fail: {len(unchanged.failed)}." if unchanged.failed else ""
            services.progress.info(f"The check fails on the last commit too, without any change.{named}")
    triage = partial(run_graph, services=replace(services, searches_for_features=True), cancelled=cancelled)
    services = replace(services, started=services.clock())
    patient = replace(services, limits=services.limits.model_copy(update={"run_seconds": PATIENT_SECONDS}))
    judge = (lambda patch: check.judge(branch.write_commits(patch))) if check else None
    context = FixContext(patient, branch.files, triage, branch, judge)
    return await run_fix(state, context, cancelled, ask_person)


MAX_OUTPUT_LINES = 15
_STYLES = {"+++": "bold", "---": "bold", "diff": "bold", "+": "green", "-": "red", "@": "cyan"}
"""By the start of a line, as `git diff` colours it. The first that fits counts."""


def render_terminal_proposal(patch: Patch, diff: str, files: BaseFiles, check_output: str = "") -> Group:
    """Return what would be done and the whole diff, without control characters.

    `check_output` is what a check printed that fails with the change.
    """
    printed = clean_text(check_output).strip().split("\n")[-MAX_OUTPUT_LINES:] if check_output else []
    end = [Text("It printed, at the end:", style="bold"), *map(Text, printed), Text()] if printed else []
    return Group(Markdown(render_without_diff(patch, files), hyperlinks=False), Text(), *end, *_render_diff(diff))


def _render_diff(diff: str) -> Iterator[Text]:
    # Added lines have no invisible characters: the checks of a patch refuse them.
    for line in diff.removesuffix("\n").split("\n"):
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
        yield Text(clean_text(line).replace("\n", " "), style=style)
