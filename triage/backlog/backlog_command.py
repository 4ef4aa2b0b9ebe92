"""The commands `backlog list`, `backlog run` and `backlog merge`: many issues of one repository, in batches."""

import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from triage.app.app import App
from triage.app.command_line import Repo, Verbose, run_until_signal
from triage.app.open_app import open_at_terminal, open_job_output
from triage.backlog import backlog_job
from triage.backlog.backlog import (
    DEFAULT_BATCH_SECONDS,
    DEFAULT_BATCH_SIZE,
    DEFAULT_TOKENS,
    DEFAULT_USD,
    MAX_BATCH_SIZE,
    MAX_COMMENTS,
)
from triage.backlog.backlog_services import open_files
from triage.backlog.list_backlog import describe_list
from triage.base.os_signals import EXIT_CODES
from triage.domain.task import BACKLOG_QUERY
from triage.ports import Output

backlog = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Triage many issues of a repository: list them once, run batches, merge one ranked table.",
)
FolderArgument = Annotated[Path, typer.Argument(help="Folder that `backlog list` has written.")]


@backlog.command("list")
def list_issues(
    github: Annotated[str, typer.Option(help="owner/name of the repository.")],
    out: Annotated[Path, typer.Option(help="Folder for the files that the other commands read.")],
    query: Annotated[str, typer.Option(help="Search of GitHub that chooses the issues.")] = BACKLOG_QUERY,
    limit: Annotated[int | None, typer.Option(help="Issues at most, the newest first.", min=1)] = None,
    batch_size: Annotated[int, typer.Option(help="Issues of a batch.", min=1, max=MAX_BATCH_SIZE)] = DEFAULT_BATCH_SIZE,
    after: Annotated[str, typer.Option(help="Cursor that an earlier list printed, to go on there.")] = "",
    max_usd: Annotated[float, typer.Option(help="US dollars for all issues together. 0: no model.", min=0)] = (
        DEFAULT_USD
    ),
    max_tokens: Annotated[int, typer.Option(help="Tokens for all issues together.", min=0)] = DEFAULT_TOKENS,
    again: Annotated[bool, typer.Option("--again", help="Also issues that our comment is up to date on.")] = False,
    repo: Repo = Path(),
    verbose: Verbose = False,
) -> None:
    """List the issues of a repository and split them into batches. Prints the matrix and a cursor as JSON."""
    app, output = open_at_terminal(repo, verbose=verbose)
    app = _with_settings(
        app,
        github,
        backlog_query=query,
        backlog_limit=limit,
        backlog_after=after,
        backlog_max_cost_usd=max_usd,
        backlog_max_tokens=max_tokens,
        backlog_again=again,
    )
    with output.progress:
        plan = backlog_job.list_issues(app.with_project_config(), out, batch_size)
    for note in plan.notes:
        output.annotate("warning", note)
    values = describe_list(plan)
    if job := _open_job_output():
        job.write_outputs(values)
    sys.stdout.write(json.dumps(values | {"backlog-matrix": json.loads(values["backlog-matrix"])}) + "\n")


@backlog.command("run")
def run_issues(
    folder: FolderArgument,
    batch: Annotated[int, typer.Option(help="Number of the batch, from 1.", min=1)],
    max_seconds: Annotated[float, typer.Option(help="Seconds after which no further triage begins.", min=1)] = (
        DEFAULT_BATCH_SECONDS
    ),
    repo: Repo = Path(),
    verbose: Verbose = False,
) -> None:
    """Triage a batch on one index. Started again, it goes on where it was. Asks GitHub nothing."""
    app, output = open_at_terminal(repo, verbose=verbose)
    with output.progress:
        repository = open_files(app, folder).read_plan().repository
        app = _with_settings(app, repository, backlog_batch=batch, backlog_batch_seconds=max_seconds)
        app = app.with_project_config()
        result, stopped_by = run_until_signal(lambda cancelled: backlog_job.run_issues(app, folder, cancelled))
    if result.missing:
        text = f"{result.missing} issues of batch {batch} are not triaged yet. Start it again to go on."
        output.annotate("warning", text)
    sys.stdout.write(json.dumps({"done": result.done, "missing": result.missing}) + "\n")
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])


@backlog.command("merge")
def merge_results(
    folder: FolderArgument,
    comments: Annotated[
        int, typer.Option(help="Issues to comment on at most, if there is something to say.", min=0, max=MAX_COMMENTS)
    ] = 0,
    verbose: Verbose = False,
) -> None:
    """Write one ranked table of all batches to backlog.md and backlog.csv, and print it."""
    app, terminal = open_at_terminal(Path(), verbose=verbose)
    output = _open_job_output() or terminal
    with terminal.progress:
        repository = open_files(app, folder).read_plan().repository
        app = _with_settings(app, repository, backlog_comments=comments, backlog_batch_seconds=math.inf)
        page, stopped_by = run_until_signal(
            lambda cancelled: backlog_job.merge_results(app, folder, app.open_run(output, cancelled=cancelled))
        )
    sys.stdout.write(page)
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])


def _with_settings(app: App, repository: str, **settings: object) -> App:
    return replace(app, repository=repository, settings=app.settings.model_copy(update=settings))


def _open_job_output() -> Output | None:
    """The files of a job, where the command runs in a step of a workflow."""
    return open_job_output(os.environ, sys.stderr) if os.environ.get("GITHUB_OUTPUT") else None
