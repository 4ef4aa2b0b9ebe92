"""What a GitHub on loopback knows of issues and comments, whichever of its APIs shows it."""

from dataclasses import dataclass, field
from typing import Any

SLUG = "octo/shop"
SERVER_ERROR_TEXT = "EVIL ::error::words of the server"
"""Part of every error message; must not appear in any output."""
JOB_TOKEN = "ghs_" + "x1" * 18
READ_ONLY_TOKEN = "read-only-token"
PERSON_TOKEN = "person-token"
LOGINS = {JOB_TOKEN: "github-actions[bot]", READ_ONLY_TOKEN: "github-actions[bot]", PERSON_TOKEN: "mona"}
Answer = tuple[int, Any]


@dataclass
class StoredIssues:
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: list[dict[str, Any]] = field(default_factory=list)
    viewer: str | None = ""
    """The login that GraphQL tells; empty for that of the token, None if it refuses to."""
    is_old: bool = False
    """Whether GraphQL lacks the fields of issues that older servers do not know."""
    logins: dict[str, str] = field(default_factory=lambda: dict(LOGINS))
    edits: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """By comment, its edits as GraphQL shows them, the first one for the creation. None if it was never edited."""
