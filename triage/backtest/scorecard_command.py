"""The command `scorecard`: what came of the comments on issues that were closed since."""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from triage.app.app import App, open_at_terminal
from triage.app.command_line import Json, run_until_signal
from triage.backtest.make_scorecard import ScorecardJob, open_scorecard
from triage.backtest.page import ScorecardPage, render_scorecard
from triage.backtest.results import IssueResult, LikelyPlace
from triage.backtest.thresholds import apply_choices, choose_thresholds, write_thresholds
from triage.base.errors import BadInput
from triage.base.os_signals import EXIT_CODES
from triage.base.threads import OutOfTime, call_with_deadline


def scorecard(
    github: Annotated[str, typer.Option(help="owner/name of the repository; by default that of this checkout.")] = "",
    since: Annotated[str, typer.Option(help="Days (90d), weeks (12w), or a day (2026-08-01).")] = "90d",
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Raise the thresholds of signs that were often wrong, in the settings file of --repo."
        ),
    ] = False,
    repo: Annotated[Path, typer.Option(help="Checkout whose repository and settings are meant.")] = Path(),
    as_json: Json = False,
) -> None:
    """Count how often the comments on closed issues were right, by the fixes that closed them."""
    app, output = open_at_terminal(repo)
    app = replace(app, repository=github or app.repository)
    if not app.settings.github_token.get_secret_value():
        raise BadInput("A scorecard reads GitHub's GraphQL API, which needs a token: set TRIAGE_GITHUB_TOKEN.")
    job = open_scorecard(app, since)
    app = app.with_project_config() if write else app
    page = _run(job)
    if as_json:
        sys.stdout.write(json.dumps(page.model_dump(mode="json"), indent=2) + "\n")
    else:
        sys.stdout.write(render_scorecard(page))
    if write:
        output.annotate("notice", _write_thresholds(app, page.results))


def _write_thresholds(app: App, results: Sequence[IssueResult]) -> str:
    """Write the thresholds if one is clearly too low. Returns what was done.

    Comments name no place below a threshold, so what they were right about can only raise one.
    """
    before = app.config.thresholds
    choices = choose_thresholds([place for place in map(_to_likely_place, results) if place], before)
    changed = [one for one in choices if one.after > one.before]
    if not changed:
        return "No sign was wrong often enough to raise its threshold: nothing was written."
    said = ", ".join(
        f"{one.sign} {one.before:g} to {one.after:g} ({one.right_before} of {one.named_before} were right)"
        for one in changed
    )
    return f"Raised: {said}. {write_thresholds(app, apply_choices(before, changed))}"


def _to_likely_place(result: IssueResult) -> LikelyPlace | None:
    place = result.place
    if place is None or place.by == "model":
        return None
    return LikelyPlace(sign=place.by, path=place.named[0], chance=place.chance, edited=place.first_right, named=True)


def _run(job: ScorecardJob) -> ScorecardPage:
    async def run(cancelled: asyncio.Event) -> ScorecardPage | None:
        try:
            return await call_with_deadline(job.run, cancelled)
        except OutOfTime:
            return None

    page, stopped_by = run_until_signal(run)
    if page is None:
        raise SystemExit(EXIT_CODES[stopped_by] if stopped_by else 1)
    return page
