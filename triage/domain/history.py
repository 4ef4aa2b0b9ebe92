"""What the history of the repository says about the lines that a report names."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from triage.domain.code import FileChange
from triage.domain.value import Value


class Owner(Value):
    """Who knows the suspect's lines. Never a mention."""

    name: str
    """A login or `organization/team`; an author without a known login by the name in the commits."""
    source: Literal["CODEOWNERS", "history"]
    reason: str
    """In words of ours."""


class Author(Value):
    """Who wrote lines, by the commits. All texts are a stranger's."""

    name: str
    email: str


class BlamedLine(Value):
    """A line, and the commit that changed it last."""

    author: Author
    at: datetime
    commit: str


class Tag(Value):
    name: str
    commit: str
    """Full SHA."""


class PathChange(FileChange):
    """A commit that changed some of the given files."""

    paths: list[str] = Field(default_factory=list)


class RegressionWindow(Value):
    """What changed in the suspects between a version that worked and one that does not."""

    worked_in: str
    """A tag or a commit."""
    broken_in: str
    """A tag or a commit; `HEAD` for the indexed one."""
    commits: list[PathChange] = Field(default_factory=list)
    """Newest first, at most five."""
    total: int = 0
    """Number of commits, also of those not listed; as many as could be read."""


class LaterChange(Value):
    """The newest commit after the reporter's version that changed the lines that fail."""

    version: str
    """The tag of the reporter's version."""
    commit: FileChange
    release: str | None = None
    """The first release with the commit; None if none is known here."""


class CodeHistory(Value):
    """What the history says about the code that a report leads to."""

    owners: list[Owner] = Field(default_factory=list)
    regression_window: RegressionWindow | None = None
    later_change: LaterChange | None = None
