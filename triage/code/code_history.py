"""Looks up in git what a report's places have behind them: owners, a regression window, a later change."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime

from triage.code.files.file_roles import classify_file
from triage.code.git.commit_log import LoggedCommit
from triage.code.git.history import MAX_SUBJECT_CHARS, GitHistory
from triage.code.leads.regression import RateCommit, choose_commits, choose_further, list_product_commits
from triage.domain.code import (
    Author,
    BlamedLine,
    CodeHistory,
    LastChange,
    LaterChange,
    Owner,
    PathChange,
    RegressionWindow,
    Span,
    Tag,
)
from triage.domain.issue import ReportFacts
from triage.issue.versions.regressions import choose_versions, resolve_version
from triage.issue.versions.versions import find_release
from triage.safety.code_owners import CodeOwners
from triage.safety.secrets.likely_secrets import shorten_text

ACTIVE_YEARS = 2
"""Who has committed nothing for so long has left."""
HALF_LIFE_DAYS = 365.0
"""A line of this age weighs half of a new one."""
MIN_SHARE = 0.2
"""Of the weight of all lines."""
MIN_LINES_SHARE = 0.3
"""Of the number of lines: a new line alone says little."""
MAX_AUTHORS = 2
ONE_PERSONS_SHARE = 0.8
"""Of the commits of the last years: the project is one person's, who need not be told who knows the code."""
MAX_CODE_OWNERS = 3
_NO_REPLY = re.compile(r"(?:\d+\+)?([a-z\d](?:[a-z\d-]{0,38}))@users\.noreply\.github\.com")
_BOT = re.compile(
    r"\[bot\]|\bbot\b|-robot\b|(?:^|[-_ ])(?:dependabot|renovate|github[- ]actions?|pre-commit|greenkeeper|bors|"
    r"mergify|imgbot|copilot|allcontributors|semantic-release)",
    re.I,
)
MAX_PATHS = 5
MAX_SECONDS = 253_402_300_799
"""The end of the year 9999: anybody can write any date into a commit."""


def list_code_owners(names: Sequence[str]) -> list[Owner]:
    """Return the owners that CODEOWNERS names for a file."""
    return [Owner(name=name, source="CODEOWNERS", reason="by CODEOWNERS") for name in names[:MAX_CODE_OWNERS]]


def weigh_authors(lines: Sequence[BlamedLine], active: Sequence[Author], now: datetime) -> list[Owner]:
    """Return who wrote most of the lines, the newer a line the more it weighs.

    Only people among the `active` authors count; a bot is nobody. `now` is the time of the indexed commit.
    """
    emails, names = {author.email for author in active}, {author.name for author in active}
    weights: dict[str, float] = defaultdict(float)
    written: dict[str, list[BlamedLine]] = defaultdict(list)
    total = 0.0
    for line in lines:
        weight = 0.5 ** (max(0.0, (now - line.at).total_seconds()) / 86_400 / HALF_LIFE_DAYS)
        total += weight
        author = line.author
        is_active = author.email in emails or author.name in names
        # Whoever wrote an address in place of a name did not mean to publish it.
        if is_active and author.name and "@" not in author.name and not _is_bot(author):
            weights[author.name] += weight
            written[author.name].append(line)
    best = sorted(weights, key=lambda name: -weights[name])
    chosen = [
        name
        for name in best
        if weights[name] >= MIN_SHARE * total and len(written[name]) >= MIN_LINES_SHARE * len(lines)
    ]
    return [_describe(written[name], len(lines)) for name in chosen[:MAX_AUTHORS]]


def _is_bot(author: Author) -> bool:
    return bool(_BOT.search(author.name) or _BOT.search(author.email.partition("@")[0]))


def _describe(written: Sequence[BlamedLine], count: int) -> Owner:
    author, latest = written[0].author, max(line.at for line in written)
    login = next((match[1] for line in written if (match := _NO_REPLY.fullmatch(line.author.email))), None)
    share = "these" if len(written) == count else f"{len(written)} of the"
    when = f"this line in {latest:%Y-%m}" if count == 1 else f"{share} {count} lines, the last in {latest:%Y-%m}"
    return Owner(name=login or author.name, source="history", reason=f"wrote {when}")


def find_regression_window(
    history: GitHistory, facts: ReportFacts, paths: Sequence[str], rate: RateCommit
) -> RegressionWindow | None:
    """Return the commits between the two versions that fit the report; None if either version is not here.

    The files of `paths` are named first of what a commit changed.
    """
    versions = choose_versions(facts, history.list_tags(), history.commit, history.resolve_commit)
    if versions is None:
        return None
    worked, broken = versions
    if history.is_shallow() and history.is_ancestor(worked.commit, broken.commit) is not True:
        return None  # commits between both are missing here
    commits = list_product_commits(history.list_commits_between(worked.commit, broken.commit))
    named = choose_commits(commits, rate)
    further = choose_further([one for one in commits if one not in named], rate)
    return RegressionWindow(
        worked_in=worked.name,
        broken_in=broken.name,
        commits=[_to_change(one, paths) for one in named],
        further=[_to_change(one, paths) for one in further],
        total=len(commits),
    )


def _to_change(commit: LoggedCommit, paths: Sequence[str]) -> PathChange:
    code = [path for path in commit.paths if classify_file(path).is_product_code]
    return PathChange(
        commit=commit.commit,
        date=datetime.fromtimestamp(min(commit.seconds, MAX_SECONDS), UTC).isoformat(),
        subject=shorten_text(commit.message.partition("\n")[0], MAX_SUBJECT_CHARS),
        paths=sorted(code, key=lambda path: path not in paths),
    )


def find_last_change(history: GitHistory, reported: Tag | None, blamed: Sequence[BlamedLine]) -> LastChange | None:
    """Return the newest commit that changed the lines, and the first release with it; None without lines."""
    change = history.read_commit(_list_commits(blamed)[0]) if blamed else None
    if change is None:
        return None
    release = find_release(history.list_tags_with(change.commit), reported)
    return LastChange(commit=change, release=release, is_reported=bool(reported and reported.name == release))


def _list_commits(blamed: Sequence[BlamedLine]) -> list[str]:
    """Return the commits of lines, newest first."""
    return list(dict.fromkeys(line.commit for line in sorted(blamed, key=lambda line: line.at, reverse=True)))


def find_later_change(history: GitHistory, reported: Tag, blamed: Sequence[BlamedLine]) -> LaterChange | None:
    """Return the newest commit after the reporter's version that changed the lines; None if there is none."""
    if history.is_ancestor(reported.commit, history.commit) is not True:
        return None
    for commit in _list_commits(blamed):
        if history.is_ancestor(commit, reported.commit) is False and not history.has_backport(commit, reported.commit):
            change = history.read_commit(commit)
            release = find_release(history.list_tags_with(commit), reported)
            return LaterChange(version=reported.name, commit=change, release=release) if change else None
    return None


def look_up_history(
    history: GitHistory | None,
    code_owners: CodeOwners,
    facts: ReportFacts,
    paths: list[str],
    lines: Span | None,
) -> CodeHistory:
    """Return what is known of the likeliest files, and of the lines that fail or that a fix would change."""
    paths = paths[:MAX_PATHS]
    owners = list_code_owners(code_owners.find_owners(paths[0])) if paths else []
    if history is None:
        return CodeHistory(owners=owners)
    blamed = _blame(history, lines) if lines else []
    tags = history.list_tags()
    reported = resolve_version(facts.version.text, tags, history.resolve_commit) if facts.version else None
    later = find_later_change(history, reported, blamed) if reported else None
    return CodeHistory(
        owners=[*owners, *_find_authors(history, blamed)],
        later_change=later,
        last_change=find_last_change(history, reported, blamed),
    )


def _blame(history: GitHistory, lines: Span) -> list[BlamedLine]:
    """Return the lines whose last change says something about them: a new code style does not."""
    blamed = history.blame(lines.path, lines.start, lines.end)
    mass_changes = {commit for commit in {line.commit for line in blamed} if history.is_mass_change(commit)}
    return [line for line in blamed if line.commit not in mass_changes]


def _find_authors(history: GitHistory, blamed: Sequence[BlamedLine]) -> list[Owner]:
    commits = history.count_recent_commits(ACTIVE_YEARS) if blamed else Counter()
    if is_one_persons(commits):
        return []  # who it is knows
    return weigh_authors(blamed, list(commits), history.read_time())


def is_one_persons(commits: Counter[Author]) -> bool:
    """Return whether nearly all commits of people are of one of them."""
    of_people = Counter[str]()
    for author, count in commits.items():
        if not _is_bot(author):
            of_people[author.name] += count
    return bool(of_people) and max(of_people.values()) > ONE_PERSONS_SHARE * of_people.total()
