"""Runs the graph once. Whatever happens, a report comes back."""

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError

from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import StepRecord
from triage.graph.build_graph import build_graph, compute_recursion_limit
from triage.graph.finish import build_report
from triage.graph.step_runner import collect_unfinished
from triage.graph.triage_state import BugTriageState, apply_updates, create_state
from triage.ports import Services
from triage.reading.read_issue import read_issue
from triage.threads import wait_until_done_or_cancelled

GRACE_SECONDS = 5.0
"""Beyond the run's time. The nodes watch the clock themselves, and rules need milliseconds."""


async def run_graph(issue: Issue, repository: Repository, services: Services, cancelled: asyncio.Event) -> RunReport:
    """Triage one issue.

    A run that is cancelled, runs out of time or fails reports what it knows by then.
    """
    run = _GraphRun(issue, repository, services)
    running = asyncio.ensure_future(run.stream())
    await wait_until_done_or_cancelled(running, cancelled, services.seconds_left() + GRACE_SECONDS)
    return run.build_report(await _finish_and_explain_cut(running, cancelled))


class _GraphRun:
    def __init__(self, issue: Issue, repository: Repository, services: Services) -> None:
        self._issue = issue
        self._services = services
        self._state = create_state(issue, repository)
        self._pending: list[dict[str, Any]] = []  # updates of nodes whose neighbours in the superstep still run
        self._unfinished: list[StepRecord] = []

    async def stream(self) -> None:
        graph = build_graph()
        config: RunnableConfig = {"recursion_limit": compute_recursion_limit(self._services.limits.iterations)}
        event: Any
        with collect_unfinished() as self._unfinished:
            async for mode, event in graph.astream(
                self._state, config, context=self._services, stream_mode=["values", "updates"]
            ):
                if mode == "values":
                    self._state = BugTriageState.model_validate(event)
                    self._pending.clear()
                else:
                    self._pending.extend(update for update in event.values() if update)

    def build_report(self, cut: str) -> RunReport:
        """Return the report of what is known by now. `cut` says why the run was cut."""
        if self._state.report is not None and not cut:
            return self._state.report
        state = apply_updates(self._state, [*self._pending, {"steps": self._unfinished}])
        try:
            if not state.reading.title:  # cut before it was read
                state = state.model_copy(update={"reading": read_issue(self._issue)})
            return build_report(state, self._services, cut)
        except Exception as error:  # noqa: BLE001 - a state that cannot be reported must not cost the report
            bug = f"What was found could not be put together: a bug of this action ({type(error).__name__})."
            bare = create_state(self._issue, state.repository).model_copy(update={"steps": state.steps})
            return build_report(bare, self._services, cut or bug)


async def _finish_and_explain_cut(running: "asyncio.Future[None]", cancelled: asyncio.Event) -> str:
    """Return why the run was cut; empty when it ended by itself."""
    if not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=1.0)
        return "The run was cancelled." if cancelled.is_set() else "The run was cut: its time was up."
    try:
        running.result()
    except GraphRecursionError:
        return "The run was cut: too many steps."
    except Exception as error:  # noqa: BLE001 - a bug between the nodes, which no wrapper catches, must not cost the report
        return f"The run was cut by a bug of this action ({type(error).__name__})."
    return ""
