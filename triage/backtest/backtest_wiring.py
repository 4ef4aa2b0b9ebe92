"""Opens what a backtest reads: the history of the checkout, past issues, and the code as it was.

It imports them where it opens them, as `app.wiring` does.
"""

import time
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from triage.app import wiring
from triage.app.settings.project_file import parse_project_config
from triage.app.wiring import RunSetup
from triage.backtest.choose_cases import ChosenCases, choose_commits, choose_issues
from triage.backtest.past_case import PastCase
from triage.base.errors import BadConfig, BadInput, SetupError
from triage.base.yaml_section import replace_section
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import Thresholds
from triage.issue.past_issue_text import make_visible
from triage.jobs.known_past_issues import KnownPastIssues
from triage.ports import Codebase, Services

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from triage.code.indexed_commit import LastIndex

MAX_PAST_ISSUES = 3_000
"""Thirty requests."""
MAX_MISSING_SHARE = 0.05
"""Of the files: a clone may lack a few large ones."""
MAX_BODY_CHARS = 65_536
"""GitHub's limit: an issue of a backtest is read whole, as it was written."""


@dataclass
class PastServices:
    """Opens the services of one past issue after the other. Neighbouring commits share what was indexed."""

    setup: RunSetup
    _neighbour: "LastIndex | None" = field(default=None, repr=False)

    def open(self, case: PastCase, known: Sequence[PastIssue]) -> Services:
        """Return services that know nothing from after the issue was opened, but for code merged before its fix."""
        setup = replace(self.setup, started=time.monotonic())
        services = wiring.open_services(setup, partial(self._build_codebase, case))
        # The web knows the fix, and a collector the runs of today.
        return replace(services, past_issues=KnownPastIssues(known), web_tools=None, telemetry=None)

    def _build_codebase(self, case: PastCase, setup: RunSetup, embeddings: "Embeddings | None") -> Codebase:
        from triage.code.codebase import GitCodebase
        from triage.code.indexed_commit import LastIndex, PastCommit

        self._neighbour = self._neighbour or LastIndex()
        folder = wiring.find_cache_folder(setup)
        return GitCodebase(
            setup.root,
            setup.repository,
            embeddings,
            setup.settings.effective_embedding_model,
            chroma=None,
            ignore=setup.config.ignore,
            vector_folder=folder and folder / "vectors",
            thresholds=setup.config.thresholds,
            past=PastCommit(case.base, case.opened_at, self._neighbour),
        )


def read_past_issues(setup: RunSetup, is_enough: Callable[[Sequence[PastIssue]], bool]) -> list[PastIssue]:
    """Return the repository's newest issues, whole pages, until there are enough.

    Raises:
        SetupError: There is no token, or GitHub refuses it.
        GitHubUnavailable: GitHub does not answer.
    """
    from triage.github.issue_tracker import IssueTracker

    token, environment = setup.settings.github_token.get_secret_value(), setup.environment
    if not token:
        raise SetupError("--github needs a token: set TRIAGE_GITHUB_TOKEN, for example to the output of gh auth token.")
    tracker = IssueTracker(
        token, setup.repository, environment.api_url, seconds_between_writes=0.0, network=environment.network
    )
    found: list[PastIssue] = []
    for page in tracker.iterate_past_issues(MAX_PAST_ISSUES, "", MAX_BODY_CHARS):
        found += [setup.redactor.redact_model("past issue", issue) for issue in page]
        if page:
            setup.progress.info(f"Read {len(found)} issues of {setup.repository}.")
        if is_enough(found):
            break
    return found


def to_memory(past: Sequence[PastIssue]) -> list[PastIssue]:
    """Return the issues as the memory of a run has them: their visible text, cut."""
    from triage.github.past_issue_responses import MAX_BODY_CHARS as REMEMBERED

    return [make_visible(issue.model_copy(update={"body": issue.body[:REMEMBERED]})) for issue in past]


def choose_past_issues(setup: RunSetup, past: Sequence[PastIssue], last: int) -> ChosenCases:
    """Return the newest fixed issues. Raises BadInput if the checkout has no history."""
    from triage.backtest.fix_commits import is_product_code, open_history

    _, history = open_history(setup.root)
    issue_url = f"{setup.environment.server_url}/{setup.repository}/issues"
    return choose_issues(past, history, is_product_code, last, issue_url)


def choose_past_commits(setup: RunSetup, last: int) -> ChosenCases:
    """Return the newest commits that fix something, as if their messages were issues. Raises as above."""
    from triage.backtest.fix_commits import is_product_code, list_commits, open_history

    tree, history = open_history(setup.root)
    return choose_commits(list_commits(tree), history, is_product_code, last)


def build_comparing_codebase(setup: RunSetup) -> Codebase:
    """Return a codebase that compares issues. It is not indexed."""
    from triage.code.codebase import GitCodebase

    return GitCodebase(setup.root, setup.repository, chroma=None, thresholds=setup.config.thresholds)


def check_has_files(setup: RunSetup, commits: Sequence[str]) -> None:
    """Raise BadInput if the clone lacks most files of the oldest commit, as one made with --filter does."""
    from triage.code.git.commit import open_commit
    from triage.code.git.git import GitError

    try:
        listing = open_commit(setup.root, commits[-1]).list_files()
    except GitError:  # such as a folder that was not there yet: its triage says so
        return
    if listing.missing > MAX_MISSING_SHARE * (len(listing.entries) + listing.missing):
        raise BadInput(
            f"--repo: {listing.missing:,} files of commit {commits[-1][:10]} are not in this clone. "
            "Make one without --filter."
        )


def check_can_write_thresholds(setup: RunSetup) -> None:
    """Raise BadInput if the settings file cannot be edited, or has thresholds that are not committed."""
    from triage.base.private_folder import has_symlink

    name = setup.settings.config_file
    if not (setup.root / ".git").exists():
        raise BadInput("--write needs the top folder of a checkout as --repo: the settings file lies there.")
    if has_symlink(setup.root, setup.root / name):
        raise BadInput(f"--write: {name} leads through a symbolic link. Put a regular file there.")
    if parse_project_config(_read_settings(setup), name).thresholds != setup.config.thresholds:
        raise BadInput(f"--write: the thresholds in {name} are not committed, so they do not count. Commit them first.")


def write_thresholds(setup: RunSetup, thresholds: Thresholds) -> str:
    """Write the thresholds into the project's settings file in the work tree. Returns what to do next.

    Raises:
        BadInput: As `check_can_write_thresholds`, or the file cannot be written, or has a form that cannot be edited.
        BadConfig: The file has errors.
    """
    check_can_write_thresholds(setup)
    name, section, old = setup.settings.config_file, _format_section(thresholds), _read_settings(setup)
    wanted = parse_project_config(old, name).model_copy(update={"thresholds": thresholds})
    text, is_marked = old.decode("utf-8-sig"), old.startswith(BOM_UTF8)
    try:
        new = replace_section(text, "thresholds", section).encode("utf-8-sig" if is_marked else "utf-8")
        is_same = parse_project_config(new, name) == wanted
    except (ValueError, BadConfig):
        is_same = False
    if not is_same:
        raise BadInput(f"--write: {name} cannot be edited without changing more. Add this line to it: {section}")
    path = setup.root / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(new)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"--write: {name} cannot be written ({reason}).") from None
    return f"{name} has the thresholds. Commit it: the file is read from the checked-out commit."


def _read_settings(setup: RunSetup) -> bytes:
    """Return the settings file of the work tree; nothing without one. Raises BadInput."""
    path = setup.root / setup.settings.config_file
    try:
        return path.read_bytes() if path.exists() else b""
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"--write: {setup.settings.config_file} cannot be read ({reason}).") from None


def _format_section(thresholds: Thresholds) -> str:
    values = ", ".join(f"{name}: {value:g}" for name, value in thresholds.model_dump().items())
    return f"thresholds: {{{values}}}"
