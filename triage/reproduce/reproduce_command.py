"""The command `reproduce`: runs the example of a report on the version that it names and on the current commit."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from triage.app.command_line import GitHubOption, IssueOption, Json, Repo, open_issue, print_page, run_until_signal
from triage.app.open_app import open_terminal_app
from triage.base.errors import BadInput, GitError
from triage.base.os_signals import EXIT_CODES
from triage.base.threads import OutOfTime, call_with_deadline
from triage.reproduce.environments.docker import DockerEnvironments
from triage.reproduce.environments.virtual import VirtualEnvironments
from triage.reproduce.pages import Pages
from triage.reproduce.project_checkout import NothingToRun, ProjectCheckout
from triage.reproduce.render_evidence import dump_evidence, render_evidence


def reproduce(
    issue: IssueOption,
    repo: Repo = Path(),
    github: GitHubOption = "",
    on: Annotated[
        list[str] | None,
        typer.Option("--on", help="Release, tag or commit to run it on, instead of the named one. Can be repeated."),
    ] = None,
    bisect: Annotated[
        bool, typer.Option("--bisect", help="Search for the first release and commit that changed the outcome.")
    ] = False,
    no_container: Annotated[
        bool, typer.Option("--no-container", help="Run without Docker and without protection: only code you trust.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the example of a report on the version that it names and on the current commit. Needs no model."""
    app, output = open_terminal_app(repo)
    with output.progress:
        app, found, _ = open_issue(app.with_project_config(), issue, github)

        def work() -> str:
            checkout = ProjectCheckout(app.root, app.config.reproduce)
            try:
                selection = checkout.select(found, on or [])
            except NothingToRun as why:
                raise BadInput(f"Nothing was run: {why}") from None
            open_environments = VirtualEnvironments if no_container else DockerEnvironments
            with open_environments(checkout.source, os.environ) as environments:
                *_, evidence = checkout.run(selection, environments, lambda _: bisect, output.progress.log_step)
            shown = selection, evidence, Pages(checkout.source)
            text = dump_evidence(*shown) if as_json else render_evidence(*shown, is_at_terminal=True)
            redacted: str = app.redactor.redactor_for("example")(text)
            return redacted

        async def run(cancelled: asyncio.Event) -> str | None:
            try:
                return await call_with_deadline(work, cancelled)
            except OutOfTime:
                return None

        try:
            text, stopped_by = run_until_signal(run)
        except GitError as error:
            raise BadInput(f"The repository cannot be read: {error}.") from None
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])
    if as_json:
        sys.stdout.write(text or "")
    else:
        print_page(Markdown(text or "", hyperlinks=False))
