"""Opens the clients of a fix: a place for patches, and what a person's approval asks of GitHub.

It imports them where it opens them, as `app.app` does.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from triage.app.app import App
from triage.app.settings import remove_own_variables
from triage.base.errors import BadInput
from triage.fix.fix_ports import OpenExample, ProposalStore, ReportExample
from triage.run.run_context import Run

if TYPE_CHECKING:
    from triage.fix.jobs.fix_job import FixJob
    from triage.fix.local.local_workspace import LocalWorkspace


OBJECT_WRITE_SECONDS = 0.25
"""Between two git objects, which notify nobody. A patch has 20 files; GitHub allows 80 such requests in a minute."""

MAX_RUNS_BYTES = 1_000_000


def open_flow(app: App, run: Run, open_example: OpenExample) -> "FixJob":
    """What a job of the fix flow acts through."""
    from triage.fix.base_files import open_base_files
    from triage.fix.jobs.fix_job import FixJob

    return FixJob(
        run,
        store=build_proposal_store(app),
        open_files=partial(open_base_files, app.root),
        read_result=partial(read_proposal_file, app),
        write_result=partial(write_proposal_file, app),
        open_example=open_example,
        write_example=partial(write_example_files, app),
        read_runs=partial(read_example_runs, app),
        approvers=app.settings.approvers,
        tests=app.settings.proposal_tests,
        run_url=app.environment.run_url,
    )


def open_workspace(app: App, environ: Mapping[str, str]) -> "LocalWorkspace":
    """The checkout as a place for branches and checks, which get none of our keys. Raises BadInput without git."""
    from triage.fix.local.local_workspace import LocalWorkspace

    return LocalWorkspace(app.root, remove_own_variables(environ))


def read_proposal_file(app: App) -> bytes | None:
    """The file of the job `propose`; None without one. Raises BadInput if it cannot be read."""
    from triage.fix.jobs.fix_job import MAX_RESULT_BYTES
    from triage.outside.output.job_files import PROPOSAL, read_own_file

    return read_own_file(app.workspace, PROPOSAL, MAX_RESULT_BYTES)


def write_proposal_file(app: App, text: str) -> str:
    """Writes the file for the jobs after `propose`. Raises BadInput if it cannot be written."""
    from triage.outside.output.job_files import PROPOSAL, write_file

    if app.redactor.redactor_for("proposal")(text) != text:
        raise BadInput("The patch holds one of the run's own secrets. It is not written.")
    return write_file(app.workspace, PROPOSAL, text)


def write_example_files(app: App, example: ReportExample) -> None:
    """Writes what the job `verify` runs. Raises BadInput if it cannot be written."""
    from triage.outside.output.job_files import write_file

    redact = app.redactor.redactor_for("example")
    for name, text in example.files.items():
        write_file(app.workspace, name, redact(text))


def read_example_runs(app: App) -> tuple[bytes, bytes] | None:
    """What the job `verify` has written: a stranger's words. None if it ran no example, or they cannot be read."""
    from triage.outside.output.job_files import read_own_file

    try:
        base, after = (
            read_own_file(app.workspace, f"example-{name}.json", MAX_RUNS_BYTES) for name in ("base", "after")
        )
    except BadInput:
        return None
    return None if base is None or after is None else (base, after)


def build_proposal_store(app: App) -> ProposalStore:
    """Proposals of the repository as commits. Raises BadInput as `App.github`."""
    from triage.fix.github.proposal_store import GitHubProposalStore

    server_url = app.environment.server_url
    return app.open_github(GitHubProposalStore, seconds_between_writes=OBJECT_WRITE_SECONDS, server_url=server_url)
