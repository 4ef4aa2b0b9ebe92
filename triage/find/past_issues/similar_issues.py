"""Finds past issues and pull requests that are about the same as this issue, and says which may be named."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from triage.domain.issue import Issue, ParsedIssue
from triage.domain.past_issues import PastIssue, SimilarIssue
from triage.find.past_issues.likeness import (
    SAME_TITLES,
    SURE,
    IssueTable,
    Likeness,
    compare,
    compare_failures,
    count_days,
    estimate_probability,
    extract_terms,
    is_surely_about,
    is_surely_same,
    read_failure,
)
from triage.read.other_issues import find_referenced_issues

NAMED_FROM = 0.6
"""Least probability to name an issue. `bench.duplicates` prints how often that is right."""
_VERSION = re.compile(
    r"^(?:(?:version|release|milestone|ver|rel)?[\s/-]{0,3})"
    r"(v\d{1,5}|v?\d{1,5}(?:\.\d{1,5}){1,3}(?:[-.]?(?:rc|beta|alpha|pre|x)[.-]?\d{0,3})?)$",
    re.I,
)
_MAX_MILESTONE_CHARS = 60
_COMPARED = 30
"""Past issues that are compared closely: the best by their words."""
GITHUB = "https://github.com"
_ALIKE = 0.4
_BOT = "[bot]"


def describe_outcome(past: PastIssue) -> str:
    """Return words such as `fixed in 1.4`, `fixed by #34`, `not planned` or `closed`; empty if it is open.

    Closed as completed is how GitHub closes any issue, so it counts as fixed only with a fix or with the milestone of a
    version.
    """
    if past.state == "open":
        return ""
    if past.is_pull_request:
        return "merged"
    if past.duplicate_of is not None:
        return f"duplicate of #{past.duplicate_of}"
    if past.state_reason in ("duplicate", "not_planned"):
        return past.state_reason.replace("_", " ")
    milestones = [*(fix.milestone for fix in past.fixes), past.milestone]
    if version := next(filter(None, map(find_version, milestones)), ""):
        return f"fixed in {version}"
    if number := next((fix.number for fix in past.fixes if fix.number is not None), None):
        return f"fixed by #{number}"
    return "fixed" if past.fixes else "closed"


def find_version(milestone: str) -> str:
    """Return the version at the end of a milestone's name, such as `Release 1.4`; empty for any other name."""
    match = _VERSION.search(milestone.strip()[-_MAX_MILESTONE_CHARS:])
    return match[1] if match else ""


@dataclass(frozen=True)
class Compared:
    """A past issue, and what this one shares with it."""

    past: PastIssue
    likeness: Likeness
    probability: float
    """That both report the same."""
    same_error: bool
    same_trace: bool


class PastIssueIndex:
    def __init__(self, past: Iterable[PastIssue] = ()) -> None:
        self._table = IssueTable()
        self._issues: list[PastIssue] = []
        for issue in sorted(past, key=lambda one: one.number):
            self.add(issue)

    def add(self, issue: PastIssue) -> None:
        self._table.add(extract_terms(issue.title, issue.body))
        self._issues.append(issue)

    def compare_likeliest(
        self,
        parsed: ParsedIssue,
        reported_at: datetime,
        originals: Mapping[int, int] | None = None,
    ) -> list[Compared]:
        """Compare the issues that share most words with this one. Likeliest first.

        `originals` has the number of the original of each known duplicate: neither is ahead of the other.
        """
        here = self._table.make_bag(extract_terms(parsed.title, parsed.body))
        scores = self._table.score(here)
        likeliest = np.argsort(-scores, kind="stable")[:_COMPARED].tolist()
        best = [position for position in likeliest if scores[position] > 0]
        failure = read_failure(parsed)
        roots = [(originals or {}).get(past.number, past.number) for past in self._issues]
        highest = float(scores[best[0]]) if best else 1.0
        compared = []
        for position in best:
            past, bag = self._issues[position], self._table.bags[position]
            other = next((float(scores[at]) for at in best if roots[at] != roots[position]), 0.0)
            same_error, same_trace, is_other = compare_failures(failure, past.title, past.body)
            likeness = compare(
                self._table,
                here,
                bag,
                days=count_days(past.created_at, reported_at),
                lead=(float(scores[position]) - other) / highest,
            )
            probability = estimate_probability(likeness)
            is_same = is_surely_same(self._table, here, bag, likeness, same_error=same_error, same_trace=same_trace)
            if past.is_pull_request:
                is_same = is_surely_about(likeness)
            if is_same and (same_error or not is_other):
                probability = max(probability, SURE)
            compared.append(Compared(past, likeness, probability, same_error, same_trace))
        return sorted(compared, key=lambda one: (-one.probability, one.past.number))


def find_similar_issues(
    issue: Issue,
    parsed: ParsedIssue,
    past: Sequence[PastIssue],
    limit: int,
    *,
    repository: str = "",
) -> list[SimilarIssue]:
    """Return likely past issues and pull requests, at most `limit`. At most the first of either is probably the same.

    Only older issues of people count, and pull requests of people. Where a person said of which issue a past one is a
    duplicate, that one stands in its place. `repository` is `owner/name`. Takes time linear in the issues.
    """
    index = PastIssueIndex(one for one in past if _is_older_issue(one, issue))
    known = {one.number: one for one in past}
    originals = {one.number: find_original(one, known).number for one in past}
    reported_at = _guess_report_time(issue, past)
    compared = index.compare_likeliest(parsed, reported_at, originals)
    found: dict[int, tuple[Compared, PastIssue]] = {}
    for one in compared:
        original = find_original(one.past, known)
        shown = original if _is_older_issue(original, issue) else one.past
        found.setdefault(shown.number, (one, shown))
    # Apart, as an issue and the pull request that closes it share their words: neither is ahead of the other.
    pulls = PastIssueIndex(one for one in past if one.is_pull_request and not one.author.endswith(_BOT))
    about = [(one, one.past) for one in pulls.compare_likeliest(parsed, reported_at)]
    server_url, is_here, _ = issue.url.partition(f"/{repository}/")
    excluded = find_referenced_issues(parsed.text, repository, server_url if is_here else GITHUB)
    excluded |= {one.number for one in past if issue.number in _follow_duplicates(one, known)}
    similar = [
        _make_similar_issue(one, shown, may_be_named=position == 0 and shown.number not in excluded)
        for likeliest in (list(found.values()), about)
        for position, (one, shown) in enumerate(likeliest[: max(0, limit)])
    ]
    return sorted(similar, key=lambda one: -one.score)[: max(0, limit)]


def find_original(past: PastIssue, known: Mapping[int, PastIssue]) -> PastIssue:
    """Return the issue at the end of the chain of which a person said that this one is a duplicate.

    Itself without such a word, and where the chain is a circle or leaves what is known.
    """
    chain = _follow_duplicates(past, known)
    ends = [known[number] for number in chain if number in known]
    is_circle = chain != [] and chain[-1] == past.number
    return past if is_circle or not ends else ends[-1]


def _follow_duplicates(past: PastIssue, known: Mapping[int, PastIssue]) -> list[int]:
    """Return the numbers of the issues that this one repeats, one after the other; of a circle each once."""
    chain: list[int] = []
    following: PastIssue | None = past
    while following and following.duplicate_of is not None and following.duplicate_of not in chain:
        chain.append(following.duplicate_of)
        following = known.get(following.duplicate_of)
    return chain


def _is_older_issue(past: PastIssue, issue: Issue) -> bool:
    is_report = not past.is_pull_request and not past.author.endswith(_BOT)
    return is_report and (issue.number is None or past.number < issue.number)


def _guess_report_time(issue: Issue, past: Sequence[PastIssue]) -> datetime:
    """Issues are numbered in order of time, so the next one is at most a little newer."""
    later = [one.created_at for one in past if issue.number is not None and one.number > issue.number]
    known = [issue.snapshot_time] if issue.snapshot_time else [one.created_at for one in past]
    return min(later, default=max(known, default=datetime.max))


def _make_similar_issue(compared: Compared, shown_issue: PastIssue, *, may_be_named: bool) -> SimilarIssue:
    score = round(compared.probability, 2)
    return SimilarIssue(
        number=shown_issue.number,
        is_pull_request=shown_issue.is_pull_request,
        title=shown_issue.title,
        state=shown_issue.state,
        ended=describe_outcome(shown_issue),
        score=score,
        is_probably_same=may_be_named and score >= NAMED_FROM,
        reasons=list(_explain(compared, shown_issue)),
        fix_files=list(dict.fromkeys(path for fix in shown_issue.fixes for path in fix.files)),
        suspects=shown_issue.suspects,
    )


def _explain(compared: Compared, shown_issue: PastIssue) -> Iterator[str]:
    """Yield why the issues are alike, and with which duplicate of the shown one."""
    if compared.same_trace:
        yield "same stack trace"
    if compared.same_error:
        yield "same error text"
    if compared.likeness.alike >= _ALIKE:
        yield "nearly the same text"
    elif compared.likeness.titles >= SAME_TITLES:
        yield "nearly the same title"
    elif not (compared.same_trace or compared.same_error):
        yield "similar words"
    if shown_issue.number != compared.past.number:
        yield f"like its duplicate #{compared.past.number}"
