"""Lists the issues of a repository that a search finds, with their threads.

A page of issues takes one request. GitHub's search returns at most 1,000 results. What the fields mean stands in
GitHub's GraphQL reference, queries: `search`; and issues: `Issue`, `IssueComment`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from triage.agents.services import IteratePastIssues
from triage.app.app import App
from triage.backlog.backlog_files import MAX_ISSUES, Backlog, LeftOut
from triage.base.errors import BadInput, TriageError
from triage.base.progress import ProgressLog
from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import Issue, IssueComment
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.task import TriageTask, Trigger
from triage.outside.github.comments import CommentClient
from triage.outside.github.github_errors import translate_read_errors
from triage.outside.github.issue_nodes import MAX_TITLE_CHARS, CommentPage, IssueNode, list_nodes
from triage.outside.github.issue_reader import IssueReader
from triage.outside.github.read_past_issues import MAX_BODY_CHARS
from triage.read.other_issues import make_visible
from triage.read.read_issue import shorten_thread
from triage.run.may_run.admission import check_opt_labels

MAX_QUERY_CHARS = 250
_REFUSED = re.compile(r"(?:^|[\s(-])((?:repo|org|user|sort|type|created):|is:(?:pr|pull-request|issue)\b)", re.I)
_UNTIL = re.compile(r"(?<!\S)(?<!\bOR )(?<!\bNOT )created:<=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
"""As `continue_query` writes it."""
PAGE_SIZE = 50
"""With up to 25 comments each. A page of 100 comes close to the ten seconds after which GitHub answers 502."""
MAX_TRIES = 4
"""Of one page, the last with one issue."""
_COMMENTS = """comments(first: 25) {
    pageInfo { hasNextPage }
    nodes { fullDatabaseId body createdAt updatedAt author { __typename login } }
  }"""


@dataclass
class BacklogClient(CommentClient):
    """The issues of one repository. Every method raises SetupError or GitHubUnavailable."""

    def iterate(self, query: str) -> Iterator[tuple[list[Issue], int]]:
        """Yield pages with whole threads, newest issues first, and with each how many the search finds in all.

        `query` is one of `check_query`.
        """
        reader = IssueReader(self, PAGE_SIZE, _COMMENTS, tries=MAX_TRIES)
        with translate_read_errors(self.slug):
            for page in reader.iterate_search(complete_query(query)):
                issues = [self._convert(one, one.comments) for one in page if one.created_at and one.comments]
                yield issues, reader.total

    def _convert(self, node: IssueNode, page: CommentPage) -> Issue:
        """Return GitHub's issue as ours. A thread of more than one page is fetched again, whole."""
        if page.info.has_next:
            thread = self.fetch_comments(node.number, reporter=node.login)
        else:
            thread = shorten_thread(self._convert_comments(page), node.login)
        return Issue(
            number=node.number,
            title=node.title,
            body=node.body or "",
            url=node.url,
            author=node.login,
            author_is_bot=bool(node.author and node.author.is_bot),
            labels=node.label_names,
            state=node.state.lower(),
            locked=node.locked,
            thread=thread,
            opened_at=node.created_at,
            snapshot_time=datetime.now(UTC),
        )

    def _convert_comments(self, page: CommentPage) -> list[IssueComment]:
        return [
            IssueComment(
                author=node.login,
                body=node.body or "",
                created_at=node.created_at,
                edited_at=node.updated_at,
                by_bot=bool(node.author and node.author.is_bot),
                # Anybody can write the marker.
                ours=(node.body or "").startswith(COMMENT_MARKER) and self.is_own_login(node.login),
                comment_id=node.comment_id,
            )
            for node in list_nodes(page)
        ]


def check_query(query: str) -> str:
    """Return a search of GitHub on one line. Raises BadInput for what the list itself sets."""
    text = " ".join(query.split())
    wanted, _ = _split_query(text)
    if len(wanted) > MAX_QUERY_CHARS or not text.isprintable():
        raise BadInput(f"The query must be one line of at most {MAX_QUERY_CHARS} characters.")
    if found := _REFUSED.search(wanted):
        raise BadInput(
            f"The query must not have `{found[1]}`: the list sets it. Choose issues by label, milestone, assignee or "
            "`updated:`."
        )
    return text


def complete_query(query: str) -> str:
    """Return a checked query as it is searched for, newest issues first."""
    wanted, until = _split_query(query)
    wanted = f"({wanted})" if re.search(r"\b(OR|AND|NOT)\b", wanted) else wanted
    return " ".join(filter(None, [wanted, until, "sort:created-desc"]))


def continue_query(query: str, last: datetime) -> str:
    """Return the query that goes on at the second of the last issue, which may have others too."""
    return f"{_split_query(query)[0]} created:<={last.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}".strip()


def _split_query(query: str) -> tuple[str, str]:
    """Return the query, and where it goes on."""
    until = _UNTIL.search(query)
    return _UNTIL.sub("", query).strip(), until[0] if until else ""


BY_BOT = "A bot opened it."
NO_PAST = "Past issues could not be read: the issues of the backlog are compared with each other and what was read."


def list_backlog(
    app: App,
    query: str,
    iterate: Callable[[str], Iterator[tuple[list[Issue], int]]],
    iterate_past: IteratePastIssues | None,
    now: datetime,
) -> Backlog:
    """Return the newest issues that a search finds, at most `MAX_ISSUES`. Slow: call it in a thread.

    `iterate` is as `BacklogClient.iterate`.

    Raises BadInput if the query cannot be used, TriageError if GitHub does not answer.
    """
    query, total = check_query(query), 0
    found: dict[int, Issue] = {}
    for page, total in iterate(query):
        found |= {issue.number or 0: issue for issue in page}
        app.progress.info(f"Listed {len(found):,} of {total:,} issues")
    listed = list(found.values())[:MAX_ISSUES]
    reasons = [check_issue(issue, app.config) for issue in listed]
    last = listed[-1].opened_at if listed and total > MAX_ISSUES else None
    return Backlog(
        repository=app.repository,
        server_url=app.environment.server_url,
        query=query,
        listed_at=now,
        issues=[issue for issue, reason in zip(listed, reasons, strict=True) if not reason],
        past=_read_past(listed, iterate_past, app.progress),
        left_out=[
            LeftOut(number=issue.number or 0, title=issue.title, reason=reason)
            for issue, reason in zip(listed, reasons, strict=True)
            if reason
        ],
        next_query=continue_query(query, last) if last else "",
    )


def check_issue(issue: Issue, config: ProjectConfig) -> str:
    """Return why an issue is not triaged; empty if it is."""
    if issue.author_is_bot:
        return BY_BOT
    return check_opt_labels(TriageTask(number=issue.number or 0, trigger=Trigger.BY_NUMBER), issue, config)


def _read_past(listed: list[Issue], iterate: IteratePastIssues | None, progress: ProgressLog) -> list[PastIssue]:
    """Return past issues and those of the backlog. What was read as past has more fields, and stays."""
    known = {issue.number or 0: to_past_issue(issue) for issue in listed}
    try:
        for page in iterate("") if iterate else ():
            known |= {issue.number: issue for issue in page}
    except TriageError:
        progress.info(NO_PAST)
    return [known[number] for number in sorted(known, reverse=True)]


def to_past_issue(issue: Issue) -> PastIssue:
    """Return an issue of the backlog as one that the others are compared with: what a person sees of it.

    Takes about a millisecond.
    """
    assert issue.opened_at
    past = PastIssue(
        number=issue.number or 0,
        title=issue.title[:MAX_TITLE_CHARS],
        body=issue.body[:MAX_BODY_CHARS],
        author=issue.author,
        labels=issue.labels,
        state="closed" if issue.state == "closed" else "open",
        created_at=issue.opened_at,
    )
    return make_visible(past)
