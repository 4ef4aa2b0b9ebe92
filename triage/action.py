"""Root: the runner's environment to an exit code.

Exit code 0: done, skipped or degraded; 1: somebody must mend something, said in one line; 130 and 143: cancelled.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from triage import threads, wiring
from triage.domain.code import Span
from triage.domain.issue import Issue, Repository
from triage.domain.project_config import ProjectConfig
from triage.domain.run import Status
from triage.domain.task import Skip, Task, WarmIndex
from triage.errors import BadConfig, BadInput, TriageError, error_location
from triage.events.payload import parse_issue
from triage.events.route import route_event
from triage.flows.flow_context import FlowContext, FlowResult
from triage.flows.triage_issue import run_task
from triage.flows.warm_index import warm_index
from triage.os_signals import SignalHandler
from triage.ports import Services
from triage.publish.apply_effects import apply_effects
from triage.publish.plan_effects import EMPTY_OUTPUTS, plan_failure
from triage.publish.redacting import RedactingGitHub
from triage.secrets.redactor import SecretRedactor
from triage.settings import RunnerEnvironment, Settings, collect_own_secrets
from triage.wiring import ActionsContext

READING_SHARE = 0.4
"""Of the run's time, for all that GitHub is asked before the work begins."""
MIN_READING_SECONDS = 1.0
GRACE_SECONDS = 15.0
"""Beyond the run's time, for writing: a comment takes one or two, unless GitHub asks to wait."""
LOCAL_WRITE_SECONDS = 0.5
"""Kept, after a signal, for what is written on this machine."""
CANCELLED_SUMMARY = """## Bug triage: not done

The run was cancelled, and what it had found by then could not be written in time.
"""


def main(
    environ: Mapping[str, str] = os.environ,
    signals: SignalHandler | None = None,
    log: TextIO | None = None,
    warnings: Sequence[str] = (),
) -> int:
    """Run the action. Never raises.

    Args:
        environ: What the runner told, secrets included.
        signals: Who listens; when not given, nobody.
        log: Where lines go; standard output when not given.
        warnings: What went wrong before, one sentence each.
    """
    heard = signals or SignalHandler()
    secrets = collect_own_secrets(environ)
    place, complaint = _place(environ)
    actions = wiring.open_actions(place, log or sys.stdout, SecretRedactor(secrets))
    heard.on_timeout(lambda: _write_cancelled_summary(actions))
    with actions.output_guard:
        actions.log.add_masks(secrets)  # before anything else is said
        for warning in warnings:
            actions.runner.annotate("warning", warning)
        code = _guarded(environ, place, complaint, actions, heard)
        if told := actions.redactor.warning:
            actions.runner.annotate("warning", told)
    return 128 + heard.signal_number if heard.signal_number else code


def _place(environ: Mapping[str, str]) -> tuple[RunnerEnvironment, str]:
    """Where we run, and what is wrong with it: even a complaint needs the runner's files to be told."""
    try:
        return RunnerEnvironment.read(environ), ""
    except BadInput as error:
        return RunnerEnvironment.read_output_paths(environ), str(error)


def _guarded(
    environ: Mapping[str, str],
    place: RunnerEnvironment,
    complaint: str,
    actions: ActionsContext,
    signals: SignalHandler,
) -> int:
    try:
        if complaint:
            raise BadInput(complaint)
        ending = threads.run_event_loop(_run(environ, place, actions, signals))
    except BadConfig as error:
        return _report_failure(actions, str(error), Span(path=error.path, start=error.line, end=error.line))
    except TriageError as error:
        return _report_failure(actions, str(error))
    except Exception as error:  # noqa: BLE001 - the root: a bug of ours must not end in a bare traceback
        return _report_failure(
            actions, f"Internal error: {error_location(error)}. This is a bug in the action; please report it."
        )
    return 1 if ending.status is Status.FAILED else 0


async def _run(
    environ: Mapping[str, str], place: RunnerEnvironment, actions: ActionsContext, signals: SignalHandler
) -> FlowResult:
    started = time.monotonic()
    cancelled = _cancelled_by(signals)
    settings = Settings.from_runner(environ)
    for warning in [*settings.warnings, *place.warnings]:
        actions.runner.annotate("warning", warning)
    payload = wiring.read_payload(place)
    task, config = await _task(settings, place, payload)
    told = None if isinstance(task, Skip | WarmIndex) else parse_issue(payload)
    told = told and actions.redactor.redact_model("issue", told)
    desk = _desk(settings, config, place, actions, started, told, signals)
    return await (warm_index(desk, cancelled) if isinstance(task, WarmIndex) else run_task(task, desk, cancelled))


async def _task(
    settings: Settings, place: RunnerEnvironment, payload: Mapping[str, Any]
) -> tuple[Task | WarmIndex, ProjectConfig]:
    """What the event asks for, under the project's own settings; they are read only where there may be work."""
    keeps_index = bool(settings.cache_dir)
    task = route_event(place.event_name, payload, settings.issue_number, config=None, keeps_index=keeps_index)
    if isinstance(task, Skip):
        return task, ProjectConfig()
    config = await threads.run_in_daemon_thread(
        lambda: wiring.read_project_config(settings, place.workspace or Path.cwd())
    )
    return route_event(place.event_name, payload, settings.issue_number, config, keeps_index=keeps_index), config


def _cancelled_by(signals: SignalHandler) -> asyncio.Event:
    """Set at the first signal, which another thread hears."""
    loop, cancelled = asyncio.get_running_loop(), asyncio.Event()

    def hear() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: everything is done
            loop.call_soon_threadsafe(cancelled.set)

    signals.on_signal(hear)
    return cancelled


def _desk(
    settings: Settings,
    config: ProjectConfig,
    place: RunnerEnvironment,
    actions: ActionsContext,
    started: float,
    told: Issue | None,
    signals: SignalHandler,
) -> FlowContext:
    if not place.repository:
        raise BadInput("GITHUB_REPOSITORY is not set: this runs inside GitHub Actions; use the command line elsewhere.")
    root = place.workspace or Path.cwd()
    run_seconds = settings.limits().run_seconds
    read_by, written_by = started + run_seconds * READING_SHARE, started + run_seconds + GRACE_SECONDS

    def made_of(inputs: Settings) -> Services:
        return wiring.build_services(
            inputs,
            actions.log,
            root,
            place.repository,
            config=config,
            run_url=place.run_url,
            tavily_base_url=place.tavily_base_url,
            network=place.network,
            collector=place.collector,
            started=started,
            way_out=actions.redactor,
        )

    return FlowContext(
        github=RedactingGitHub(
            wiring.build_github(settings, place.repository, place.api_url, place.network), actions.redactor
        ),
        runner=actions.runner,
        progress=actions.log,
        policy=settings.policy(),
        repository=Repository(slug=place.repository, server_url=place.server_url),
        open_services=lambda: made_of(settings),
        open_rules_services=lambda: made_of(settings.with_rules_engine()),
        max_model_runs=settings.max_model_runs_per_day if settings.effective_engine == "model" else None,
        open_idle_services=lambda: wiring.build_idle_services(
            settings, actions.log, root, place.repository, config=config, run_url=place.run_url, started=started
        ),
        now=wiring.utc_now,
        event_issue=told,
        config=config,
        seconds_left=lambda: min(written_by - time.monotonic(), signals.seconds_left() - LOCAL_WRITE_SECONDS),
        read_seconds_left=lambda: max(MIN_READING_SECONDS, read_by - time.monotonic()),
    )


def _report_failure(actions: ActionsContext, message: str, at: Span | None = None) -> int:
    apply_effects(plan_failure(message, at), None, actions.runner)
    return 1


def _write_cancelled_summary(actions: ActionsContext) -> None:
    """The last words of a cancelled run that is stuck: whoever reads the job's page must find something."""
    if not actions.runner.has_written_summary:
        actions.runner.write_outputs(EMPTY_OUTPUTS | {"status": Status.DEGRADED.value})
        actions.runner.write_summary(CANCELLED_SUMMARY)
