"""Runs the graph once. Whatever happens, a report comes back."""

import asyncio
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from langgraph.types import Durability

from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import StepRecord
from triage.graph.build_graph import build_graph, compute_recursion_limit
from triage.graph.finish import build_report
from triage.graph.nodes import index_repository
from triage.graph.resume import Kept, Saver, checkpoints, interrupted, thread_of
from triage.graph.step_runner import StepRecorder, collect_unfinished
from triage.graph.triage_state import BugTriageState, create_state
from triage.ports import Services
from triage.reading.read_issue import read_issue
from triage.threads import run_in_daemon_thread

GRACE_SECONDS = 5.0
"""Beyond the run's time: the nodes watch the clock themselves, and the twins need milliseconds."""


async def run_graph(issue: Issue, repository: Repository, services: Services, cancelled: asyncio.Event) -> RunReport:
    """Work on one issue.

    Args:
        issue: The issue with its thread.
        repository: Where it belongs; the commit is filled in by the index.
        services: Everything that acts.
        cancelled: Set it to end the run early, with a report of what is known by then.
    """
    with checkpoints(services.checkpoints, services.progress) as saver:
        run = _GraphRun(issue, repository, services, saver)
        interrupted = await _until_done(run.run, cancelled, services.seconds_left() + GRACE_SECONDS)
        return await run.build_report(interrupted)


class _GraphRun:
    """One run: the state that is known of it at any moment."""

    def __init__(self, issue: Issue, repository: Repository, services: Services, saver: Saver | None) -> None:
        self._issue = issue
        self._services = services
        self._saver = saver
        self._thread = ""
        self._unfinished: list[StepRecord] = []
        self._ended: list[dict[str, Any]] = []  # updates of nodes whose neighbours in the superstep still run
        self._last = create_state(issue, repository)

    async def run(self) -> None:
        """Run the graph, from its start or from where an earlier run of it was interrupted."""
        with collect_unfinished() as self._unfinished:
            await self._stream()

    async def _stream(self) -> None:
        graph = build_graph(self._saver)
        config: RunnableConfig = {"recursion_limit": compute_recursion_limit(self._services.limits.iterations)}
        given: BugTriageState | None = self._last
        if self._saver is not None:
            commit = await run_in_daemon_thread(self._services.codebase.resolve_commit)
            self._thread = thread_of(self._issue, commit, self._last.repository.slug, self._services)
            config["configurable"] = {"thread_id": self._thread}
            kept = await interrupted(self._saver, graph, config, self._services.progress)
            if kept is not None and await self._goes_on(kept):
                given = None
            else:
                await self._saver.adelete_thread(self._thread)
        kept_each_step: Durability | None = "sync" if self._saver else None
        told: Any
        async for kind, told in graph.astream(
            given, config, context=self._services, stream_mode=["values", "updates"], durability=kept_each_step
        ):
            if kind == "values":
                self._last = BugTriageState.model_validate(told)
                self._ended.clear()
            else:
                self._ended.extend(update for update in told.values() if update)

    async def _goes_on(self, kept: Kept) -> bool:
        """Take up what the interrupted run had: its state, its expenses, and the index, which no state holds.

        Without the index there is nothing to look a citation up in: then the run starts anew, as one without it.
        """
        services = self._services
        if kept.state.index is not None and await index_repository(StepRecorder("prepare", services)) is None:
            services.progress.info("The repository could not be indexed again; the run starts anew.")
            return False
        services.progress.info(f"An interrupted run of this issue goes on after decision {kept.state.iterations}.")
        self._last = kept.state
        self._services = replace(services, facts=services.facts.model_copy(update={"resumed": True}))
        if services.model is not None:
            services.model.resume(kept.spent)
        return True

    async def build_report(self, interrupted: str) -> RunReport:
        """The report of what is known by now. A run that came to its end is forgotten.

        Args:
            interrupted: Why the run was cut; empty when it was not.
        """
        last = self._last
        if last.report is not None and not interrupted:
            if self._saver is not None:
                await self._saver.adelete_thread(self._thread)
            return last.report
        last = apply_updates(last, [*self._ended, {"steps": self._unfinished}])
        try:
            if not last.reading.title:  # cut before it was read
                last = last.model_copy(update={"reading": read_issue(self._issue)})
            return build_report(last, self._services, interrupted)
        except Exception as error:  # noqa: BLE001 - what was found cannot be put together; that it ran can still be told
            bug = f"What was found could not be put together: a bug of this action ({type(error).__name__})."
            bare = create_state(self._issue, last.repository).model_copy(update={"steps": last.steps})
            return build_report(bare, self._services, interrupted or bug)


def apply_updates(state: BugTriageState, updates: list[dict[str, Any]]) -> BugTriageState:
    """The state with the updates of nodes that ended before the run was cut, reduced as the graph would."""
    for update in updates:
        merged = dict(update)
        for channel in ("findings", "steps", "by_rules", "planner_decisions", "rounds"):
            if channel in update:
                merged[channel] = [*getattr(state, channel), *update[channel]]
        if "answered_in_round" in update:
            merged["answered_in_round"] = {**state.answered_in_round, **update["answered_in_round"]}
        state = state.model_copy(update=merged)
    return state


async def _until_done(follow: Any, cancelled: asyncio.Event, seconds: float) -> str:
    """Why the run was cut; empty when it ended by itself."""
    running = asyncio.ensure_future(follow())
    stopping = asyncio.ensure_future(cancelled.wait())
    await asyncio.wait({running, stopping}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if running.done():
        try:
            running.result()
        except GraphRecursionError:
            return "The run was cut: too many steps."
        except Exception as error:  # noqa: BLE001 - a bug between the nodes, where no wrapper reaches, must not cost the report
            return f"The run was cut by a bug of this action ({type(error).__name__})."
        return ""
    running.cancel()
    await asyncio.wait({running}, timeout=1.0)
    return "The run was cancelled." if cancelled.is_set() else "The run was cut: its time was up."
