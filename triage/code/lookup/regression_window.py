"""What changed between the versions that a report names, in the files that it leads to, by the local history."""

from collections.abc import Sequence

from triage.code.git.git_history import GitHistory
from triage.domain.code import BlamedLine, LaterChange, RegressionWindow, Tag
from triage.domain.issue import ReportFacts
from triage.issue.versions.regression_versions import build_window, choose_versions, resolve_version
from triage.issue.versions.version_tags import find_release


def find_regression_window(
    history: GitHistory, facts: ReportFacts, tags: Sequence[Tag], paths: Sequence[str]
) -> RegressionWindow | None:
    """Return the commits that changed the files between the two versions; None if either is not here."""
    versions = choose_versions(facts, tags, history.commit, history.resolve_commit) if paths else None
    if versions is None:
        return None
    worked, broken = versions
    if history.is_shallow() and history.is_ancestor(worked.commit, broken.commit) is not True:
        return None  # commits between both are missing here; GitHub has them
    return build_window(worked, broken, history.list_changes_between(worked.commit, broken.commit, paths))


def find_later_change(
    history: GitHistory, version: str, tags: Sequence[Tag], blamed: Sequence[BlamedLine]
) -> LaterChange | None:
    """Return the newest commit after the reporter's version that changed the lines; None if there is none."""
    reported = resolve_version(version, tags, history.resolve_commit)
    if reported is None or history.is_ancestor(reported.commit, history.commit) is not True:
        return None
    for commit in dict.fromkeys(line.commit for line in sorted(blamed, key=lambda line: line.at, reverse=True)):
        if history.is_ancestor(commit, reported.commit) is False:
            change = history.read_commit(commit)
            release = find_release(history.list_tags_with(commit), reported)
            return LaterChange(version=reported.name, commit=change, release=release) if change else None
    return None
