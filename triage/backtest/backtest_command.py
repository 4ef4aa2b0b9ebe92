"""The command `backtest`: tries the triage on the repository's own past, and says how often it was right."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, aclosing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triage import __version__
from triage.app.app import App, utc_now
from triage.app.command_line import Json, Repo, Verbose, run_until_signal
from triage.app.open_app import open_at_terminal
from triage.backtest import backtest_services
from triage.backtest.count import (
    MAX_RUN,
    OPEN_EXAMPLES,
    ExampleResult,
    choose_examples,
    score_examples,
)
from triage.backtest.results import CaseResult, DuplicateResult, PastCase
from triage.base.errors import BadInput, WrongUsage, describe_os_error
from triage.base.os_signals import EXIT_CODES
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.issue import Repository
from triage.domain.past_issues import PastIssue

if TYPE_CHECKING:
    from triage.backtest.choose_cases import ChosenCases
    from triage.backtest.count import BacktestOutcome
    from triage.reproduce.past_examples import PastExamples

SHALLOW = "The clone is shallow, so older fixes are missing: fetch the rest with `git fetch --unshallow`."
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
    context: typer.Context,
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
    reproduce: Annotated[
        bool, typer.Option("--reproduce", help=f"Also run {MAX_RUN} examples before the fix and at it, with Docker.")
    ] = False,
    no_container: Annotated[
        bool, typer.Option("--no-container", help="Run them without Docker and without protection: code you trust.")
    ] = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Triage past issues on the commit before their fix, and count how often the triage was right."""
    from triage.backtest.count import BacktestOutcome, score_results
    from triage.backtest.triage_cases import to_issue

    app, output = open_at_terminal(repo, engine=engine, verbose=verbose)
    app = replace(app.with_project_config(), repository=github or app.repository)
    if html:
        _check_can_write(html)
    examples: PastExamples | None = context.meta[OPEN_EXAMPLES](app) if github else None
    if reproduce:
        if examples is None:
            raise WrongUsage("--reproduce needs --github: messages of commits have no examples.")
        examples.check_can_run(in_container=not no_container)
    past = backtest_services.read_past_issues(app, last) if github else []
    chosen = _choose_cases(app, past, last, by_issues=bool(github))
    backtest_services.check_has_files(app, [case.base for case in chosen.cases])
    if chosen.is_shallow:
        output.annotate("warning", SHALLOW)
    memory = backtest_services.to_memory(past)
    results, stopped_by = _triage(app, chosen, memory, max_usd, output.progress)
    duplicates = [] if stopped_by else _compare_duplicates(app, memory, last)
    has_example = [examples.has_example(to_issue(case)) for case in chosen.cases] if examples else []
    example_results: list[ExampleResult] = []
    if examples and reproduce and not stopped_by:
        to_run = choose_examples(chosen.cases, has_example)
        stopped_by = _run_examples(examples, to_run, example_results, output.progress, in_container=not no_container)
    outcome = BacktestOutcome(
        repository=app.repository,
        triage_version=__version__,
        at=utc_now(),
        by_issues=bool(github),
        is_shallow=chosen.is_shallow,
        wanted=last,
        chosen=len(chosen.cases),
        left_out=dict(chosen.left_out.most_common()),
        score=score_results(results, duplicates),
        results=results,
        duplicates=duplicates,
        examples=score_examples(has_example, example_results) if examples else None,
    )
    sys.stdout.write(outcome.model_dump_json(indent=2) + "\n" if as_json else _format_figures(outcome))
    if html:
        _write_page(outcome, html)
        output.annotate("notice", f"{html} has every issue.")
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])


def _choose_cases(app: App, past: Sequence[PastIssue], last: int, *, by_issues: bool) -> "ChosenCases":
    from triage.backtest.choose_cases import choose_commits, choose_issues, open_history

    tree, history = open_history(app.root)
    if by_issues:
        chosen = choose_issues(past, history, last, f"{app.environment.server_url}/{app.repository}/issues")
    else:
        chosen = choose_commits(tree.read_commits(), history, last)
    if not chosen.cases:
        counted = ", ".join(f"{count}: {reason}" for reason, count in chosen.left_out.items()) or "none was left out"
        raise BadInput((NO_ISSUES if by_issues else NO_COMMITS).format(left_out=counted))
    return chosen


def _triage(
    app: App,
    chosen: "ChosenCases",
    memory: Sequence[PastIssue],
    max_usd: float,
    progress: AbstractContextManager[object],
) -> tuple[list[CaseResult], signal.Signals | None]:
    from triage.backtest.backtest_html import describe_hit
    from triage.backtest.triage_cases import triage_past_issues

    repository = Repository(slug=app.repository, server_url=app.environment.server_url)
    results: list[CaseResult] = []

    async def run(cancelled: asyncio.Event) -> None:
        runs = triage_past_issues(
            chosen.cases,
            memory,
            app.config.past_issues,
            repository,
            partial(backtest_services.open_past_services, app),
            cancelled,
        )
        async with aclosing(runs):
            async for result in runs:
                results.append(result)
                app.progress.info(f"{len(results)}/{len(chosen.cases)} {result.case.name}: {describe_hit(result)}")
                if reason := _find_reason_to_stop(results, max_usd):
                    app.progress.info(reason)
                    return

    with progress:
        _, stopped_by = run_until_signal(run)
    return results, stopped_by


def _run_examples(
    examples: "PastExamples",
    cases: Sequence[PastCase],
    results: list[ExampleResult],
    progress: AbstractContextManager[object],
    *,
    in_container: bool,
) -> signal.Signals | None:
    """Add to the results what the example of each case says. Return the signal that ended it early, if one did."""
    from triage.backtest.triage_cases import to_issue

    def work() -> None:
        results.extend(examples.run(to_issue(one), one.base, one.fix, in_container=in_container) for one in cases)

    async def run(cancelled: asyncio.Event) -> None:
        with suppress(OutOfTime):
            await call_with_deadline(work, cancelled)

    with progress:
        return run_until_signal(run)[1]


def _find_reason_to_stop(results: Sequence[CaseResult], max_usd: float) -> str:
    """Return why no further issue is triaged; empty if one is. By rules, nothing is paid."""
    if not results[-1].has_price:
        return f"Stopped: {NO_PRICE}"
    is_spent = results[-1].by_model and sum(one.usd for one in results) >= max_usd
    return f"Stopped at {max_usd:.2f} US dollars (--max-usd)." if is_spent else ""


def _compare_duplicates(app: App, memory: Sequence[PastIssue], last: int) -> list[DuplicateResult]:
    from triage.backtest.triage_cases import find_duplicates
    from triage.find.codebase import GitCodebase

    if any(issue.duplicate_of for issue in memory):
        app.progress.info("Comparing the issues that somebody marked as duplicates.")
    # It compares issues, and is not indexed.
    codebase = GitCodebase(app.root, app.repository, in_chroma=False)
    return find_duplicates(memory, last, app.config.past_issues, codebase)


def _format_figures(outcome: "BacktestOutcome") -> str:
    from triage.backtest.page import list_figures, list_left_out

    figures = [f"{name}: {figure} ({explanation})" for name, figure, explanation in list_figures(outcome)]
    return "\n".join([*list_left_out(outcome), *figures]) + "\n"


def _check_can_write(path: Path) -> None:
    """Raise WrongUsage now, not when everything was triaged."""
    if str(path) == "-":
        raise WrongUsage("--html: name a file. Standard output has the figures.")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise WrongUsage(f"--html: {path} cannot be written. Name a file in a folder that exists.")


def _write_page(outcome: "BacktestOutcome", path: Path) -> None:
    from triage.backtest.backtest_html import render_html_page

    try:
        path.write_text(render_html_page(outcome), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"--html: {path} cannot be written ({describe_os_error(error)}).") from None
