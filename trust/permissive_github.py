"""A GitHub with one issue that accepts all requests, also those that no run should send."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from testing.servers.github_api import JOB_TOKEN, LOGINS, GitHubApi, handle_request
from testing.servers.scripted_server import ScriptedReply
from testing.servers.suggesting_github import SuggestingGitHub
from trust.recording_server import RecordedRequest

NUMBER = 7
BOT = LOGINS[JOB_TOKEN]
BEFORE = "2026-11-20T09:00:00Z"
"""What is written at the time of the event, or after it, is not read."""
PAST_ISSUES = 6
"""Only older ones than the issue are compared with it."""


@dataclass
class PermissiveGitHub(GitHubApi):
    error_text: str = ""
    """Message of all error responses."""
    refuses_labels: bool = False

    @property
    def ours(self) -> list[dict[str, Any]]:
        return [one for one in self.comments if one["issue"] == NUMBER and one["user"]["login"] == BOT]

    def reply(self, asked: RecordedRequest) -> ScriptedReply:
        """Handles a request. Requests that no run should send succeed: only the recorded requests show them."""
        if self.refuses_labels and (asked.method, asked.path.rpartition("/")[2]) == ("POST", "labels"):
            return ScriptedReply({"message": self.error_text, "errors": [{"message": self.error_text}]}, 422)
        query = parse_qs(urlsplit(asked.target).query)
        with self.lock:
            status, body = handle_request(self, asked.method, asked.path, query, JOB_TOKEN, asked.body)
        if status < 400:
            return ScriptedReply(body, status)
        is_harmless = asked.method == "GET" or asked.path.endswith("/graphql")
        return ScriptedReply({"message": self.error_text}, status if is_harmless else 200)


def open_tracker(
    title: str,
    body: str,
    labels: Sequence[str] = ("bug",),
    *,
    thread: Sequence[str] = (),
    past_texts: Sequence[str] = (),
    error_text: str = "",
    refuses_labels: bool = False,
    offers_suggestions: bool = False,
) -> PermissiveGitHub:
    """Returns a GitHub with an issue, for `observe_run`.

    Args:
        title: Of the issue.
        body: Of the issue.
        labels: Of the repository.
        thread: Comments by strangers before the run.
        past_texts: Each is in every field of a past issue that looks like the new one.
        error_text: Message of all error responses.
        refuses_labels: No label can be added.
        offers_suggestions: It has suggestions in its own panel.
    """
    tracker = PermissiveGitHub(labels=list(labels), error_text=error_text, refuses_labels=refuses_labels)
    if offers_suggestions:
        tracker.graphql = SuggestingGitHub(tracker)
    for number, text in enumerate(("\n".join(past_texts[first::PAST_ISSUES]) for first in range(PAST_ISSUES)), 1):
        if text:
            _add_past_issue(tracker, number, f"{title[:100]} {text}", f"{body}\n{text}", text)
    tracker.add_issue(NUMBER, title=title, body=body)
    for said in thread:
        tracker.add_comment(said, "mallory", NUMBER, created_at=BEFORE, updated_at=BEFORE)
    tracker.issues[NUMBER]["updated_at"] = tracker.timestamp
    return tracker


def _add_past_issue(tracker: PermissiveGitHub, number: int, title: str, body: str, text: str) -> None:
    fix = {"number": 1, "title": text, "at": tracker.timestamp, "files": [text]}
    tracker.add_issue(
        number,
        title=title,
        body=body,
        state="closed",
        state_reason=text,
        closed_at=tracker.timestamp,
        user={"login": text, "type": "User"},
        labels=[{"name": text}],
        milestone=text,
        type=text,
        fixes=[fix],
    )
    tracker.add_comment(text, BOT, number)
