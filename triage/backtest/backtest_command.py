"""The command `backtest`: tries the triage on the repository's own past, and says how often it was right."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from triage import __version__
from triage.app.app import App, utc_now
from triage.app.command_line import Json, Repo, Verbose, run_until_signal
from triage.app.open_app import open_terminal_app
from triage.backtest.backtest_page import (
    BacktestOutcome,
    count_figures,
    describe_hit,
    render_figures,
    render_html_page,
)
from triage.backtest.choose_cases import ChosenCases, check_has_files, choose_commits, choose_issues, open_history
from triage.backtest.judge import CaseResult, PastCase
from triage.backtest.triage_cases import (
    open_past_services,
    read_past_issues,
    to_memory,
    triage_past_issues,
)
from triage.base.errors import BadInput, WrongUsage, describe_os_error
from triage.base.os_signals import EXIT_CODES
from triage.domain.issue import Repository
from triage.domain.past_issues import PastIssue
from triage.git.history import GitHistory

SHALLOW = (
    "The clone is shallow, so older fixes are missing, and fewer files are right: fetch the rest with "
    "`git fetch --unshallow`."
)
NO_PRICE = (
    "the price of a model is not known, so --max-usd cannot hold. Set it under `prices` in the project's settings "
    "(0 for a model of your own)."
)
NO_ISSUES = (
    "No issue was found whose fix is known and lies in this clone ({left_out}). Is it a clone of this repository, with "
    "its whole history (`git fetch --unshallow`)? Without --github, messages of commits stand in for issues."
)
NO_COMMITS = (
    "No commit was found that says that it fixes something and edits code ({left_out}). Is the whole history here "
    "(`git fetch --unshallow`)?"
)


def backtest(
    repo: Repo = Path(),
    github: Annotated[
        str,
        typer.Option(help="owner/name: use its closed issues. Without it, messages of commits stand in."),
    ] = "",
    last: Annotated[int, typer.Option(help="How many issues, the newest first.", min=1, max=1000)] = 50,
    engine: Annotated[str, typer.Option(help="rules, model, or auto.")] = "rules",
    max_usd: Annotated[
        float, typer.Option(help="With a model: start no further issue when this many US dollars are spent.", min=0)
    ] = 5.0,
    html: Annotated[Path | None, typer.Option(help="Write a page with every issue to this file.")] = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Triage past issues on the commit before their fix, and count how often the triage was right."""
    app, output = open_terminal_app(repo, engine=engine, verbose=verbose)
    app = replace(app.with_project_config(), repository=github or app.repository)
    if html:  # now, not when everything was triaged
        _write_page(html, "", "a")
    past = read_past_issues(app, last) if github else []
    history = open_history(app.root)
    chosen = _choose_cases(app, history, past, last, by_issues=bool(github))
    check_has_files(app.root, chosen.cases[-1].base)
    if history.is_shallow:
        output.annotate("warning", SHALLOW)
    memory = to_memory(past)
    with output.progress:
        results, stopped_by = run_until_signal(partial(_triage, app, chosen.cases, memory, max_usd))
    outcome = BacktestOutcome(
        repository=app.repository,
        triage_version=__version__,
        at=utc_now(),
        by_issues=bool(github),
        wanted=last,
        chosen=len(chosen.cases),
        left_out=dict(chosen.left_out.most_common()),
        figures=count_figures(results, by_issues=bool(github)),
        results=results,
    )
    sys.stdout.write(outcome.model_dump_json(indent=2) + "\n" if as_json else render_figures(outcome))
    if html:
        _write_page(html, render_html_page(outcome))
        output.annotate("notice", f"{html} has every issue.")
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])


def _choose_cases(
    app: App, history: GitHistory, past: Sequence[PastIssue], last: int, *, by_issues: bool
) -> ChosenCases:
    if by_issues:
        chosen = choose_issues(past, history, last, f"{app.environment.server_url}/{app.repository}/issues")
    else:
        chosen = choose_commits(history.read_commits(), history, last)
    if not chosen.cases:
        counted = ", ".join(f"{count}: {reason}" for reason, count in chosen.left_out.items()) or "none was left out"
        raise BadInput((NO_ISSUES if by_issues else NO_COMMITS).format(left_out=counted))
    return chosen


async def _triage(
    app: App, cases: Sequence[PastCase], memory: Sequence[PastIssue], max_usd: float, cancelled: asyncio.Event
) -> list[CaseResult]:
    """Return the results until something ends it early: a signal, or the money. By rules, nothing is paid."""
    repository = Repository(slug=app.repository, server_url=app.environment.server_url)
    open_services = partial(open_past_services, app)
    results: list[CaseResult] = []
    runs = triage_past_issues(cases, memory, app.config.past_issues, repository, open_services, cancelled)
    async with aclosing(runs):
        async for result in runs:
            results.append(result)
            app.progress.info(f"{len(results)}/{len(cases)} {result.case.name}: {describe_hit(result)}")
            if not result.has_price:
                app.progress.info(f"Stopped: {NO_PRICE}")
                break
            if result.by_model and sum(one.usd for one in results) >= max_usd:
                app.progress.info(f"Stopped at {max_usd:.2f} US dollars (--max-usd).")
                break
    return results


def _write_page(path: Path, text: str, mode: str = "w") -> None:
    if str(path) == "-":
        raise WrongUsage("--html: name a file. Standard output has the figures.")
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise WrongUsage(f"--html: {path} cannot be written ({describe_os_error(error)}).") from None
