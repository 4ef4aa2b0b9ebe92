"""Reads closed issues with their fixes and our comments on them.

It takes two requests of GraphQL for a page of issues. What the fields mean stands in GitHub's GraphQL reference:
`ClosedEvent.closer`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from pydantic import AwareDatetime, Field

from triage.domain.effect import COMMENT_MARKER
from triage.domain.task import Subject
from triage.domain.value import Value
from triage.outside.github.comments import CommentClient
from triage.outside.github.github_errors import ErrorKind, GitHubError, github_errors, translate_read_errors
from triage.outside.github.issue_nodes import MAX_TITLE_CHARS, Closer, EditedComment, IssueNode, list_nodes, parse_each
from triage.outside.github.issue_reader import IssueReader, read_comments
from triage.outside.github.read_past_issues import read_duplicate_of
from triage.say.hidden_state import CommentState, parse_state

PAGE_SIZE = 50
MAX_ISSUES = 2_000
MAX_COMMENTS_READ = 5
"""Comments of our account on one issue. Other workflows may write with the same one."""
MAX_COMMIT_READS = 200
"""Of fixes that are no pull request: each takes a request."""
MAX_CHANGED_FILES = 300
"""Files of a commit that GitHub sends at once."""
_COMMENTS = "comments(first: 100) { nodes { id createdAt author { __typename login } } }"
MAX_FILES = 100
"""Of a pull request that are read."""


class OurComment(Value):
    """Our comment on an issue."""

    posted_at: AwareDatetime
    is_ours_alone: bool
    """Nobody else edited it. Else nothing else is known of it."""
    state: CommentState = CommentState()
    """What it remembers: the files that it named first, whether it ever asked something, its labels, what is wrong."""
    said: list[Subject] = Field(default_factory=list)
    """What it speaks of now."""


class ClosingFix(Value):
    """What closed an issue: merged pull requests, or a commit."""

    files: list[str] = Field(default_factory=list)
    """Paths that it edited."""
    is_whole: bool = True
    """Whether all of them are known: GitHub lists a part of a large change."""


class ClosedIssue(Value):
    """Its title and labels are a stranger's."""

    number: int
    title: str
    opened_at: AwareDatetime
    closed_at: AwareDatetime
    labels: list[str] = Field(default_factory=list)
    fix: ClosingFix | None = None
    is_duplicate: bool = False
    """A person said of which issue."""
    reporter_wrote_at: list[AwareDatetime] = Field(default_factory=list)
    """When the reporter commented, and last edited the text of the issue."""
    comment: OurComment | None = None


class ClosedIssues(Value):
    """The issues that were closed since a day."""

    closed: int
    """All of them, also those without a comment of ours."""
    issues: list[ClosedIssue]
    """Those with a comment of ours, and those without that were opened after our first one. Commits that closed one
    without are not read."""
    since: AwareDatetime
    """All that were closed since then are known. Later than what was asked for if there are more than one run reads."""


@dataclass
class ScorecardIssues(CommentClient):
    """The closed issues of a repository.

    Raises GitHubUnavailable if GitHub does not answer or has no GraphQL API, TriageError if the token may not read.
    """

    shadow: Mapping[int, OurComment] = field(default_factory=dict, kw_only=True)
    """By issue, the comments that would have been: with any, those on GitHub are not read."""
    _commit_files: dict[str, ClosingFix | None] = field(default_factory=dict, init=False)

    def read_closed_issues(self, since: datetime) -> ClosedIssues:
        """Return the issues that were closed since then. Only those with a comment of ours are described."""
        with translate_read_errors(self.slug):
            return self._read(since)

    def _read(self, since: datetime) -> ClosedIssues:
        """Return the issues that were closed since then, of more than `MAX_ISSUES` the last ones to change."""
        closed = dict[int, datetime]()
        described: list[ClosedIssue] = []
        last: datetime | None = None
        reader = IssueReader(self, PAGE_SIZE, _COMMENTS, MAX_FILES, needs_fixes=True)
        for page in reader.iterate_list("UPDATED_AT", ["CLOSED"], since):
            if len(closed) >= MAX_ISSUES and last:
                # The pages are sorted by the last change, which is never before the close.
                since = max(since, last)
                break
            new = [one for one in page if one.closed_at and one.closed_at >= since and one.number not in closed]
            closed |= {one.number: one.closed_at for one in new if one.closed_at}
            described += self._describe(new)
            last = min((one.updated_at for one in page if one.updated_at), default=last)
        count = sum(at >= since for at in closed.values())
        described = [one for one in described if one.closed_at >= since]
        first = min((one.comment.posted_at for one in described if one.comment), default=None)
        issues = [one for one in described if one.comment or (first and one.opened_at > first)]
        return ClosedIssues(closed=count, issues=issues, since=since)

    def _describe(self, issues: list[IssueNode]) -> Iterator[ClosedIssue]:
        """Yield each issue with its fix and our comment; none whose comment came after the close."""
        ids = [key for issue in issues for key in self._list_own_comments(issue)] if not self.shadow else []
        batches = (ids[start : start + PAGE_SIZE] for start in range(0, len(ids), PAGE_SIZE))
        read = (one for batch in batches for one in parse_each(EditedComment, read_comments(self, batch)))
        comments = {one.id: one for one in read if one.body.startswith(COMMENT_MARKER)}
        for issue in issues:
            details = next((comments[key] for key in self._list_own_comments(issue) if key in comments), None)
            comment = describe_comment(details) if details else self.shadow.get(issue.number)
            if issue.closed_at and issue.created_at and (comment is None or comment.posted_at <= issue.closed_at):
                yield ClosedIssue(
                    number=issue.number,
                    title=issue.title[:MAX_TITLE_CHARS],
                    opened_at=issue.created_at,
                    closed_at=issue.closed_at,
                    labels=issue.label_names,
                    fix=self._find_fix(issue, reads_commits=comment is not None),
                    is_duplicate=read_duplicate_of(issue) is not None,
                    reporter_wrote_at=_list_writes(issue),
                    comment=comment,
                )

    def _list_own_comments(self, issue: IssueNode) -> list[str]:
        # Anybody can write the marker.
        own = (one.id for one in list_nodes(issue.comments) if one.id and self.is_own_login(one.login))
        return list(islice(own, MAX_COMMENTS_READ))

    def _find_fix(self, issue: IssueNode, *, reads_commits: bool) -> ClosingFix | None:
        """Return the files of the pull requests that closed the issue, else of the commit; None if neither did."""
        closers = _list_closers(issue, self.slug)
        pulls = [one for one in closers if one.number is not None]
        if pulls:
            is_whole = all(one.changed_files is None or one.changed_files <= len(one.paths) for one in pulls)
            return ClosingFix(files=list(dict.fromkeys(path for one in pulls for path in one.paths)), is_whole=is_whole)
        return next((self._read_commit(one.oid) for one in closers if one.oid and reads_commits), None)

    def _read_commit(self, sha: str) -> ClosingFix | None:
        """Return the files of a commit, asked for once; None if it is gone, or if too many were asked for."""
        if sha not in self._commit_files and len(self._commit_files) < MAX_COMMIT_READS:
            try:
                with github_errors():
                    commit = self.repository.get_commit(sha, commit_files_per_page=MAX_CHANGED_FILES)
                    files = [file.filename for file in islice(commit.files, MAX_CHANGED_FILES)]
                self._commit_files[sha] = ClosingFix(files=files, is_whole=len(files) < MAX_CHANGED_FILES)
            except GitHubError as error:
                if error.kind not in (ErrorKind.GONE, ErrorKind.INVALID):
                    raise
                self._commit_files[sha] = None  # no longer in the repository
        return self._commit_files.get(sha)


def _list_closers(issue: IssueNode, slug: str) -> list[Closer]:
    """Return the merged pull requests and the commit of this repository that closed the issue."""
    # An issue that was opened again may have been closed by something else then.
    closed = [event.closer for event in list_nodes(issue.events) if event.kind == "ClosedEvent"][-1:]
    events = [closer for closer in closed if closer]
    here = [one for one in [*list_nodes(issue.pull_requests), *events] if one.is_in(slug)]
    return list({(one.number, one.oid): one for one in here if one.merged_at or one.oid}.values())


def _list_writes(issue: IssueNode) -> list[datetime]:
    """Return when the reporter commented, and last edited the text of the issue."""
    if issue.author is None:
        return []
    times = [comment.created_at for comment in list_nodes(issue.comments) if comment.login == issue.login]
    times += [issue.last_edited_at] if issue.editor and issue.editor.rest_login == issue.login else []
    return [at for at in times if at]


def describe_comment(comment: EditedComment) -> OurComment | None:
    """Return what the scorecard reads of a comment; None without a time."""
    if comment.created_at is None:
        return None
    is_ours_alone = comment.is_alone_by(comment.login)
    state = (parse_state(comment.body) if is_ours_alone else None) or CommentState()
    said = [one.subject for one in state.said]
    return OurComment(posted_at=comment.created_at, is_ours_alone=is_ours_alone, state=state, said=said)
