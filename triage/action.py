"""The action: reads one event of the runner, does what it asks for, returns an exit code.

    read    inputs, event payload, project settings                     here
    route   the payload to a task, or to the reason for skipping it     run.may_run.route
    work    fetch the issue, check who may ask, run the agents          run.triage_issue, graph
    write   comment, labels, job summary, report                        run.write, say

Exit code 0: done, skipped or degraded; 1: failed, the error is one line in the log; 130 and 143: cancelled.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, TextIO

from triage.app.app import App
from triage.app.open_app import JobOutput, open_job_app, open_job_output
from triage.app.settings.runner_environment import check_input_names
from triage.app.settings.secret_inputs import collect_own_secrets
from triage.base import threads
from triage.base.errors import BadConfig, TriageError, error_location
from triage.base.os_signals import SignalHandler
from triage.domain.code import Span
from triage.domain.run import Status
from triage.domain.task import FixTask, QuietTask, ReproduceTask, Skip, TriageTask
from triage.run.may_run.event import parse_event
from triage.run.may_run.route import route_event
from triage.run.write.apply_job_effects import apply_job_effects
from triage.say.notices import plan_failure, plan_skip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triage.domain.task import Task
    from triage.run.job_context import JobContext

WITHOUT_PROJECT_CONFIG = ("scorecard", "doctor")
"""Tasks that the project's settings do not change: errors in them are what `doctor` looks for."""
CANCELLED_SUMMARY = """## Bug triage: not done

The run was cancelled, and what it had found by then could not be written in time.
"""


def main(
    environ: Mapping[str, str] = os.environ,
    signals: SignalHandler | None = None,
    log: TextIO | None = None,
    warnings: Sequence[str] = (),
) -> int:
    """Run the action and return the exit code. Never raises.

    By default nothing receives signals, and log lines go to standard output. `warnings` are problems of the start.
    """
    signals = signals or SignalHandler()
    output = open_job_output(environ, log or sys.stdout)
    signals.before_forced_exit(lambda: _write_cancelled_summary(output))
    output.log.add_masks(collect_own_secrets(environ))  # before any other line
    for warning in warnings:
        output.annotate("warning", warning)
    try:
        status = threads.run_event_loop(handle_event(environ, output, signals))
    except BadConfig as error:
        status = _report_failure(output, str(error), Span(path=error.path, start=error.line, end=error.line))
    except TriageError as error:
        status = _report_failure(output, str(error))
    except Exception as error:  # noqa: BLE001 - the root: our own bug must not end in a bare traceback
        message = f"Internal error: {error_location(error)}. This is a bug in the action; please report it."
        status = _report_failure(output, message)
    if warning := output.redactor.warning:
        output.annotate("warning", warning)
    return 128 + signals.signal_number if signals.signal_number else int(status is Status.FAILED)


async def handle_event(environ: Mapping[str, str], output: JobOutput, signals: SignalHandler) -> Status:
    """Do what the runner's event asks for. Raises SetupError for what the workflow's author must fix."""
    cancelled = signals.cancel_on_signal()

    # Read
    check_input_names(environ)
    app = open_job_app(environ, output)
    for warning in app.environment.warnings:
        output.annotate("warning", warning)
    payload = app.read_event()

    # Route
    task = route_event(app.environment.event_name, payload, app.settings.issue_number, app.settings.task)
    if isinstance(task, Skip):
        output.log.info(f"Nothing to do: {task.reason}")
        apply_job_effects(plan_skip(task.reason), output)
        return Status.SKIPPED

    # Work and write. Loading a job takes longer than skipping an event.
    from triage.app.settings.network_settings import prepare_network

    for warning in prepare_network(environ):
        output.annotate("warning", warning)
    app = await threads.in_thread(app.with_checkout_folder)
    if app.settings.task not in WITHOUT_PROJECT_CONFIG:
        app = await threads.in_thread(app.with_project_config)
    event = parse_event(payload) if task else None
    return await run_job(task, app, app.make_job_context(output, event, cancelled, signals.seconds_left))


async def run_job(task: Task | None, app: App, context: JobContext) -> Status:
    """Run the job of the workflow's task, for what its event asks; None if it needs no event."""
    name = app.settings.task
    if name == "scorecard":
        from triage.backtest.scorecard import make_scorecard

        return await make_scorecard(app, context)
    if name == "doctor":
        from triage.app.doctor import run_doctor

        return await run_doctor(app, context)
    if name.startswith("backlog-"):
        from triage.backlog.backlog_job import run_backlog_job

        return await run_backlog_job(name, app, context)
    if isinstance(task, ReproduceTask):
        from triage.reproduce.jobs.run_reproduce_job import open_reproduce_job, run_reproduce_job

        return await run_reproduce_job(name, task, open_reproduce_job(app, context))
    if isinstance(task, FixTask):
        from triage.fix.jobs.run_fix_job import open_fix_job, run_fix_job
        from triage.reproduce.fix_example import open_fix_example

        open_example = partial(open_fix_example, app.root, app.config.reproduce)
        return await run_fix_job(name, task, open_fix_job(app, context, open_example))
    from triage.run.triage_issue import run_task

    assert isinstance(task, TriageTask | QuietTask)
    return await run_task(task, context)


def _write_cancelled_summary(output: JobOutput) -> None:
    """For a cancelled run that is stuck: the job's page must not stay empty."""
    if not output.has_written_summary:
        output.write_outputs({"status": Status.DEGRADED.value})
        output.write_summary(CANCELLED_SUMMARY)


def _report_failure(output: JobOutput, message: str, at: Span | None = None) -> Status:
    apply_job_effects(plan_failure(message, at), output)
    return Status.FAILED
