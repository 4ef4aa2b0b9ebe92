"""The action: reads one event of the runner, does what it asks for, returns an exit code.

    read    inputs, event payload, project settings                     here
    route   the payload to a task, or to the reason for skipping it     events.route
    work    fetch the issue, check who may ask, run the agents          flows.triage_issue, graph
    write   comment, labels, job summary, report                        flows.write_results, publish

Exit code 0: done, skipped or degraded; 1: failed, the error is one line in the log; 130 and 143: cancelled.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from triage import fix_wiring, threads, wiring
from triage.domain.code import Span
from triage.domain.issue import Issue, Repository
from triage.domain.run import Status
from triage.domain.task import AnswerTask, QuietTask, Skip, TriageTask, WarmIndex
from triage.errors import BadConfig, BadInput, TriageError, error_location
from triage.events.payload import parse_issue
from triage.events.route import route_event
from triage.events.route_fix import route_fix_event
from triage.flows.flow_context import FlowContext, FlowResult
from triage.flows.triage_issue import run_task
from triage.flows.warm_index import warm_index
from triage.os_signals import SignalHandler
from triage.publish.apply_effects import apply_local_effects
from triage.publish.plan_effects import EMPTY_OUTPUTS, plan_failure
from triage.publish.redacting import RedactingRunner
from triage.secrets.redactor import SecretRedactor
from triage.settings import RunnerEnvironment, Settings, collect_own_secrets
from triage.wiring import ActionsContext, RunSetup

READING_SHARE = 0.4
"""Share of the run's time in which GitHub must have answered all questions before the agents start."""
MIN_READING_SECONDS = 1.0
WRITING_SECONDS = 15.0
"""Added to the run's time for writing. A comment takes one or two seconds, unless GitHub asks us to wait."""
LOCAL_WRITE_SECONDS = 0.5
"""Reserved after a signal for the files on this machine."""
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
    actions = wiring.open_actions(output_paths, log or sys.stdout, SecretRedactor(secrets))
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
        result = threads.run_event_loop(handle_event(environ, actions, signals))
    except BadConfig as error:
        return _report_failure(actions, str(error), Span(path=error.path, start=error.line, end=error.line))
    except TriageError as error:
        return _report_failure(actions, str(error))
    except Exception as error:  # noqa: BLE001 - the root: our own bug must not end in a bare traceback
        message = f"Internal error: {error_location(error)}. This is a bug in the action; please report it."
        return _report_failure(actions, message)
    return 1 if result.status is Status.FAILED else 0


async def handle_event(environ: Mapping[str, str], actions: ActionsContext, signals: SignalHandler) -> FlowResult:
    """Do what the runner's event asks for. Raises SetupError for what the workflow's author must fix."""
    cancelled = _cancel_on_signal(signals)

    # Read
    setup = _read_setup(environ, actions)
    for warning in [*setup.settings.warnings, *setup.environment.warnings]:
        actions.runner.annotate("warning", warning)
    payload = wiring.read_payload(setup.environment)

    if setup.settings.fix != "off":
        return await _handle_fix_event(setup, payload, actions, signals, cancelled)

    # Route
    route = partial(
        route_event,
        setup.environment.event_name,
        payload,
        setup.settings.issue_number,
        has_index_cache=bool(setup.settings.cache_dir),
    )
    task = route(config=None)
    if not isinstance(task, Skip):  # reading the project's settings takes a git process
        setup = await threads.run_in_daemon_thread(setup.with_project_config)
        task = route(config=setup.config)

    # Work and write
    event_issue = parse_issue(payload) if isinstance(task, TriageTask | QuietTask | AnswerTask) else None
    context = _build_flow_context(setup, actions, signals, cancelled, event_issue)
    if isinstance(task, WarmIndex):
        return await warm_index(context)
    return await run_task(task, context)


async def _handle_fix_event(
    setup: RunSetup,
    payload: Mapping[str, Any],
    actions: ActionsContext,
    signals: SignalHandler,
    cancelled: asyncio.Event,
) -> FlowResult:
    from triage.flows.fix.fix_flow import FixFlow  # a triage needs none of it
    from triage.flows.fix.run_fix_job import run_fix_job

    settings = setup.settings
    task = route_fix_event(setup.environment.event_name, payload, settings.issue_number)
    if not isinstance(task, Skip):
        setup = await threads.run_in_daemon_thread(setup.with_project_config)
    setup = replace(setup, settings=settings.with_fix_limits())
    event_issue = None if isinstance(task, Skip) else parse_issue(payload)
    context = _build_flow_context(setup, actions, signals, cancelled, event_issue)
    flow = FixFlow(
        context,
        store=fix_wiring.build_proposal_store(setup),
        open_files=partial(fix_wiring.open_base_files, setup),
        find_owners=fix_wiring.open_code_owners(setup),
        read_result=partial(fix_wiring.read_proposal_file, setup),
        write_result=partial(fix_wiring.write_proposal_file, setup),
        approvers=settings.approvers,
        tests=settings.proposal_tests,
        run_url=setup.environment.run_url,
    )
    return await run_fix_job(settings.fix, task, flow)


def _cancel_on_signal(signals: SignalHandler) -> asyncio.Event:
    loop, cancelled = asyncio.get_running_loop(), asyncio.Event()

    def set_from_other_thread() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(cancelled.set)

    signals.on_signal(set_from_other_thread)
    return cancelled


def _read_setup(environ: Mapping[str, str], actions: ActionsContext) -> RunSetup:
    environment = RunnerEnvironment.read(environ)
    settings = Settings.from_runner(environ)
    if not environment.repository:
        raise BadInput("GITHUB_REPOSITORY is not set. Outside GitHub Actions, use the command line.")
    return RunSetup(
        settings=settings,
        environment=environment,
        root=environment.workspace or Path.cwd(),
        repository=environment.repository,
        progress=actions.log,
        redactor=actions.redactor,
    )


def _build_flow_context(
    setup: RunSetup,
    actions: ActionsContext,
    signals: SignalHandler,
    cancelled: asyncio.Event,
    event_issue: Issue | None,
) -> FlowContext:
    settings, environment = setup.settings, setup.environment
    run_seconds = settings.limits().run_seconds

    def github_seconds_left() -> float:
        return max(MIN_READING_SECONDS, setup.started + run_seconds * READING_SHARE - time.monotonic())

    def seconds_left() -> float:
        after_run = setup.started + run_seconds + WRITING_SECONDS - time.monotonic()
        return min(after_run, signals.seconds_left() - LOCAL_WRITE_SECONDS)

    return FlowContext(
        github=wiring.build_github(setup),
        approvals=fix_wiring.build_issue_approvals(setup),
        runner=actions.runner,
        progress=actions.log,
        policy=settings.policy(),
        repository=Repository(slug=setup.repository, server_url=environment.server_url),
        open_services=partial(wiring.open_services, setup),
        open_rules_services=partial(wiring.open_services, setup.with_rules_engine()),
        open_offline_services=partial(wiring.open_offline_services, setup),
        max_model_runs=settings.max_model_runs_per_day if settings.effective_engine == "model" else None,
        now=wiring.utc_now,
        cancelled=cancelled,
        event_issue=event_issue and actions.redactor.redact_model("issue", event_issue),
        config=setup.config,
        seconds_left=seconds_left,
        github_seconds_left=github_seconds_left,
    )


def _write_cancelled_summary(runner: RedactingRunner) -> None:
    """For a cancelled run that is stuck: the job's page must not stay empty."""
    if not runner.has_written_summary:
        runner.write_outputs(EMPTY_OUTPUTS | {"status": Status.DEGRADED.value})
        runner.write_summary(CANCELLED_SUMMARY)


def _report_failure(actions: ActionsContext, message: str, at: Span | None = None) -> int:
    apply_local_effects(plan_failure(message, at), actions.runner)
    return 1
