"""What every client of one GitHub repository needs to send requests."""

import re
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from triage.base.errors import BadInput
from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

_SLUG_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")


@dataclass
class RepositoryConnection:
    """One repository on GitHub. Nothing is imported or sent before the first call.

    Raises:
        BadInput: The slug is malformed.
    """

    token: str = field(repr=False)
    """A job's token, an app's, or a person's; empty to read what is public."""
    slug: str
    """`owner/name`."""
    api_url: str = "https://api.github.com"
    _: KW_ONLY
    seconds_between_writes: float = 1.0
    """GitHub asks for one (docs, best practices for the REST API)."""
    max_wait_seconds: float = 60.0
    """All waits for GitHub's rate limits together."""
    connect_seconds: float = 10.0
    read_seconds: float = 60.0
    """Time limit between two pieces of a response."""
    backoff_seconds: float = 0.5
    """Base of the waits between failed reads."""
    reread_seconds: float = 1.0
    """Wait before something is read again that does not show yet what was written."""
    redactor: SecretRedactor = field(default_factory=lambda: SecretRedactor([]), repr=False)
    """Masks our own secrets in everything that is read and written."""
    refuses_secrets: ClassVar[bool] = False
    """Whether text is read as it is, and nothing with a secret is written: what is stored must be what was approved."""

    def __post_init__(self) -> None:
        if not _SLUG_PATTERN.fullmatch(self.slug) or {".", ".."} & set(self.slug.split("/")):
            raise BadInput("The repository must be given as owner/name.")
        self._repo = f"/repos/{self.slug}"

    @cached_property
    def _client(self) -> "GitHubClient":
        # PyGithub costs a quarter of a second of start-up, and a skipped event never gets here.
        from triage.github.github_client import GitHubClient, WaitBudget

        return GitHubClient(
            self.token,
            self.api_url,
            wait_budget=WaitBudget(self.max_wait_seconds),
            seconds_between_writes=self.seconds_between_writes,
            timeouts_seconds=(self.connect_seconds, self.read_seconds),
            backoff_seconds=self.backoff_seconds,
            redactor=self.redactor,
            refuses_secrets=self.refuses_secrets,
        )

    def close(self) -> None:
        self._client.close()
