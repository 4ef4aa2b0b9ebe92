"""Opens what a backtest reads: past issues, and the code as it was.

It imports them where it opens them, as `app.app` does.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from triage.app.app import App
from triage.backtest.results import PastCase
from triage.base.errors import BadInput, GitError, SetupError
from triage.domain.past_issues import PastIssue
from triage.ports import Codebase, Services
from triage.read.other_issues import make_visible

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

MAX_PAST_ISSUES = 3_000
"""Thirty requests."""
MAX_MISSING_SHARE = 0.05
"""Of the files: a clone may lack a few large ones."""
MAX_BODY_CHARS = 65_536
"""GitHub's limit: an issue of a backtest is read whole, as it was written."""


def open_past_services(app: App, case: PastCase, known: Sequence[PastIssue]) -> Services:
    """Return services that know nothing from after the issue was opened, but for code merged before its fix."""
    app = replace(app, started=time.monotonic())
    services = app.open_services(partial(_build_codebase, case))
    # The web knows the fix, and a collector the runs of today.
    return replace(services, past_issues=lambda _: iter([list(known)]), web_tools=None, export_report=None)


def _build_codebase(case: PastCase, app: App, embeddings: "Embeddings | None") -> Codebase:
    from triage.find.codebase import GitCodebase
    from triage.find.indexed_commit import PastCommit

    return GitCodebase(
        app.root,
        app.repository,
        embeddings,
        app.settings.effective_embedding_model,
        in_chroma=False,
        ignore=app.config.ignore,
        past=PastCommit(case.base, case.opened_at),
    )


def read_past_issues(app: App, last: int) -> list[PastIssue]:
    """Return the repository's newest issues, whole pages, enough to compare `last` fixed ones with those before.

    Raises:
        SetupError: There is no token, or GitHub refuses it.
        GitHubUnavailable: GitHub does not answer.
    """
    from triage.outside.github.issue_tracker import IssueTracker

    if not app.settings.github_token.get_secret_value():
        raise SetupError("--github needs a token: set TRIAGE_GITHUB_TOKEN, for example to the output of gh auth token.")
    tracker = app.open_github(IssueTracker)
    found: list[PastIssue] = []
    for page in tracker.iterate_past_issues(MAX_PAST_ISSUES, "", MAX_BODY_CHARS):
        found += page
        if page:
            app.progress.info(f"Read {len(found)} issues of {app.repository}.")
        if _is_enough(found, last, app.config.past_issues):
            break
    return found


def _is_enough(found: Sequence[PastIssue], last: int, memory: int) -> bool:
    fixed = sorted((issue.number for issue in found if any(fix.commit for fix in issue.fixes)), reverse=True)
    # Some of them will be left out, and the oldest one is compared with those before it.
    needed = fixed[: last * 2]
    return len(needed) == last * 2 and sum(issue.number < needed[-1] for issue in found) >= memory


def to_memory(past: Sequence[PastIssue]) -> list[PastIssue]:
    """Return the issues as the memory of a run has them: their visible text, cut."""
    from triage.outside.github.read_past_issues import MAX_BODY_CHARS as REMEMBERED

    return [make_visible(issue.model_copy(update={"body": issue.body[:REMEMBERED]})) for issue in past]


def check_has_files(app: App, commits: Sequence[str]) -> None:
    """Raise BadInput if the clone lacks most files of the oldest commit, as one made with --filter does."""
    from triage.git.commit import open_commit

    try:
        listing = open_commit(app.root, commits[-1]).list_files()
    except GitError:  # such as a folder that was not there yet: its triage says so
        return
    if listing.missing > MAX_MISSING_SHARE * (len(listing.entries) + listing.missing):
        raise BadInput(
            f"--repo: {listing.missing:,} files of commit {commits[-1][:10]} are not in this clone. "
            "Make one without --filter."
        )
