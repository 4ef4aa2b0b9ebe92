"""Looks up in git what a report's places have behind them: owners, a regression window, a later change."""

from collections.abc import Sequence

from triage.domain.code import (
    BlamedLine,
    CodeHistory,
    LastChange,
    LaterChange,
    LaterFix,
    PathChange,
    RegressionWindow,
    Span,
    Tag,
)
from triage.domain.issue import Frame, IssueFacts, ParsedIssue
from triage.find.files.file_roles import is_changelog
from triage.find.leads.regression import (
    MAX_FEW,
    RankCommits,
    RankedCommit,
    choose_commits,
    find_sure_fix,
    is_sure,
    list_effective,
)
from triage.find.rank.mentions import resolve_path
from triage.find.words.corpus import Corpus
from triage.git.commit_log import MAX_FILES
from triage.git.history import MAX_SUBJECT_CHARS, GitHistory, to_time
from triage.read.versions.regressions import choose_versions, resolve_version
from triage.read.versions.versions import find_release, names_version
from triage.safety.code_owners import CodeOwners
from triage.safety.secrets.likely_secrets import shorten_text

MAX_CODE_OWNERS = 3
MAX_PATHS = 5
MAX_FURTHER = 25
MIN_ENTRY_WORDS, MAX_ENTRY_CHARS = 4, 200


def find_regression_window(
    history: GitHistory, facts: IssueFacts, paths: Sequence[str], rank: RankCommits
) -> RegressionWindow | None:
    """Return the commits between the two versions that fit the report; None if either version is not here.

    The files of `paths` are named first of what a commit changed.
    """
    tags = history.list_tags()
    versions = choose_versions(facts, tags, history.commit, history.resolve_commit)
    if versions is None:
        return None
    worked, broken = versions
    if history.is_shallow and history.is_ancestor(worked.commit, broken.commit) is not True:
        return None  # commits between both are missing here
    # The commit of the release itself names its version, and changes nothing else.
    logged = [one for one in history.read_commits_between(worked.commit, broken.commit) if list_effective(one.paths)]
    is_release = broken in tags
    commits = [one for one in logged if not (is_release and names_version(one.message.partition("\n")[0], broken))]
    read = [one.commit for one in commits if len(one.paths) <= MAX_FILES] if len(commits) <= MAX_FEW else []
    ranked = rank([one.commit for one in commits], commits, history.read_changed_lines(read) if read else {})
    named = choose_commits(ranked)
    further = [one for one in ranked if one not in named][:MAX_FURTHER]
    return RegressionWindow(
        worked_in=worked.name,
        broken_in=broken.name,
        commits=[_add_entry(_to_change(one, paths), one.change.paths, history) for one in named],
        further=[_to_change(one, paths) for one in further],
        total=len(ranked),
        is_sure=is_sure(ranked),
    )


def _to_change(ranked: RankedCommit, paths: Sequence[str]) -> PathChange:
    """Return a commit as the report has it, of its files those of `paths` first."""
    change = ranked.change
    return PathChange(
        commit=change.commit,
        date=to_time(str(change.seconds)).isoformat(),
        subject=shorten_text(change.subject, MAX_SUBJECT_CHARS),
        paths=sorted(list_effective(change.paths), key=lambda path: path not in paths),
    )


def _add_entry(change: PathChange, paths: Sequence[str], history: GitHistory) -> PathChange:
    """Return the commit with what it tells users: it may have changed something on purpose."""
    for path in filter(is_changelog, paths):
        shown = history.read_changed_lines([change.commit], path).get(change.commit, "").splitlines()
        lines = (line.strip(" \t*+-") for line in shown if line.startswith("+") and not line.startswith("+++ "))
        # A heading of a version, or what underlines one, tells nothing.
        if entry := next((line for line in lines if len(line.split()) >= MIN_ENTRY_WORDS and line[0] != "#"), ""):
            return change.model_copy(update={"changelog": path, "entry": shorten_text(entry, MAX_ENTRY_CHARS)})
    return change


MAX_QUOTED = 8
"""Innermost frames of a trace whose lines are looked up. Each is a call of git."""


def find_last_change(history: GitHistory, version: Tag | None, blamed: Sequence[BlamedLine]) -> LastChange | None:
    """Return the newest commit that changed the lines, and the first release with it; None without lines."""
    change = history.read_commit(_list_commits(blamed)[0]) if blamed else None
    if change is None:
        return None
    release = find_release(history.list_tags_with(change.commit), version)
    return LastChange(commit=change, release=release, is_reported=bool(version and version.name == release))


def _list_commits(blamed: Sequence[BlamedLine]) -> list[str]:
    """Return the commits of lines, newest first."""
    return list(dict.fromkeys(line.commit for line in sorted(blamed, key=lambda line: line.at, reverse=True)))


def find_later_change(history: GitHistory, version: Tag, blamed: Sequence[BlamedLine]) -> LaterChange | None:
    """Return the newest commit after the reporter's version that changed the lines; None if there is none."""
    if history.is_ancestor(version.commit, history.commit) is not True:
        return None
    later = (commit for commit in _list_commits(blamed) if _is_later(history, version, commit))
    return next((_make_later(history, version, commit) for commit in later), None)


def _is_later(history: GitHistory, version: Tag, commit: str) -> bool:
    """Return whether the reporter's version has neither the commit nor a backport of it."""
    is_before = history.is_ancestor(commit, version.commit)
    return is_before is False and not history.has_backport(commit, version.commit)


def _make_later(history: GitHistory, version: Tag, commit: str) -> LaterChange | None:
    change = history.read_commit(commit)
    release = find_release(history.list_tags_with(commit), version, is_later=True)
    return LaterChange(version=version.name, commit=change, release=release) if change else None


def find_fix(history: GitHistory, version: Tag, named_fix: str, rank: RankCommits) -> LaterFix | None:
    """Return the commit after the reporter's version that the report names as the fix, or else surely is one."""
    if history.is_shallow and history.is_ancestor(version.commit, history.commit) is not True:
        return None  # commits after it are missing here
    named = history.resolve_commit(named_fix) if named_fix else None
    is_named = named is not None and history.is_ancestor(named, history.commit) is True
    sure = None if is_named else find_sure_fix(rank(history.list_commits_after(version.commit), (), {}))
    commit = named if is_named else sure and sure.commit
    if not commit or not _is_later(history, version, commit):
        return None
    later = _make_later(history, version, commit)
    release = (later and later.release) or _find_backport(history, version, commit)
    return LaterFix(**dict(later) | {"release": release}, is_named_by_report=is_named) if later else None


def _find_backport(history: GitHistory, version: Tag, commit: str) -> str | None:
    """Return the newest release if a release branch brought its own copy of the commit into it."""
    tags = history.list_tags()
    newest = next((tag for tag in tags if tag.name == find_release(tags, version)), None)
    return newest.name if newest and newest != version and history.has_backport(commit, newest.commit) else None


def look_up_history(
    history: GitHistory | None,
    code_owners: CodeOwners,
    facts: IssueFacts,
    paths: list[str],
    span: Span | None,
    line: int | None,
    rank: RankCommits,
) -> CodeHistory:
    """Return what is known of the likeliest files, and of the lines that fail or that a fix would change.

    `line` is the one of them that fails: who changed a line beside it has not broken it.
    """
    paths = paths[:MAX_PATHS]
    owners = code_owners.find_owners(paths[0])[:MAX_CODE_OWNERS] if paths else []
    if history is None:
        return CodeHistory(owners=owners)
    blamed = _blame(history, span) if span else []
    failing = _blame(history, Span(path=span.path, start=line, end=line)) if span and line else blamed
    tags = history.list_tags()
    version = resolve_version(facts.version.text, tags, history.resolve_commit) if facts.version else None
    later = find_later_change(history, version, blamed) if version else None
    return CodeHistory(
        owners=owners,
        later_fix=find_fix(history, version, facts.named_fix, rank) if version else None,
        later_change=later,
        last_change=find_last_change(history, version, failing),
    )


def quote_reported_lines(parsed: ParsedIssue, history: GitHistory, version: str, corpus: Corpus) -> ParsedIssue:
    """Return the issue with the lines of frames that show only a number, which is that of the reporter's version.

    The line may stand elsewhere now. Of one that is gone there is no number any more: only its function is named.
    """
    reported = resolve_version(version, history.list_tags(), history.resolve_commit)
    if reported is None or reported.commit == history.commit:
        return parsed

    def quote(frame: Frame) -> Frame:
        """Return the frame with the line of code that the reporter had; without number if that is gone."""
        files = resolve_path(corpus, frame.path) if frame.line and not frame.code else []
        if frame.line is None or len(files) != 1:
            return frame
        then = history.read_file(reported.commit, corpus.files[files[0]].path)
        now = [line.strip() for line in corpus.files[files[0]].read_lines()]
        code = then[frame.line - 1].strip() if frame.line <= len(then) else ""
        if not code or now[frame.line - 1 : frame.line] == [code]:
            return frame
        return frame.model_copy(update={"code": code} if code in now else {"line": None})

    traces = [
        one.model_copy(update={"frames": [*one.frames[:-MAX_QUOTED], *map(quote, one.frames[-MAX_QUOTED:])]})
        for one in parsed.traces
    ]
    return parsed.model_copy(update={"traces": traces})


def _blame(history: GitHistory, span: Span) -> list[BlamedLine]:
    """Return the lines whose last change says something about them: a new code style does not."""
    blamed = history.blame(span.path, span.start, span.end)
    mass_changes = {commit for commit in {line.commit for line in blamed} if history.is_mass_change(commit)}
    return [line for line in blamed if line.commit not in mass_changes]
