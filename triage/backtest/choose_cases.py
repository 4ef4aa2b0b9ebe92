"""Chooses the issues of a backtest: those whose fix is known, lies in the clone and edits code."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from triage.backtest.judge import PastCase, is_product_code
from triage.base.errors import BadInput, GitError
from triage.domain.past_issues import PastFix, PastIssue
from triage.find.past_changes import is_about_work, is_mainly_fix
from triage.git.commit import open_commit
from triage.git.commit_log import LoggedCommit
from triage.git.history import GitHistory

NO_COMMIT = "the commit of the fix is not in this clone"
NO_CODE = "the fix edits no code that was there before"
EARLIER_FIX = "the fix is older than the issue"
NO_BUG = "the message is about tests, types, style or words"
REBASED = "the fix is several commits on the branch"
LARGE_FIX = "the fix edits more than 30 files of code"
MAX_FILES = 30
"""Who edits more has not fixed one thing."""
MAX_MISSING_SHARE = 0.05
"""Of the files: a clone may lack a few large ones."""
_LAST = datetime.max.replace(tzinfo=UTC)
_SUBJECT_NUMBER = re.compile(r"\s*\(#\d{1,9}\)$")
_TYPE = re.compile(r"^(?:bug)?fix(?:es|ed)?(?:\([\w./, -]{1,40}\))?!?:\s*", re.IGNORECASE)
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]{2,30}: .*<.*@.*>\s*$|^git-svn-id:.*$|^\(cherry picked from .*$", re.MULTILINE)


@dataclass
class ChosenCases:
    cases: list[PastCase] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of issues by reason."""


def open_history(root: Path) -> GitHistory:
    """Return the history of the checkout's newest commit. Raises BadInput without git or without a commit."""
    try:
        return open_commit(root.resolve()).history
    except GitError as error:
        raise BadInput(f"--repo: the folder has no history that git can read ({error}).") from None


def check_has_files(root: Path, commit: str) -> None:
    """Raise BadInput if the clone lacks most files of a commit, as one made with --filter does."""
    try:
        listing = open_commit(root, commit).list_files()
    except GitError:  # such as a folder that was not there yet: its triage says so
        return
    if listing.missing > MAX_MISSING_SHARE * (len(listing.entries) + listing.missing):
        raise BadInput(
            f"--repo: {listing.missing:,} files of commit {commit[:10]} are not in this clone. "
            "Make one without --filter."
        )


def choose_issues(past: Iterable[PastIssue], history: GitHistory, last: int, issue_url: str) -> ChosenCases:
    """Return the newest fixed issues, at most `last`. `issue_url` begins the URL of each issue; empty for none."""
    chosen = ChosenCases()
    for issue in sorted(past, key=lambda one: -one.number):
        if len(chosen.cases) == last:
            break
        if not any(fix.commit for fix in issue.fixes):
            continue
        found = _read_fixes(issue, history)
        if isinstance(found, str):
            chosen.left_out[found] += 1
            continue
        base, fix, edited = found
        chosen.cases.append(
            PastCase(
                name=f"#{issue.number}",
                number=issue.number,
                title=issue.title,
                body=issue.body,
                author=issue.author,
                opened_at=issue.created_at,
                base=base,
                fix=fix,
                edited=edited,
                url=f"{issue_url}/{issue.number}" if issue_url else "",
                wrong=issue.wrong_subjects,
            )
        )
    return chosen


def choose_commits(commits: Iterable[LoggedCommit], history: GitHistory, last: int) -> ChosenCases:
    """Return the newest commits that fix something, with their messages as issues, at most `last`.

    `commits` are those of `GitHistory.read_commits`: no merges, none of bots or of more than 30 files.
    """
    chosen = ChosenCases()
    for commit in commits:
        if len(chosen.cases) == last:
            break
        if not commit.paths or not is_mainly_fix(commit.message):  # no path of this folder
            continue
        if is_about_work(commit.message):
            chosen.left_out[NO_BUG] += 1
            continue
        title, body = split_message(commit.message)
        base = history.find_first_parent(commit.commit)
        edited = sorted(_list_edited(history, base, commit.commit)) if base else []
        if base is None or not edited or not title:
            chosen.left_out[NO_CODE] += 1
            continue
        if len(edited) > MAX_FILES:
            chosen.left_out[LARGE_FIX] += 1
            continue
        chosen.cases.append(
            PastCase(
                name=commit.commit[:7],
                title=title,
                body=body,
                opened_at=datetime.fromtimestamp(commit.seconds, UTC),
                base=base,
                fix=commit.commit,
                edited=edited,
            )
        )
    return chosen


def split_message(message: str) -> tuple[str, str]:
    """Return a title and a text without what only a commit has: its type, its number, who signed it."""
    subject, _, rest = message.strip().partition("\n")
    title = _TYPE.sub("", _SUBJECT_NUMBER.sub("", subject.strip()))
    return title, _TRAILER.sub("", rest).strip()


def _read_fixes(issue: PastIssue, history: GitHistory) -> tuple[str, str, list[str]] | str:
    """Return base, fix and edited files of an issue that has a fix with a commit, or why it is left out."""
    fixes = sorted((fix for fix in issue.fixes if fix.commit), key=lambda fix: fix.at or _LAST)
    first = fixes[0]
    assert first.commit
    if first.at is not None and first.at < issue.created_at:
        return EARLIER_FIX
    if any(fix.commits > 1 for fix in fixes):
        return REBASED
    base = history.find_first_parent(first.commit)
    if base is None:
        return NO_COMMIT
    edited = sorted({path for fix in fixes for path in _list_edited_since(history, fix, base)})
    if not edited:
        return NO_CODE
    return (base, first.commit, edited) if len(edited) <= MAX_FILES else LARGE_FIX


def _list_edited_since(history: GitHistory, fix: PastFix, first_base: str) -> list[str]:
    """Return the code that a fix edited and that was there before the first one."""
    commit = fix.commit or ""
    base = history.find_first_parent(commit)
    if base is None:
        return []
    edited = _list_edited(history, base, commit)
    if base == first_base:
        return edited
    since_first = history.list_changed_files(first_base, commit)
    return [path for path in edited if since_first.get(path, True)]


def _list_edited(history: GitHistory, base: str, commit: str) -> list[str]:
    """Return the code of the product in which two commits differ and that the first one has."""
    edited = [path for path, was_there in history.list_changed_files(base, commit).items() if was_there]
    # A name that is not UTF-8 is not in the index.
    return [path for path in edited if is_product_code(path) and "\ufffd" not in path]
