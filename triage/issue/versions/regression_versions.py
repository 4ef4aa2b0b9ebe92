"""Chooses the two commits between which a regression happened, from what the report says and the tags."""

import re
from collections.abc import Callable, Sequence

from triage.domain.code import PathChange, RegressionWindow, Tag
from triage.domain.issue import ReportFacts
from triage.issue.versions.version_tags import find_previous_tag, find_tag

MAX_COMMITS = 5
HEAD = "HEAD"
ResolveCommit = Callable[[str], str | None]
"""Returns the full id of a commit that is written in hexadecimal."""
_COMMIT = re.compile(r"(?:^|-\d{1,6}-g)((?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40})$")
"""Alone, or as `git describe` writes it: `1.1.0-2-gabcdef5`."""


def choose_versions(
    facts: ReportFacts, tags: Sequence[Tag], head: str, resolve: ResolveCommit
) -> tuple[Tag, Tag] | None:
    """Return the version that worked and the one that does not; None without a regression, or if either is unknown.

    A report that says "since the update" names one version at most: the other one is the release before it, or `head`,
    the indexed commit.
    """
    if facts.regression is None:
        return None
    worked_text = facts.regression.worked_in
    broken_text = facts.regression.broken_in or (facts.version.text if facts.version else "")
    worked = resolve_version(worked_text, tags, resolve, last=True)
    broken = resolve_version(broken_text, tags, resolve) if broken_text else Tag(name=HEAD, commit=head)
    if worked is None and not worked_text and broken is not None and broken in tags:
        worked = find_previous_tag(broken, tags)
    if worked is None or broken is None or worked.commit == broken.commit:
        return None
    return worked, broken


def resolve_version(written: str, tags: Sequence[Tag], resolve: ResolveCommit, *, last: bool = False) -> Tag | None:
    """Return the tag or the commit that a report's words name; None if there is none here."""
    words = written.split()
    if not words:
        return None
    if written_commit := _COMMIT.search(words[-1].lower()):
        commit = resolve(written_commit[1])
        return Tag(name=written_commit[1][:12], commit=commit) if commit else None
    return find_tag(words[-1], tags, last=last)


def build_window(worked: Tag, broken: Tag, changes: Sequence[PathChange]) -> RegressionWindow:
    return RegressionWindow(
        worked_in=worked.name, broken_in=broken.name, commits=list(changes[:MAX_COMMITS]), total=len(changes)
    )
