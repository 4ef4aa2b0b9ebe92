"""The commands `backlog list`, `backlog run` and `backlog merge`: many issues of one repository, in batches."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from triage.app import runner_wiring, wiring
from triage.app.command_line import EXIT_CODES, Repo, Verbose, list_warnings, open_setup, run_until_signal
from triage.app.wiring import RunSetup
from triage.backlog import backlog_services
from triage.backlog.backlog import (
    DEFAULT_BATCH_SECONDS,
    DEFAULT_BATCH_SIZE,
    DEFAULT_TOKENS,
    DEFAULT_USD,
    MAX_BATCH_SIZE,
    MAX_COMMENTS,
    Caps,
)
from triage.backlog.backlog_files import BacklogFiles
from triage.backlog.list_backlog import ListRequest, describe_list, list_backlog
from triage.backlog.merge_backlog import MergeJob, merge_backlog
from triage.backlog.run_batch import read_plan, run_batch
from triage.domain.issue import Repository
from triage.domain.task import BACKLOG_QUERY
from triage.jobs.flow_context import FlowContext
from triage.ports import Runner

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Triage many issues of a repository: list them once, run batches, merge one ranked table.",
)
FolderArgument = Annotated[Path, typer.Argument(help="Folder that `backlog list` has written.")]


@app.command("list")
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
    with _open(repo, verbose=verbose) as (opened, runner):
        setup = replace(opened, repository=github).with_project_config()
        request = ListRequest(
            repository=github,
            server_url=setup.environment.server_url,
            query=query,
            caps=Caps(usd=max_usd, tokens=max_tokens),
            limit=limit,
            batch_size=batch_size,
            cursor=after,
            again=again,
        )
        plan = list_backlog(request, backlog_services.open_list_services(setup, BacklogFiles(out)))
    for note in plan.notes:
        runner.annotate("warning", note)
    values = describe_list(plan)
    if job := _open_job_runner(setup):
        job.write_outputs(values)
    sys.stdout.write(json.dumps(values | {"backlog-matrix": json.loads(values["backlog-matrix"])}) + "\n")


@app.command("run")
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
    with _open(repo, verbose=verbose) as (setup, runner):
        files = BacklogFiles(folder)
        plan = read_plan(files, batch)
        own = replace(setup, repository=plan.repository).with_project_config()

        def seconds_left() -> float:
            return setup.started + max_seconds - time.monotonic()

        open_job = partial(backlog_services.open_batch, own, files, batch, plan, seconds_left)
        result, stopped_by = run_until_signal(lambda cancelled: run_batch(open_job, cancelled, seconds_left))
    done, missing = (result.done, result.missing) if result else (0, len(plan.batches[batch - 1]))
    if missing:
        runner.annotate("warning", f"{missing} issues of batch {batch} are not triaged yet. Start it again to go on.")
    sys.stdout.write(json.dumps({"done": done, "missing": missing}) + "\n")
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])


@app.command("merge")
def merge_results(
    folder: FolderArgument,
    comments: Annotated[
        int, typer.Option(help="Issues to comment on at most, if there is something to say.", min=0, max=MAX_COMMENTS)
    ] = 0,
    table_issue: Annotated[
        bool, typer.Option("--table-issue", help="Also write the table to one issue, which is edited in place.")
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Write one ranked table of all batches to backlog.md and backlog.csv, and print it."""
    with _open(Path(), verbose=verbose) as (opened, runner):
        files = BacklogFiles(folder)
        setup = replace(opened, repository=files.read_plan().repository)
        context = FlowContext(
            github=wiring.build_github(setup),
            approvals=wiring.build_issue_approvals(setup),
            runner=_open_job_runner(setup) or runner,
            progress=setup.progress,
            policy=setup.settings.policy(),
            repository=Repository(slug=setup.repository, server_url=setup.environment.server_url),
            open_services=partial(wiring.open_services, setup),
            now=wiring.utc_now,
        )
        table = backlog_services.open_table_issue(setup) if table_issue else None
        job = MergeJob(files, context, comments, table)
        page, stopped_by = run_until_signal(
            lambda cancelled: merge_backlog(replace(job, context=replace(context, cancelled=cancelled)))
        )
    sys.stdout.write(page)
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])


@contextmanager
def _open(repo: Path, *, verbose: bool) -> Iterator[tuple[RunSetup, Runner]]:
    runner, progress = wiring.open_terminal(None, verbose=verbose)
    setup = open_setup(repo, progress)
    for warning in list_warnings(setup):
        runner.annotate("warning", warning)
    with progress:
        yield setup, runner


def _open_job_runner(setup: RunSetup) -> Runner | None:
    """The files of a job, where the command runs in a step of a workflow."""
    if not os.environ.get("GITHUB_OUTPUT"):
        return None
    return runner_wiring.open_actions(setup.environment, sys.stderr, setup.redactor).runner
