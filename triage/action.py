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
from triage.domain.project_config import Config
from triage.domain.run import Status
from triage.domain.task import Skip, Task, WarmIndex
from triage.errors import BadConfig, BadInput, TriageError, where
from triage.events.payload import issue_of
from triage.events.route import route
from triage.flows.flow_context import Desk, Ending
from triage.flows.triage_issue import carry_out
from triage.flows.warm_index import warm
from triage.os_signals import Signals
from triage.ports import Services
from triage.publish.apply_effects import perform
from triage.publish.plan_effects import NOTHING, failed
from triage.publish.redacting import ScreenedGitHub, WayOut
from triage.settings import RunnerEnvironment, Settings, own_secrets
from triage.wiring import Actions

READING_SHARE = 0.4
"""Of the run's time, for all that GitHub is asked before the work begins."""
LEAST_READING_SECONDS = 1.0
GRACE_SECONDS = 15.0
"""Beyond the run's time, for writing: a comment takes one or two, unless GitHub asks to wait."""
WRITE_OUT_SECONDS = 0.5
"""Kept, after a signal, for what is written on this machine."""
CUT_SHORT = """## Bug triage: not done

The run was cancelled, and what it had found by then could not be written in time.
"""


def main(
    environ: Mapping[str, str] = os.environ,
    signals: Signals | None = None,
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
    heard = signals or Signals()
    secrets = own_secrets(environ)
    place, complaint = _place(environ)
    actions = wiring.actions(place, log or sys.stdout, WayOut(secrets))
    heard.before_the_end(lambda: _cut_short(actions))
    with actions.guarded:
        actions.log.add_masks(secrets)  # before anything else is said
        for warning in warnings:
            actions.runner.annotate("warning", warning)
        code = _guarded(environ, place, complaint, actions, heard)
        if told := actions.way_out.warning:
            actions.runner.annotate("warning", told)
    return 128 + heard.number if heard.number else code


def _place(environ: Mapping[str, str]) -> tuple[RunnerEnvironment, str]:
    """Where we run, and what is wrong with it: even a complaint needs the runner's files to be told."""
    try:
        return RunnerEnvironment.read(environ), ""
    except BadInput as error:
        return RunnerEnvironment.outlets(environ), str(error)


def _guarded(
    environ: Mapping[str, str], place: RunnerEnvironment, complaint: str, actions: Actions, signals: Signals
) -> int:
    try:
        if complaint:
            raise BadInput(complaint)
        ending = threads.run(_run(environ, place, actions, signals))
    except BadConfig as error:
        return _fail(actions, str(error), Span(path=error.path, start=error.line, end=error.line))
    except TriageError as error:
        return _fail(actions, str(error))
    except Exception as error:  # noqa: BLE001 - the root: a bug of ours must not end in a bare traceback
        return _fail(actions, f"Internal error: {where(error)}. This is a bug in the action; please report it.")
    return 1 if ending.status is Status.FAILED else 0


async def _run(environ: Mapping[str, str], place: RunnerEnvironment, actions: Actions, signals: Signals) -> Ending:
    started = time.monotonic()
    cancelled = _cancelled_by(signals)
    settings = Settings.from_runner(environ)
    for warning in [*settings.warnings, *place.warnings]:
        actions.runner.annotate("warning", warning)
    payload = wiring.payload(place)
    task, config = await _task(settings, place, payload)
    told = None if isinstance(task, Skip | WarmIndex) else issue_of(payload)
    told = told and actions.way_out.model("issue", told)
    desk = _desk(settings, config, place, actions, started, told, signals)
    return await (warm(desk, cancelled) if isinstance(task, WarmIndex) else carry_out(task, desk, cancelled))


async def _task(
    settings: Settings, place: RunnerEnvironment, payload: Mapping[str, Any]
) -> tuple[Task | WarmIndex, Config]:
    """What the event asks for, under the project's own settings; they are read only where there may be work."""
    keeps_index = bool(settings.cache_dir)
    task = route(place.event_name, payload, settings.issue_number, config=None, keeps_index=keeps_index)
    if isinstance(task, Skip):
        return task, Config()
    config = await threads.in_daemon_thread(lambda: wiring.config(settings, place.workspace or Path.cwd()))
    return route(place.event_name, payload, settings.issue_number, config, keeps_index=keeps_index), config


def _cancelled_by(signals: Signals) -> asyncio.Event:
    """Set at the first signal, which another thread hears."""
    loop, cancelled = asyncio.get_running_loop(), asyncio.Event()

    def hear() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: everything is done
            loop.call_soon_threadsafe(cancelled.set)

    signals.tell(hear)
    return cancelled


def _desk(
    settings: Settings,
    config: Config,
    place: RunnerEnvironment,
    actions: Actions,
    started: float,
    told: Issue | None,
    signals: Signals,
) -> Desk:
    if not place.repository:
        raise BadInput("GITHUB_REPOSITORY is not set: this runs inside GitHub Actions; use the command line elsewhere.")
    root = place.workspace or Path.cwd()
    run_seconds = settings.limits().run_seconds
    read_by, written_by = started + run_seconds * READING_SHARE, started + run_seconds + GRACE_SECONDS

    def made_of(inputs: Settings) -> Services:
        return wiring.services(
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
            way_out=actions.way_out,
        )

    return Desk(
        github=ScreenedGitHub(wiring.github(settings, place.repository, place.api_url, place.network), actions.way_out),
        runner=actions.runner,
        journal=actions.log,
        policy=settings.policy(),
        repository=Repository(slug=place.repository, server_url=place.server_url),
        services=lambda: made_of(settings),
        by_rules=lambda: made_of(settings.by_rules()),
        most_model_runs=settings.max_model_runs_per_day if settings.engine_chosen == "model" else None,
        idle=lambda: wiring.idle_services(
            settings, actions.log, root, place.repository, config=config, run_url=place.run_url, started=started
        ),
        now=wiring.now,
        told=told,
        config=config,
        seconds_left=lambda: min(written_by - time.monotonic(), signals.seconds_left() - WRITE_OUT_SECONDS),
        reading_seconds=lambda: max(LEAST_READING_SECONDS, read_by - time.monotonic()),
    )


def _fail(actions: Actions, message: str, at: Span | None = None) -> int:
    perform(failed(message, at), None, actions.runner)
    return 1


def _cut_short(actions: Actions) -> None:
    """The last words of a cancelled run that is stuck: whoever reads the job's page must find something."""
    if not actions.runner.told:
        actions.runner.outputs(NOTHING | {"status": Status.DEGRADED.value})
        actions.runner.summary(CUT_SHORT)
