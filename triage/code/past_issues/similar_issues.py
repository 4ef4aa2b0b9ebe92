"""Finds past issues that report the same as this one, and says which one may be named."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from triage.code.past_issues.issue_outcome import describe_outcome
from triage.code.past_issues.likeness import SAME_TITLES
from triage.code.past_issues.past_issue_index import Compared, PastIssueIndex
from triage.domain.issue import Issue, ParsedIssue
from triage.domain.past_issues import PastIssue, SimilarIssue
from triage.domain.project_config import Thresholds
from triage.issue.issue_references import find_referenced_issues

GITHUB = "https://github.com"
_ALIKE = 0.4
_BOT = "[bot]"


def find_similar_issues(
    issue: Issue,
    parsed: ParsedIssue,
    past: Sequence[PastIssue],
    limit: int,
    *,
    repository: str = "",
    near: Collection[int] = (),
    named_from: float = Thresholds().duplicate,
) -> list[SimilarIssue]:
    """The likeliest past issues, at most `limit`, of which at most the first is `named`.

    Only older issues of people count. Where a person said of which issue a past one is a duplicate, that one stands in
    its place. `repository` is `owner/name`. `near` are numbers of issues to compare as well, whatever their words.
    `named_from` is the least probability to name an issue.
    Takes time linear in the issues.
    """
    index = PastIssueIndex(choose_earlier_reports(issue, past))
    known = {one.number: one for one in past}
    originals = {one.number: find_original(one, known).number for one in past}
    compared = index.compare_likeliest(parsed, _guess_report_time(issue, past), near, originals)
    found: dict[int, tuple[Compared, PastIssue]] = {}
    for one in compared:
        original = find_original(one.past, known)
        shown = original if _is_earlier_report(original, issue) else one.past
        found.setdefault(shown.number, (one, shown))
    likeliest = list(found.values())[: max(0, limit)]
    excluded = find_referenced_issues(parsed.text, repository, _find_server_url(issue, repository))
    excluded |= {number for number, original in originals.items() if original == issue.number}
    return [
        _make_similar_issue(one, shown, named_from if position == 0 and shown.number not in excluded else None)
        for position, (one, shown) in enumerate(likeliest)
    ]


def find_original(past: PastIssue, known: Mapping[int, PastIssue]) -> PastIssue:
    """The issue at the end of the chain of which a person said that this one is a duplicate.

    Itself without such a word, and where the chain is a circle or leaves what is known.
    """
    original, seen = past, {past.number}
    while original.duplicate_of is not None and original.duplicate_of not in seen:
        seen.add(original.duplicate_of)
        if (following := known.get(original.duplicate_of)) is None:
            return original
        original = following
    return original if original.duplicate_of is None else past


def choose_earlier_reports(issue: Issue, past: Sequence[PastIssue]) -> list[PastIssue]:
    """Those of people that are older than the issue."""
    return [one for one in past if _is_earlier_report(one, issue)]


def _is_earlier_report(past: PastIssue, issue: Issue) -> bool:
    return not past.author.endswith(_BOT) and (issue.number is None or past.number < issue.number)


def _find_server_url(issue: Issue, repository: str) -> str:
    server_url, found, _ = issue.url.partition(f"/{repository}/")
    return server_url if found else GITHUB


def _guess_report_time(issue: Issue, past: Sequence[PastIssue]) -> datetime:
    """Issues are numbered in order of time, so the next one is at most a little newer."""
    later = [one.created_at for one in past if issue.number is not None and one.number > issue.number]
    known = [issue.snapshot_time] if issue.snapshot_time else [one.created_at for one in past]
    return min(later, default=max(known, default=datetime.max))


def _make_similar_issue(one: Compared, shown: PastIssue, named_from: float | None) -> SimilarIssue:
    score = round(one.probability, 2)
    return SimilarIssue(
        number=shown.number,
        title=shown.title,
        state=shown.state,
        ended=describe_outcome(shown),
        score=score,
        named=named_from is not None and score >= named_from,
        reasons=list(_explain(one, shown)),
        fix_files=list(dict.fromkeys(path for fix in shown.fixes for path in fix.files)),
        suspects=shown.suspects,
    )


def _explain(one: Compared, shown: PastIssue) -> Iterator[str]:
    if one.same_trace:
        yield "same stack trace"
    if one.same_error:
        yield "same error text"
    if one.likeness.alike >= _ALIKE:
        yield "nearly the same text"
    elif one.likeness.titles >= SAME_TITLES:
        yield "nearly the same title"
    elif not (one.same_trace or one.same_error):
        yield f"shares {_format_words(one.words)}" if one.words else "similar words"
    if shown.number != one.past.number:
        yield f"like its duplicate #{one.past.number}"


def _format_words(words: Sequence[str]) -> str:
    """In backticks: they are a stranger's."""
    return ", ".join(f"`{word}`" for word in words)
