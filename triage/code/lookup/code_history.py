"""Looks up in git what a report's places have behind them: owners, a regression window, a later change."""

from collections.abc import Sequence

from triage.code.git.git_history import GitHistory
from triage.code.lookup.owners import ACTIVE_YEARS, list_code_owners, weigh_authors
from triage.code.lookup.regression_window import find_later_change, find_regression_window
from triage.domain.code import BlamedLine, CodeHistory, Owner, Span
from triage.domain.issue import ReportFacts
from triage.safety.code_owners import CodeOwners

MAX_PATHS = 5


def look_up_history(
    history: GitHistory | None, code_owners: CodeOwners, facts: ReportFacts, paths: list[str], lines: Span | None
) -> CodeHistory:
    """Return what is known of the likeliest files, and of the lines that fail or that a fix would change."""
    paths = paths[:MAX_PATHS]
    owners = list_code_owners(code_owners.find_owners(paths[0])) if paths else []
    if history is None:
        return CodeHistory(owners=owners)
    tags = history.list_tags()
    blamed = _blame(history, lines) if lines else []
    return CodeHistory(
        owners=[*owners, *_find_authors(history, blamed)],
        regression_window=find_regression_window(history, facts, tags, paths),
        later_change=find_later_change(history, facts.version.text, tags, blamed) if facts.version else None,
    )


def _blame(history: GitHistory, lines: Span) -> list[BlamedLine]:
    """Return the lines whose last change says something about them: a new code style does not."""
    blamed = history.blame(lines.path, lines.start, lines.end)
    mass_changes = {commit for commit in {line.commit for line in blamed} if history.is_mass_change(commit)}
    return [line for line in blamed if line.commit not in mass_changes]


def _find_authors(history: GitHistory, blamed: Sequence[BlamedLine]) -> list[Owner]:
    return weigh_authors(blamed, history.list_recent_authors(ACTIVE_YEARS), history.read_time()) if blamed else []
