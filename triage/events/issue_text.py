"""Reads an issue from a file, without GitHub."""

import json
from typing import Any

from triage.domain.issue import Issue
from triage.errors import BadInput

MAX_CHARS = 1_000_000
"""GitHub itself takes 65,536 characters."""


def parse_issue_text(text: str) -> Issue:
    """An issue from Markdown whose first line is the title, or from GitHub's JSON of an issue.

    Raises:
        BadInput: The text is empty or too long, or the JSON is invalid or has no title.
    """
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
    title, body = fields.get("title"), fields.get("body")
    if not isinstance(title, str) or not title.strip():
        raise BadInput("The issue's JSON has no `title`.")
    number, author = fields.get("number"), fields.get("user")
    labels = fields.get("labels") if isinstance(fields.get("labels"), list) else []
    return Issue(
        number=number if isinstance(number, int) and number > 0 else None,
        title=title,
        body=body if isinstance(body, str) else "",
        url=fields["html_url"] if isinstance(fields.get("html_url"), str) else "",
        author=str(author.get("login") or "") if isinstance(author, dict) else "",
        labels=[str(label["name"]) for label in labels or [] if isinstance(label, dict) and "name" in label],
    )
