"""The action: reads one event of the runner, does what it asks for, returns an exit code.

    read    inputs, event payload, project settings                     here
    route   the payload to a task, or to the reason for skipping it     events.route
    work    fetch the issue, check who may ask, run the agents          jobs.triage_issue, graph
    write   comment, labels, job summary, report                        jobs.write_results, writes, comment, job_page

Exit code 0: done, skipped or degraded; 1: failed, the error is one line in the log; 130 and 143: cancelled.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from triage.app import runner_wiring
from triage.app.runner_wiring import ActionsContext
from triage.app.settings import RunnerEnvironment, Settings, collect_own_secrets
from triage.base import threads
from triage.base.errors import BadConfig, BadInput, TriageError, error_location
from triage.base.os_signals import SignalHandler
from triage.domain.code import Span
from triage.domain.run import Status
from triage.domain.task import BacklogTask, FixTask, ScorecardTask, Skip, Task
from triage.events.route import route_event
from triage.fix.route_fix import route_fix_event
from triage.job_page.notices import EMPTY_OUTPUTS, plan_failure, plan_skip
from triage.safety.secrets.redactor import SecretRedactor
from triage.writes.apply_local_effects import apply_local_effects
from triage.writes.redacting_runner import RedactingRunner

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
    secrets = collect_own_secrets(environ)
    output_paths = RunnerEnvironment.read_output_paths(environ)
    actions = runner_wiring.open_actions(output_paths, log or sys.stdout, SecretRedactor(secrets))
    signals.before_forced_exit(lambda: _write_cancelled_summary(actions.runner))
    with actions.library_output_capture:
        actions.log.add_masks(secrets)  # before any other line
        for warning in warnings:
            actions.runner.annotate("warning", warning)
        exit_code = _run_and_report_errors(environ, actions, signals)
        if warning := actions.redactor.warning:
            actions.runner.annotate("warning", warning)
    return 128 + signals.signal_number if signals.signal_number else exit_code


def _run_and_report_errors(environ: Mapping[str, str], actions: ActionsContext, signals: SignalHandler) -> int:
    try:
        status = threads.run_event_loop(handle_event(environ, actions, signals))
    except BadConfig as error:
        return _report_failure(actions, str(error), Span(path=error.path, start=error.line, end=error.line))
    except TriageError as error:
        return _report_failure(actions, str(error))
    except Exception as error:  # noqa: BLE001 - the root: our own bug must not end in a bare traceback
        message = f"Internal error: {error_location(error)}. This is a bug in the action; please report it."
        return _report_failure(actions, message)
    return 1 if status is Status.FAILED else 0


async def handle_event(environ: Mapping[str, str], actions: ActionsContext, signals: SignalHandler) -> Status:
    """Do what the runner's event asks for. Raises SetupError for what the workflow's author must fix."""
    started, cancelled = time.monotonic(), _cancel_on_signal(signals)

    # Read
    environment = RunnerEnvironment.read(environ)
    settings = Settings.from_runner(environ)
    if not environment.repository:
        raise BadInput("GITHUB_REPOSITORY is not set. Outside GitHub Actions, use the command line.")
    for warning in [*settings.warnings, *environment.warnings]:
        actions.runner.annotate("warning", warning)
    payload = runner_wiring.read_payload(environment)

    # Route
    event = (environment.event_name, payload, settings.issue_number)
    route = partial(route_event, *event)
    if settings.backlog != "off":
        task: Task | FixTask | ScorecardTask | BacklogTask = BacklogTask(stage=settings.backlog)
    elif settings.scorecard:
        task = ScorecardTask(since=settings.scorecard)
    else:
        task = route(config=None) if settings.fix == "off" else route_fix_event(*event)
    if isinstance(task, Skip):
        actions.log.info(f"Nothing to do: {task.reason}")
        apply_local_effects(plan_skip(task.reason), actions.runner)
        return Status.SKIPPED

    # Work and write
    from triage.action_tasks import EventRun, run_backlog_task, run_event_task, run_fix_task, run_scorecard_task
    from triage.app.wiring import RunSetup

    setup = RunSetup(
        settings=settings,
        environment=environment,
        root=environment.workspace or Path.cwd(),
        repository=environment.repository,
        progress=actions.log,
        redactor=actions.redactor,
        started=started,
    )
    run = EventRun(setup, payload, actions, signals, cancelled)
    if isinstance(task, BacklogTask):
        return await run_backlog_task(run, task)
    if isinstance(task, ScorecardTask):
        return (await run_scorecard_task(run, task)).status
    if isinstance(task, FixTask):
        return (await run_fix_task(run, task)).status
    return (await run_event_task(run, lambda config: route(config=config))).status


def _cancel_on_signal(signals: SignalHandler) -> asyncio.Event:
    loop, cancelled = asyncio.get_running_loop(), asyncio.Event()

    def set_from_other_thread() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(cancelled.set)

    signals.on_signal(set_from_other_thread)
    return cancelled


def _write_cancelled_summary(runner: RedactingRunner) -> None:
    """For a cancelled run that is stuck: the job's page must not stay empty."""
    if not runner.has_written_summary:
        runner.write_outputs(EMPTY_OUTPUTS | {"status": Status.DEGRADED.value})
        runner.write_summary(CANCELLED_SUMMARY)


def _report_failure(actions: ActionsContext, message: str, at: Span | None = None) -> int:
    apply_local_effects(plan_failure(message, at), actions.runner)
    return 1
