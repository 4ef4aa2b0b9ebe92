"""The commands `backlog list`, `backlog run` and `backlog merge`: many issues of one repository, in batches."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from triage.app.command_line import Repo, Verbose, run_until_signal
from triage.app.open_app import open_terminal_app
from triage.backlog import backlog_job
from triage.backlog.backlog_files import BacklogFiles
from triage.base.os_signals import EXIT_CODES
from triage.domain.task import BACKLOG_QUERY

backlog = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Triage many issues of a repository: list them once, run batches, merge one ranked table.",
)
FolderArgument = Annotated[Path, typer.Argument(help="Folder for the files, which lie in .triage/ below it.")]


@backlog.command("list")
def list_issues(
    folder: FolderArgument,
    github: Annotated[str, typer.Option(help="owner/name of the repository.")],
    query: Annotated[str, typer.Option(help="Search of GitHub that chooses the issues.")] = BACKLOG_QUERY,
    repo: Repo = Path(),
    verbose: Verbose = False,
) -> None:
    """List at most 1,000 issues of a repository, the newest first. Prints the matrix of batches as JSON."""
    app, output = open_terminal_app(repo, verbose=verbose)
    settings = app.settings.model_copy(update={"backlog_query": query})
    app = replace(app, repository=github, settings=settings).with_project_config()
    with output.progress:
        listed = backlog_job.list_issues(app, folder)
    values = backlog_job.describe_list(listed)
    sys.stdout.write(json.dumps(values | {"backlog-matrix": json.loads(values["backlog-matrix"])}) + "\n")


@backlog.command("run")
def run_issues(
    folder: FolderArgument,
    batch: Annotated[int, typer.Option(help="Number of the batch, from 1.", min=1)],
    repo: Repo = Path(),
    verbose: Verbose = False,
) -> None:
    """Triage a batch on one index. Started again, it goes on where it was. Asks GitHub for attachments alone."""
    app, output = open_terminal_app(repo, verbose=verbose)
    app = replace(app, repository=BacklogFiles(folder, app.redactor).read_list().repository).with_project_config()
    with output.progress:
        missing, stopped_by = run_until_signal(
            lambda cancelled: backlog_job.run_batch(app, folder, batch, lambda: math.inf, cancelled)
        )
    if stopped_by:
        output.annotate("warning", f"{missing} issues of batch {batch} are not triaged yet. Start it again to go on.")
        raise SystemExit(EXIT_CODES[stopped_by])


@backlog.command("merge")
def merge_results(folder: FolderArgument, verbose: Verbose = False) -> None:
    """Write one ranked table of all batches to .triage/backlog.md, and print it."""
    app, _ = open_terminal_app(Path(), verbose=verbose)
    sys.stdout.write(backlog_job.write_table(app, folder))
