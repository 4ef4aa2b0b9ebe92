"""Reads what `--issue` names: the text of an issue, or its URL."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from triage.base.errors import BadInput, WrongUsage
from triage.domain.issue import Issue
from triage.run.may_run.payload import to_issue

MAX_CHARS = 1_000_000
"""GitHub itself takes 65,536 characters."""
MAX_BYTES = 4 * MAX_CHARS
"""Of UTF-8."""
_PATH = re.compile(r"/([\w.-]+/[\w.-]+)/(issues|pull)/([1-9][0-9]{0,9})(?:/.*)?", re.ASCII)


def parse_issue_text(text: str) -> Issue:
    """An issue from Markdown whose first line is the title, or from GitHub's JSON of an issue. Raises BadInput."""
    if len(text) > MAX_CHARS:
        raise BadInput(f"The issue has more than {MAX_CHARS:,} characters; GitHub takes 65,536.")
    if text.lstrip().startswith("{"):
        return _parse_issue_json(text)
    first, _, body = text.lstrip("\ufeff \t\r\n").partition("\n")
    title = first.strip().lstrip("#").strip()
    if not title:
        raise BadInput("The issue is empty: its first line is the title, the rest is the body.")
    return Issue(title=title, body=body.strip())


def _parse_issue_json(text: str) -> Issue:
    try:
        loaded: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("The issue begins like JSON, but is not valid JSON.") from None
    fields = loaded["issue"] if isinstance(loaded.get("issue"), dict) else loaded
    title = fields.get("title")
    if not isinstance(title, str) or not title.strip():
        raise BadInput("The issue's JSON has no `title`.")
    return to_issue(fields)


def parse_issue_lines(text: str) -> Iterator[tuple[Issue, str]]:
    """An issue and its `repo`, or an empty string, per line that is not empty, each a JSON object.

    Raises:
        BadInput: names the line that is none.
    """
    for number, line in enumerate(text.split("\n"), start=1):  # `splitlines` also splits where JSON allows no line end
        if not line.strip():
            continue
        try:
            record: Any = json.loads(line)
        except (ValueError, RecursionError):
            raise BadInput(f"Line {number} is not JSON.") from None
        if not isinstance(record, dict):
            raise BadInput(f"Line {number} is not a JSON object with `title` and `body`.")
        title, repo = record.get("title"), record.get("repo")
        issue = to_issue({**record, "title": title if isinstance(title, str) else ""})
        yield issue, repo if isinstance(repo, str) else ""


def is_url(text: str) -> bool:
    return text.lower().startswith(("https://", "http://"))


def parse_issue_url(url: str, server_url: str) -> tuple[str, int]:
    """The repository as `owner/name`, and the issue's number. Raises WrongUsage if the URL is of another server."""
    try:
        parts, server_parts = urlsplit(url), urlsplit(server_url)
    except ValueError:
        raise WrongUsage("--issue: this URL cannot be read.") from None
    host, server = (netloc.lower().removeprefix("www.") for netloc in (parts.netloc, server_parts.netloc))
    if host != server:
        raise WrongUsage(
            f"--issue: the URL leads to {host!a}, but the configured GitHub server is {server}. "
            "For GitHub Enterprise, set GITHUB_SERVER_URL."
        )
    found = _PATH.fullmatch(parts.path)
    if found is None:
        raise WrongUsage(f"--issue: this is not the URL of an issue, such as {server_url}/owner/name/issues/12.")
    if found[2] == "pull":
        raise WrongUsage("--issue: the URL leads to a pull request; only issues can be triaged.")
    return found[1], int(found[3])
