"""Opens the clients of a fix: a place for patches, and what a person's approval asks of GitHub.

It imports them where it opens them, as `app.wiring` does.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from triage.app.settings import remove_own_variables
from triage.app.wiring import RunSetup
from triage.base.errors import BadInput
from triage.proposal_ports import BaseFiles, ProposalStore
from triage.writes.redacting_proposals import RedactingProposalStore

if TYPE_CHECKING:
    from triage.fix.local.local_workspace import LocalWorkspace


OBJECT_WRITE_SECONDS = 0.25
"""Between two git objects, which notify nobody. A patch has 20 files; GitHub allows 80 such requests in a minute."""


def open_workspace(setup: RunSetup, environ: Mapping[str, str]) -> "LocalWorkspace":
    """The checkout as a place for branches and checks, which get none of our keys. Raises BadInput without git."""
    from triage.fix.local.local_workspace import LocalWorkspace

    return LocalWorkspace(setup.root, remove_own_variables(environ))


def open_base_files(setup: RunSetup, commit: str) -> BaseFiles:
    """The files of a commit of the checkout, such as `HEAD`. Raises BadInput if it is not there."""
    from triage.fix.base_files import open_base_files

    return open_base_files(setup.root, commit)


def read_proposal_file(setup: RunSetup) -> bytes | None:
    """The file of the job `propose`; None without one. Raises BadInput if it cannot be read."""
    from triage.fix.jobs.fix_flow import MAX_RESULT_BYTES
    from triage.output.report_file import PROPOSAL, read_own_file

    try:
        return read_own_file(setup.root, PROPOSAL, MAX_RESULT_BYTES)
    except OSError as error:
        raise BadInput(f"The file with the proposal cannot be read ({type(error).__name__}).") from None


def write_proposal_file(setup: RunSetup, text: str) -> str:
    """Writes the file for the jobs after `propose`. Raises BadInput if it cannot be written."""
    from triage.output.report_file import PROPOSAL, write_file

    if setup.redactor.redactor_for("proposal")(text) != text:
        raise BadInput("The patch holds one of the run's own secrets. It is not written.")
    try:
        return write_file(setup.root, PROPOSAL, text)
    except OSError as error:
        raise BadInput(f"The file with the proposal cannot be written ({type(error).__name__}).") from None


def build_proposal_store(setup: RunSetup) -> ProposalStore:
    """Proposals of the setup's repository as commits. Raises BadInput as `build_github`."""
    from triage.fix.github.proposal_store import GitHubProposalStore

    token, environment = setup.settings.github_token.get_secret_value(), setup.environment
    store = GitHubProposalStore(
        token,
        setup.repository,
        environment.api_url,
        seconds_between_writes=OBJECT_WRITE_SECONDS,
        network=environment.network,
        server_url=environment.server_url,
    )
    return RedactingProposalStore(store, setup.redactor)
