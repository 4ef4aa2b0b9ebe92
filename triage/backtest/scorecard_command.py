"""The command `scorecard`: what came of the comments on issues that were closed since."""

import asyncio
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from triage.app.command_line import Json, run_until_signal
from triage.app.open_app import open_terminal_app
from triage.backtest.make_scorecard import count_closed
from triage.backtest.scorecard_page import ScorecardPage, render_scorecard
from triage.base.errors import BadInput
from triage.base.os_signals import EXIT_CODES
from triage.base.threads import OutOfTime, call_with_deadline


def scorecard(
    github: Annotated[str, typer.Option(help="owner/name of the repository; by default that of this checkout.")] = "",
    since: Annotated[str, typer.Option(help="Days (90d), weeks (12w), or a day (2026-08-01).")] = "90d",
    repo: Annotated[Path, typer.Option(help="Checkout whose repository is meant.")] = Path(),
    shadow: Annotated[
        Path | None,
        typer.Option(help="Folder with reports of runs with dry-run: they are judged in place of comments."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count how often the comments on closed issues were right, by the fixes that closed them."""
    app, _ = open_terminal_app(repo)
    app = replace(app, repository=github or app.repository)
    if not app.settings.github_token.get_secret_value():
        raise BadInput("A scorecard reads GitHub's GraphQL API, which needs a token: set TRIAGE_GITHUB_TOKEN.")

    async def run(cancelled: asyncio.Event) -> ScorecardPage | None:
        try:
            return await call_with_deadline(partial(count_closed, app, since, shadow), cancelled)
        except OutOfTime:
            return None

    page, stopped_by = run_until_signal(run)
    if page is None:
        raise SystemExit(EXIT_CODES[stopped_by] if stopped_by else 1)
    dumped = json.dumps(page.model_dump(mode="json"), indent=2) + "\n"
    sys.stdout.write(dumped if as_json else render_scorecard(page))
