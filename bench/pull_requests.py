"""Counts how often a pull request is named for an issue, and whether it is the one that fixed it.

Pull requests are read in merges and squashed commits: the hundred before the base commit were merged then, the eighty
after it were open. Each issue is compared with them without its fix, which names a wrong one, and with it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.accuracy import open_git, parse_arguments
from bench.fixed import find_time, run
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.find.past_issues.similar_issues import find_similar_issues
from triage.git.git import Git
from triage.read.read_issue import read_issue

MERGED, OPEN = 100, 80
_NUMBER = re.compile(r"^Merge pull request #(\d+) |\(#(\d+)\)$")
_OPEN_FOR = timedelta(days=10)


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    counts = Counter[str]()
    pulls: dict[str, list[PastIssue]] = {}
    for record in records:
        git, name = open_git(record, mirror), record["repo"]
        pulls[name] = pulls[name] if name in pulls else list(read_pull_requests(git))
        at = datetime.fromtimestamp(find_time(git, record["base_commit"]), UTC)
        number = int(record["instance_id"].rpartition("-")[2])
        fix, others = choose(pulls[name], at, number)
        counts["issues"] += 1
        if named := find_named(record, others, at):
            counts[f"{named.state}, named without the fix"] += 1
            print(record["instance_id"], named.number, named.state, named.title, flush=True)
        if fix:
            counts["issues with a fix"] += 1
            named = find_named(record, [fix, *others], at)
            counts["the fix is named"] += named is not None and named.number == number
    print(*(f"{count} {words}" for words, count in counts.items()), sep="\n")


def read_pull_requests(git: Git) -> Iterator[PastIssue]:
    """Yield what was merged, oldest first."""
    log = run(git, "log", "--all", "--date-order", "--reverse", "--format=%ct%x01%s%x01%b%x02")
    for entry in log.split("\x02")[:-1]:
        time, subject, body = entry.strip("\n").split("\x01", 2)
        match = _NUMBER.search(subject)
        if match is None:
            continue
        title, _, text = body.strip().partition("\n") if match[1] else (subject[: match.start()].strip(), "", body)
        merged_at = datetime.fromtimestamp(int(time), UTC)
        number = int(match[1] or match[2])
        yield PastIssue(number=number, is_pull_request=True, title=title, body=text[:6_000], created_at=merged_at)


def choose(pulls: Sequence[PastIssue], at: datetime, number: int) -> tuple[PastIssue | None, list[PastIssue]]:
    """Return the fix, open, and the others as they were at a time."""
    others = [one for one in pulls if one.number != number]
    merged = [one.model_copy(update={"state": "closed"}) for one in others if one.created_at <= at][-MERGED:]
    then_open = [one for one in others if one.created_at > at][:OPEN]
    fix = next((one for one in pulls if one.number == number), None)
    opened = {"created_at": at - _OPEN_FOR}
    shown = [*merged, *(one.model_copy(update=opened) for one in then_open)]
    return fix and fix.model_copy(update=opened), shown


def find_named(record: dict[str, Any], pulls: Sequence[PastIssue], at: datetime) -> Any:
    title, _, body = record["problem_statement"].partition("\n")
    issue = Issue(title=title, body=body, snapshot_time=at)
    return next((one for one in find_similar_issues(issue, read_issue(issue), pulls, 5) if one.is_probably_same), None)


if __name__ == "__main__":
    main()
