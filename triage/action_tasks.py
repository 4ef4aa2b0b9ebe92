"""Carries out what an event asks for: opens what a job acts through, and runs the job.

Apart from `action`, which imports it last: with all jobs it takes longer than skipping an event.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from triage.app.app import App
from triage.base import threads
from triage.base.os_signals import SignalHandler
from triage.domain.run import Status
from triage.domain.task import FixTask, QuietTask, ReproduceTask, Task, TriageTask
from triage.run.may_run.payload import parse_issue
from triage.run.may_run.route import route_event
from triage.run.run_context import Output
from triage.run.triage_issue import run_task


async def carry_out(
    task: Task | FixTask | ReproduceTask | None,
    app: App,
    output: Output,
    payload: Mapping[str, Any],
    signals: SignalHandler,
    cancelled: asyncio.Event,
) -> Status:
    """Run the job of the workflow's task, for what its event asks; None if it needs no event.

    Raises SetupError for what the workflow's author must fix.
    """
    app = await threads.in_thread(app.with_checkout_folder)
    open_run = partial(App.open_run, output=output, cancelled=cancelled, seconds_until_killed=signals.seconds_left)
    name = app.settings.task
    if name == "scorecard":
        from triage.backtest.make_scorecard import make_scorecard  # a triage needs none of it

        return (await make_scorecard(app, open_run(app))).status
    if name == "doctor":
        from triage.app.doctor.doctor_command import run_doctor

        return (await run_doctor(app, open_run(app))).status
    # Reading them takes a git process.
    app = await threads.in_thread(app.with_project_config)
    if name.startswith("backlog-"):
        from triage.backlog.backlog_job import run_backlog_job  # as above

        return await run_backlog_job(name, app, open_run(app))
    if isinstance(task, ReproduceTask):
        from triage.reproduce.jobs.run_reproduce_job import open_reproduce_job, run_reproduce_job  # as above

        job = open_reproduce_job(app, open_run(app, event_issue=parse_issue(payload)))
        return (await run_reproduce_job(name, task, job)).status
    if isinstance(task, FixTask):
        from triage.fix.jobs.run_fix_job import open_fix_job, run_fix_job  # as above
        from triage.reproduce.fix_example import open_fix_example

        open_example = partial(open_fix_example, app.root, app.config.reproduce)
        fix_job = open_fix_job(app, open_run(app, event_issue=parse_issue(payload)), open_example)
        return (await run_fix_job(name, task, fix_job)).status
    # Once more: the project's own settings may skip the event.
    task = route_event(app.environment.event_name, payload, app.settings.issue_number, app.config)
    is_about_an_issue = isinstance(task, TriageTask | QuietTask)
    event_issue = parse_issue(payload) if is_about_an_issue else None
    return (await run_task(task, open_run(app, event_issue=event_issue))).status
