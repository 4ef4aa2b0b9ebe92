"""The command `scorecard`: what came of the comments on issues that were closed since."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from triage import scorecard_wiring, wiring
from triage.command_line import EXIT_CODES, Json, list_warnings, open_setup, run_until_signal
from triage.errors import BadInput
from triage.flows.make_scorecard import ScorecardJob, ScorecardResult
from triage.scorecard.scorecard_page import render_scorecard
from triage.scorecard.since import DEFAULT
from triage.threads import OutOfTime, call_with_deadline


def scorecard(
    github: Annotated[str, typer.Option(help="owner/name of the repository; by default that of this checkout.")] = "",
    since: Annotated[str, typer.Option(help="Days (90d), weeks (12w), or a day (2026-08-01).")] = DEFAULT,
    issue: Annotated[
        int,
        typer.Option(help="Number of an issue that keeps the weeks, in one comment that is edited in place.", min=0),
    ] = 0,
    as_json: Json = False,
) -> None:
    """Count how often the comments on closed issues were right, by the fixes that closed them."""
    runner, progress = wiring.open_terminal(None)
    setup = open_setup(Path(), progress)
    setup = replace(setup, repository=github or setup.repository)
    for warning in list_warnings(setup):
        runner.annotate("warning", warning)
    if not setup.settings.github_token.get_secret_value():
        raise BadInput("A scorecard reads GitHub's GraphQL API, which needs a token: set TRIAGE_GITHUB_TOKEN.")
    job = scorecard_wiring.open_scorecard(setup, since, issue or None)
    result = _run(job)
    page = result.page
    if as_json:
        sys.stdout.write(json.dumps(page.model_dump(mode="json"), indent=2) + "\n")
    else:
        sys.stdout.write(render_scorecard(page))
    if result.problem:
        raise result.problem


def _run(job: ScorecardJob) -> ScorecardResult:
    async def run(cancelled: asyncio.Event) -> ScorecardResult | None:
        try:
            return await call_with_deadline(job.run, cancelled)
        except OutOfTime:
            return None

    result, stopped_by = run_until_signal(run)
    if result is None:
        raise SystemExit(EXIT_CODES[stopped_by] if stopped_by else 1)
    return result
