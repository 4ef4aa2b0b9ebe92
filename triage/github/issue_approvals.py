"""Reads what a person approves in a comment of ours, and carries out what GitHub has no label for."""

from dataclasses import dataclass

from triage.base.errors import CannotPublish
from triage.domain.effect import Reaction
from triage.domain.proposal import CommentRecord
from triage.github.comment_record import read_comment_record
from triage.github.github_errors import translate_read_errors, translate_write_errors
from triage.github.repository_connection import RepositoryConnection
from triage.github.responses import Account, LabelResponse, Response, parse_response


class _Issue(Response):
    """An issue as it is after a write."""

    type: LabelResponse | None = None
    assignees: list[Account] | None = None


@dataclass
class GitHubIssueApprovals(RepositoryConnection):
    """Implements `triage.proposal_ports.IssueApprovals`."""

    def read_comment_record(self, comment_id: int) -> CommentRecord | None:
        with translate_read_errors(self.slug):
            return read_comment_record(self._client, self.slug, comment_id)

    def react(self, comment_id: int, reaction: Reaction) -> None:
        path = f"{self._repo}/issues/comments/{comment_id}/reactions"
        with translate_write_errors(self.slug):
            self._client.write("POST", path, {"content": reaction}, idempotent=True)

    def set_issue_type(self, number: int, name: str) -> None:
        with translate_write_errors(self.slug):
            raw = self._client.write("PATCH", f"{self._repo}/issues/{number}", {"type": name}, idempotent=True)
            issue = parse_response(_Issue, raw)
        # GitHub leaves out what the token may not set, and answers 200 (docs, "Update an issue").
        if issue.type is None or (issue.type.name or "").casefold() != name.casefold():
            raise CannotPublish("GitHub did not set the issue type. Does the type exist, and may the token set it?")

    def add_assignee(self, number: int, login: str) -> None:
        path = f"{self._repo}/issues/{number}/assignees"
        with translate_write_errors(self.slug):
            issue = parse_response(_Issue, self._client.write("POST", path, {"assignees": [login]}, idempotent=True))
        # GitHub leaves out accounts that cannot be assigned, and answers 201 (docs, "Add assignees to an issue").
        if login.casefold() not in [one.login.casefold() for one in issue.assignees or []]:
            raise CannotPublish("GitHub did not assign the issue. Can this person be assigned in the repository?")
