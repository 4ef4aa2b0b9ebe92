"""What acts in the fix flow. The graph's context, never part of its state."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from triage.domain.issue import Issue, Repository
from triage.domain.proposal import ModuleSummary, PatchDraft, PendingMutation
from triage.domain.report import RunReport
from triage.fix.fix_ports import BaseFiles, CheckResult
from triage.fix.patch.modules import list_modules
from triage.graph.capabilities import FIX_CAPABILITIES, restrict_services
from triage.ports import Services


class PullRequestTool(Protocol):
    """The one tool of this graph that changes something. Every method raises TriageError, and may be repeated."""

    def find_objection(self, pending: PendingMutation) -> str:
        """Return why a person's yes does not count, as the end of a sentence; empty if it does."""

    def create_branch(self, pending: PendingMutation) -> None:
        """Create the branch at the commit."""

    def open_pull_request(self, pending: PendingMutation) -> str | None:
        """Open the pull request. Return its URL; None where there is none."""

    def report(self, pending: PendingMutation) -> None:
        """Say on the issue what was done."""

    def drop(self, pending: PendingMutation) -> None:
        """Forget what a person rejected."""


@dataclass(frozen=True)
class FixContext:
    services: Services
    files: BaseFiles | None = None
    """Of the commit that a patch starts from. None where a stored one is carried out."""
    triage: Callable[[Issue, Repository], Awaitable[RunReport]] | None = None
    """Makes the report that the fix starts from, if there is none."""
    store: Callable[[PatchDraft], PendingMutation] | None = None
    """Makes commits of a patch, to which no branch leads. None where a later job does."""
    tool: PullRequestTool | None = None
    """None where nothing can be carried out: the proposal is the end."""
    run_check: Callable[[PatchDraft, bool], CheckResult] | None = None
    """Runs the project's own check, with the tests alone or with the whole patch. Slow."""
    fails_unchanged: bool = False
    """Whether the check fails on the base commit already."""

    @property
    def base_files(self) -> BaseFiles:
        """`files`, for the nodes that make a patch."""
        assert self.files is not None
        return self.files

    @property
    def restricted_services(self) -> Services:
        """The services without what sends something out, for the nodes that make a patch."""
        return restrict_services(self.services, FIX_CAPABILITIES)

    def list_modules(self) -> Sequence[ModuleSummary]:
        """The parts of the repository to which a patch can be limited. Takes up to seconds."""
        return list_modules(self.base_files.list_editable(), self.services.config.modules)

    @property
    def protected_paths(self) -> Sequence[str]:
        return self.services.config.protected_paths
