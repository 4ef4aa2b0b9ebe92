"""Measures how often a commit after the reporter's version is called the fix, and rightly, on issues with known fixes.

An issue is asked twice. Months after its fix, from the newest release before it: the fix is among the commits. Just
before its fix, from a release of months before: it is not, so whatever is claimed is wrong. By words alone: no file is
indexed, so no commit gains by the file of a fact.
"""

import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.accuracy import open_git, parse_arguments
from triage.find.build_corpus import IndexLimits, build_corpus
from triage.find.leads.regression import MIN_SURE, RankCommits, make_ranker, rate_fix
from triage.find.past_changes import PastChanges, read_changes
from triage.find.rank.query import build_query
from triage.find.retriever import make_search_query
from triage.git.commit_log import read_commit_log
from triage.git.git import Git
from triage.git.history import MAX_WINDOW
from triage.git.tree import Listing, SourceTree

MONTHS = 4 * 30 * 86_400
"""Seconds between the fix and the newest commit, or between the release and the issue."""
CHOSEN_ON = frozenset(
    ["django/django", "sphinx-doc/sphinx", "pytest-dev/pytest", "astropy/astropy", "psf/requests", "pallets/flask"]
)
"""Repositories on which features and threshold were chosen; the others are the test."""
LIVE_SHARE = 1 / 10
"""Of live issues with a version, those whose fix is in a later commit: 5 of 64 that were read."""
STEPS = [0.9, 1.0, 1.1, 1.2, 1.3, MIN_SURE, 1.5]
_RELEASE = re.compile(r"(?:v|[a-z]+-)?\d+(?:\.\d+)+")


@dataclass(frozen=True)
class Claim:
    is_chosen_on: bool
    has_fix: bool
    """The fix is among the commits."""
    sureness: float
    rank: int
    """Of the fix, from 0."""

    @property
    def is_right(self) -> bool:
        return self.has_fix and self.rank == 0


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    claims: list[Claim] = []
    for record in records:
        git = open_git(record, mirror)
        fixes = find_fixes(git, record)
        for worked, head in find_windows(git, record, fixes) if fixes else ():
            ranked = open_ranker(git, record, head)(list_commits(git, worked, head), (), {})
            order = [one.change.commit for one in ranked]
            rank = min((order.index(fix) for fix in fixes if fix in order), default=len(order))
            claim = Claim(record["repo"] in CHOSEN_ON, head != record["base_commit"], rate_fix(ranked), rank)
            claims.append(claim)
            best = ranked[0].change.subject if ranked else ""
            print(record["instance_id"], claim.has_fix, rank, len(order), f"{claim.sureness:.2f}", best, flush=True)
    for title, is_chosen_on in (("chosen on", True), ("test", False)):
        show([one for one in claims if one.is_chosen_on is is_chosen_on], title)


def show(claims: list[Claim], title: str) -> None:
    later = [one for one in claims if one.has_fix]
    if not later:
        return
    shares = [f"{statistics.mean(one.rank < k for one in later):.1%} among {k}" for k in (1, 3)]
    print(f"{title}: {len(later)} with the fix, {len(claims) - len(later)} without; the fix is", *shares)
    weight = (1 - LIVE_SHARE) / LIVE_SHARE
    for step in STEPS:
        said = [one for one in claims if one.sureness >= step]
        right, false = sum(one.is_right for one in said), sum(not one.has_fix for one in said)
        missed = len(said) - right - false
        evenly, live = (right / max(1, right + missed + times * false) for times in (1, weight))
        print(
            f"{step:.2f}: told for {right / len(later):.1%}, right {right}, another commit {missed}, no fix yet {false}; "
            f"precision {evenly:.1%}, with one fix in ten issues {live:.1%}"
        )


def find_fixes(git: Git, record: dict[str, Any]) -> set[str]:
    """Return the commits of the fix: by the number of its pull request, else the next one that edits its files."""
    base, number = record["base_commit"], record["instance_id"].rpartition("-")[2]
    by_number = rf"\(#{number}\)$|^Merge pull request #{number} "
    found = run(
        git, "log", "--format=%H %P", "--extended-regexp", f"--grep={by_number}", f"{base}..{head_of(git)}"
    ).splitlines()
    parents = next((line.split() for line in reversed(found)), [])
    if len(parents) > 2:
        return set(run(git, "rev-list", "--no-merges", f"{parents[1]}..{parents[2]}").split())
    if parents:
        return {parents[0]}
    after = ("log", "--reverse", "--no-merges", "--ancestry-path", "--format=%H %P", f"{base}..{head_of(git)}")
    following = [line.split() for line in run(git, *after, "--", *record["gold_files"]).splitlines()]
    return {line[0] for line in following[:1] if line[1:] == [base]}


def find_windows(git: Git, record: dict[str, Any], fixes: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the release and the newest commit, with the fix between them and without."""
    base = record["base_commit"]
    before, fixed = find_time(git, base), max(find_time(git, fix) for fix in fixes)
    later = ("rev-list", "--first-parent", "--reverse", f"--since={fixed + MONTHS}", head_of(git))
    head = next(iter(run(git, *later).split()), head_of(git))
    for ago, newest in ((0, head), (MONTHS, base)):
        if known := [tag for time, tag in list_releases(git) if time < before - ago]:
            yield known[-1], newest


def list_releases(git: Git) -> list[tuple[int, str]]:
    """Return time and tag of the releases, the oldest first."""
    lines = run(git, "for-each-ref", "--sort=creatordate", "--format=%(creatordate:unix) %(refname)", "refs/tags")
    tags = [(int(line.split()[0]), line.split()[1]) for line in lines.splitlines() if line[0].isdigit()]
    return [(time, tag) for time, tag in tags if _RELEASE.fullmatch(tag.removeprefix("refs/tags/"))]


def list_commits(git: Git, worked: str, head: str) -> list[str]:
    return run(git, "rev-list", "--no-merges", f"--max-count={MAX_WINDOW}", f"{worked}..{head}").split()


def open_ranker(git: Git, record: dict[str, Any], head: str) -> RankCommits:
    """Return what ranks commits by an issue's words, as the index of `head` does."""
    no_file = build_corpus(SourceTree(), Listing(), IndexLimits()).corpus
    newest = run(git, "rev-parse", f"{head}^{{commit}}").strip()
    past = PastChanges(no_file, read_changes(read_commit_log(git, newest)))
    return make_ranker(past, build_query(make_search_query(record["problem_statement"])), ())


def find_time(git: Git, commit: str) -> int:
    return int(run(git, "show", "-s", "--format=%ct", commit))


def head_of(git: Git) -> str:
    return run(git, "rev-parse", "HEAD").strip()


def run(git: Git, *args: str) -> str:
    return git.run(*args, seconds=300.0, max_bytes=1 << 28).decode("utf-8", "replace")


if __name__ == "__main__":
    main()
