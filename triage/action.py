"""The action: reads one event of the runner, does what it asks for, returns an exit code.

    read    inputs, event payload, project settings                     here
    route   the payload to a task, or to the reason for skipping it     run.may_run.route
    work    fetch the issue, check who may ask, run the agents          run.triage_issue, graph
    write   comment, labels, job summary, report                        run.write, say

Exit code 0: done, skipped or degraded; 1: failed, the error is one line in the log; 130 and 143: cancelled.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from triage.app.app import App
from triage.app.open_app import JobOutput, open_job_app, open_job_output
from triage.app.settings import collect_own_secrets, find_gone_inputs
from triage.base import threads
from triage.base.errors import BadConfig, TriageError, error_location
from triage.base.os_signals import SignalHandler
from triage.domain.code import Span
from triage.domain.run import Status
from triage.domain.task import FixTask, ReproduceTask, Skip, Task
from triage.run.may_run.route import route_event, route_fix_event, route_reproduce_event
from triage.run.write.apply_local_effects import apply_local_effects
from triage.say.notices import EMPTY_OUTPUTS, plan_failure, plan_skip

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
    exit_code = _run_and_report_errors(environ, output, signals)
    if warning := output.redactor.warning:
        output.annotate("warning", warning)
    return 128 + signals.signal_number if signals.signal_number else exit_code


def _run_and_report_errors(environ: Mapping[str, str], output: JobOutput, signals: SignalHandler) -> int:
    try:
        status = threads.run_event_loop(handle_event(environ, output, signals))
    except BadConfig as error:
        return _report_failure(output, str(error), Span(path=error.path, start=error.line, end=error.line))
    except TriageError as error:
        return _report_failure(output, str(error))
    except Exception as error:  # noqa: BLE001 - the root: our own bug must not end in a bare traceback
        message = f"Internal error: {error_location(error)}. This is a bug in the action; please report it."
        return _report_failure(output, message)
    return 1 if status is Status.FAILED else 0


async def handle_event(environ: Mapping[str, str], output: JobOutput, signals: SignalHandler) -> Status:
    """Do what the runner's event asks for. Raises SetupError for what the workflow's author must fix."""
    cancelled = _cancel_on_signal(signals)

    # Read
    app = open_job_app(environ, output)
    for warning in [*find_gone_inputs(environ), *app.warnings]:
        output.annotate("warning", warning)
    payload = app.read_event()

    # Route
    task = _route(app, payload)
    if isinstance(task, Skip):
        output.log.info(f"Nothing to do: {task.reason}")
        apply_local_effects(plan_skip(task.reason), output)
        return Status.SKIPPED

    # Work and write
    from triage.action_tasks import carry_out
    from triage.app.settings.network_settings import prepare_network

    for warning in prepare_network(environ):
        output.annotate("warning", warning)
    return await carry_out(task, app, output, payload, signals, cancelled)


def _route(app: App, payload: Mapping[str, Any]) -> Task | FixTask | ReproduceTask | None:
    """Return what the event asks of the task that the workflow chose; None if that task needs no event."""
    event = (app.environment.event_name, payload, app.settings.issue_number)
    if app.settings.task.startswith("fix-"):
        return route_fix_event(*event)
    if app.settings.task.startswith("reproduce-"):
        return route_reproduce_event(*event)
    return route_event(*event, config=None) if app.settings.task == "triage" else None


def _cancel_on_signal(signals: SignalHandler) -> asyncio.Event:
    loop, cancelled = asyncio.get_running_loop(), asyncio.Event()

    def set_from_other_thread() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(cancelled.set)

    signals.on_signal(set_from_other_thread)
    return cancelled


def _write_cancelled_summary(output: JobOutput) -> None:
    """For a cancelled run that is stuck: the job's page must not stay empty."""
    if not output.has_written_summary:
        output.write_outputs(EMPTY_OUTPUTS | {"status": Status.DEGRADED.value})
        output.write_summary(CANCELLED_SUMMARY)


def _report_failure(output: JobOutput, message: str, at: Span | None = None) -> int:
    apply_local_effects(plan_failure(message, at), output)
    return 1
