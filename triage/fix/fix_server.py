"""The fix flow for LangGraph Server, which finds it by `langgraph.json`: what a person approves becomes a branch.

A run ends at the interrupt of `human_review_gate`, which shows the patch. The thread is resumed with the answer, maybe
days later and by another process: so each run opens what it acts through when its first node needs it.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from triage.agents.services import Services
from triage.app.server import Lazy, RequestRefused, TriageInput, open_on_server
from triage.app.settings.secret_inputs import remove_own_variables
from triage.base.threads import in_thread
from triage.fix.base_files import open_base_files
from triage.fix.graph.fix_graph import FixGraph, FixNode, build_fix_graph
from triage.fix.graph.fix_state import FixContext, FixState
from triage.fix.local_branch import LocalBranch
from triage.git.write import UserRepository
from triage.graph.run_graph import run_graph

ONE_ISSUE = "A thread is for one issue: start the next one on a new thread."


class FixInput(TriageInput):
    change_request: str = ""


def graph(config: RunnableConfig) -> FixGraph:
    """Return the graph of one run."""
    del config
    return build_server_graph(open_on_checkout)


def open_on_checkout(repository: str, base: str) -> tuple[Services, LocalBranch]:
    """Open what a run acts through, for a patch of commit `base` of the checkout. Raises SetupError."""
    app = open_on_server(repository, "fix-propose")
    user_repository = UserRepository(app.root, remove_own_variables(os.environ))
    user_repository.check_can_commit()
    return app.open_services(), LocalBranch(open_base_files(app.root, base), user_repository)


def build_server_graph(open_codebase: Callable[[str, str], tuple[Services, LocalBranch]]) -> FixGraph:
    """Return the graph. Its first node that needs the checkout opens it, by repository and commit."""

    def open_context(state: FixState) -> FixContext:
        services, branch = open_codebase(state.repository.slug, state.patch.base if state.patch else "HEAD")
        triage = partial(run_graph, services=replace(services, searches_for_features=True), cancelled=asyncio.Event())
        return FixContext(services, branch.files, triage, branch)

    lazy_context = Lazy(open_context)

    def wrap(node: FixNode) -> FixNode:
        async def run(state: FixState, runtime: Runtime[FixContext]) -> dict[str, Any]:
            if state.patch and state.patch.issue != state.issue.number:
                raise RequestRefused(ONE_ISSUE)
            context = await lazy_context.get(state)
            codebase = context.services.codebase
            if state.human_feedback and state.pending_mutation is None and not codebase.commit:
                await in_thread(codebase.index)  # for a revision: the index is in no checkpoint
            return await node(state, runtime.override(context=context))

        return run

    return build_fix_graph(wrap=wrap, input_schema=FixInput)
