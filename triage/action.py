"""Root: the runner's environment to an exit code.

Exit code 0: done, skipped or degraded; 1: somebody must mend something, said in one line; 130 and 143: cancelled.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

from triage import wiring
from triage.domain.issue import Issue, Repository
from triage.domain.run import Status
from triage.domain.task import TriageIssue
from triage.errors import BadInput, TriageError
from triage.events.payload import issue_of
from triage.events.route import route
from triage.flows.issue import Desk, Ending, carry_out
from triage.publish.perform import perform
from triage.publish.plan import failed
from triage.settings import RunnerEnvironment, Settings
from triage.wiring import Actions

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""How the runner cancels a job: SIGINT, 7.5 s later SIGTERM, 2.5 s later it kills (ProcessInvoker.cs)."""

LAST_SECONDS = 3.5
"""From a signal to the end: the runner kills after ten."""


def main(environ: Mapping[str, str] = os.environ) -> int:
    """Run the action. Never raises."""
    place, complaint = _place(environ)
    actions = wiring.actions(place, sys.stdout)
    received: list[int] = []
    with contextlib.redirect_stdout(actions.guarded), contextlib.redirect_stderr(actions.guarded):
        code = _guarded(environ, place, complaint, actions, received)
        actions.guarded.finish()
    return 128 + received[0] if received else code


def _place(environ: Mapping[str, str]) -> tuple[RunnerEnvironment, str]:
    """Where we run, and what is wrong with it: even a complaint needs the runner's files to be told."""
    try:
        return RunnerEnvironment.read(environ), ""
    except BadInput as error:
        return RunnerEnvironment.read({**environ, "TAVILY_BASE_URL": ""}), str(error)


def _guarded(
    environ: Mapping[str, str], place: RunnerEnvironment, complaint: str, actions: Actions, received: list[int]
) -> int:
    try:
        if complaint:
            raise BadInput(complaint)
        ending = asyncio.run(_run(environ, place, actions, received))
    except TriageError as error:
        return _fail(actions, str(error))
    except KeyboardInterrupt:
        return _fail(actions, "The run was cancelled before there was anything to report.")
    except Exception as error:  # noqa: BLE001 - the root: a bug of ours must not end in a bare traceback
        return _fail(actions, f"Internal error: {_where(error)}. This is a bug in the action; please report it.")
    return 1 if ending.status is Status.FAILED else 0


async def _run(environ: Mapping[str, str], place: RunnerEnvironment, actions: Actions, received: list[int]) -> Ending:
    started = time.monotonic()
    cancelled = asyncio.Event()
    _listen(cancelled, received)
    settings = Settings.from_runner(environ)
    actions.log.add_masks(settings.secrets)
    for warning in [*settings.warnings, *place.warnings]:
        actions.runner.annotate("warning", warning)
    payload = wiring.payload(place)
    task = route(place.event_name, payload, settings.issue_number)
    told = issue_of(payload) if isinstance(task, TriageIssue) else None
    desk = _desk(settings, place, actions, started, told)
    return await _or_cut(carry_out(task, desk, cancelled), cancelled)


async def _or_cut(work: Coroutine[Any, Any, Ending], cancelled: asyncio.Event) -> Ending:
    """The work's end; cut off when it is not over soon after a signal."""
    running = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(cancelled.wait())
    await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    await asyncio.wait({running}, timeout=LAST_SECONDS if cancelled.is_set() else None)
    if running.done():
        return running.result()
    running.cancel()
    raise KeyboardInterrupt


def _listen(cancelled: asyncio.Event, received: list[int]) -> None:
    """On a signal, end with a report of what is known by then. Python as PID 1 ignores SIGTERM without a handler."""
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        received.append(number)
        cancelled.set()

    for number in SIGNALS:
        loop.add_signal_handler(number, stop, number)


def _desk(settings: Settings, place: RunnerEnvironment, actions: Actions, started: float, told: Issue | None) -> Desk:
    if not place.repository:
        raise BadInput("GITHUB_REPOSITORY is not set: this runs inside GitHub Actions; use the command line elsewhere.")
    root = place.workspace or Path.cwd()
    return Desk(
        github=wiring.github(settings, place.repository, place.api_url, place.ca_file),
        runner=actions.runner,
        journal=actions.log,
        policy=settings.policy(),
        repository=Repository(slug=place.repository, server_url=place.server_url),
        services=lambda: wiring.services(
            settings,
            actions.log,
            root,
            place.repository,
            run_url=place.run_url,
            tavily_base_url=place.tavily_base_url,
            started=started,
        ),
        now=wiring.now,
        told=told,
    )


def _fail(actions: Actions, message: str) -> int:
    perform(failed(message), None, actions.runner)
    return 1


def _where(error: Exception) -> str:
    """Type and place of a bug, without any data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    return f"{type(error).__name__} in {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
