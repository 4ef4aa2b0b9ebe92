"""Carries out what an event asks for: opens what a flow needs, and runs the flow.

Apart from `action`, which imports it last: with all flows it takes longer than skipping an event.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from triage.app import wiring
from triage.app.runner_wiring import ActionsContext
from triage.app.wiring import RunSetup
from triage.base import threads
from triage.base.os_signals import SignalHandler
from triage.domain.issue import Issue, Repository
from triage.domain.project_config import ProjectConfig
from triage.domain.run import Status
from triage.domain.task import (
    AnswerTask,
    BacklogTask,
    FixTask,
    QuietTask,
    ScorecardTask,
    Skip,
    Task,
    TriageTask,
)
from triage.events.payload import parse_issue
from triage.fix import fix_wiring
from triage.jobs.flow_context import FlowContext, FlowResult
from triage.jobs.triage_issue import run_task

READING_SHARE = 0.4
"""Share of the run's time in which GitHub must have answered all questions before the agents start."""
MIN_READING_SECONDS = 1.0
WRITING_SECONDS = 15.0
"""Added to the run's time for writing. A comment takes one or two seconds, unless GitHub asks us to wait."""
LOCAL_WRITE_SECONDS = 0.5
"""Reserved after a signal for the files on this machine."""


@dataclass(frozen=True)
class EventRun:
    """One event of the runner, and what came with it."""

    setup: RunSetup
    payload: Mapping[str, Any]
    actions: ActionsContext
    signals: SignalHandler
    cancelled: asyncio.Event


async def run_event_task(run: EventRun, route: Callable[[ProjectConfig], Task]) -> FlowResult:
    """Triage, or do what else the event asks for; `route` says what, under the project's own settings."""
    # Reading them takes a git process.
    run = replace(run, setup=await threads.run_in_daemon_thread(run.setup.with_project_config))
    task = route(run.setup.config)
    event_issue = parse_issue(run.payload) if isinstance(task, TriageTask | QuietTask | AnswerTask) else None
    context = _build_flow_context(run, event_issue)
    return await run_task(task, context)


async def run_fix_task(run: EventRun, task: FixTask | Skip) -> FlowResult:
    """Do what the job of the fix flow does with the event."""
    from triage.fix.jobs.fix_flow import FixFlow  # a triage needs none of it
    from triage.fix.jobs.run_fix_job import run_fix_job

    settings = run.setup.settings
    setup = await threads.run_in_daemon_thread(run.setup.with_project_config)
    setup = replace(setup, settings=settings.with_fix_limits())
    context = _build_flow_context(replace(run, setup=setup), parse_issue(run.payload))
    flow = FixFlow(
        context,
        store=fix_wiring.build_proposal_store(setup),
        open_files=partial(fix_wiring.open_base_files, setup),
        read_result=partial(fix_wiring.read_proposal_file, setup),
        write_result=partial(fix_wiring.write_proposal_file, setup),
        approvers=settings.approvers,
        tests=settings.proposal_tests,
        run_url=setup.environment.run_url,
    )
    return await run_fix_job(settings.fix, task, flow)


async def run_scorecard_task(run: EventRun, task: ScorecardTask) -> FlowResult:
    """Count what came of the comments on closed issues. The event does not matter."""
    from triage.backtest.make_scorecard import make_scorecard, open_scorecard  # a triage needs none of it

    job = open_scorecard(run.setup, task.since, run.setup.settings.issue_number)
    return await make_scorecard(job, _build_flow_context(run, None))


async def run_backlog_task(run: EventRun, task: BacklogTask) -> Status:
    """Do one job of a backlog. The event does not matter."""
    from triage.backlog.backlog_job import run_backlog_job  # a triage needs none of it

    run = replace(run, setup=await threads.run_in_daemon_thread(run.setup.with_project_config))
    return await run_backlog_job(task.stage, run.setup, _build_flow_context(run, None))


def _build_flow_context(run: EventRun, event_issue: Issue | None) -> FlowContext:
    setup, actions, signals = run.setup, run.actions, run.signals
    settings, environment = setup.settings, setup.environment
    run_seconds = settings.limits().run_seconds

    def github_seconds_left() -> float:
        return max(MIN_READING_SECONDS, setup.started + run_seconds * READING_SHARE - time.monotonic())

    def seconds_left() -> float:
        after_run = setup.started + run_seconds + WRITING_SECONDS - time.monotonic()
        return min(after_run, signals.seconds_left() - LOCAL_WRITE_SECONDS)

    return FlowContext(
        github=wiring.build_github(setup),
        approvals=wiring.build_issue_approvals(setup),
        runner=actions.runner,
        progress=actions.log,
        policy=settings.policy(),
        repository=Repository(slug=setup.repository, server_url=environment.server_url),
        open_services=partial(wiring.open_services, setup),
        open_rules_services=partial(wiring.open_services, setup.with_rules_engine()),
        open_offline_services=partial(wiring.open_offline_services, setup),
        max_model_runs=settings.max_model_runs_per_day if settings.effective_engine == "model" else None,
        now=wiring.utc_now,
        cancelled=run.cancelled,
        event_issue=event_issue and actions.redactor.redact_model("issue", event_issue),
        config=setup.config,
        seconds_left=seconds_left,
        github_seconds_left=github_seconds_left,
    )
