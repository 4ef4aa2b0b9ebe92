"""Reads what an issue links to on GitHub's own pages of uploaded files: without a token, and from nowhere else."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote, urljoin

from triage.base.errors import AnswerTooLarge
from triage.domain.issue import Attachment, Issue
from triage.outside.http_client import RequestFailed, send_request
from triage.read.attachments import (
    MAX_ATTACHMENTS,
    MAX_BYTES,
    MAX_PICTURES,
    NOT_TEXT,
    find_attachments,
    find_pictures,
    may_be_read,
    read_attachment,
    read_picture,
)
from triage.safety.secrets.redactor import Redact

SECONDS = 10.0
"""For each request."""
MAX_REDIRECTS = 2
_GITHUB = "https://github.com"
_STORAGE = (
    "https://objects.githubusercontent.com",
    "https://github-production-repository-file-5c1aeb.s3.amazonaws.com",
    "https://github-production-user-asset-6210df.s3.amazonaws.com",
)
"""Where github.com keeps them. An Enterprise server keeps them itself."""


@dataclass(frozen=True)
class AttachmentReader:
    server_url: str
    """Of the GitHub server, without a trailing slash."""
    redact: Redact = field(default=lambda tree: tree)
    """Masks our own secrets."""
    takes_pictures: bool = False
    """Whether a model can look at them."""

    def read(self, issue: Issue) -> list[Attachment]:
        """Return what was read of the issue's attachments, and what was not. It blocks, and raises nothing."""
        addresses = find_attachments(issue, self.server_url)
        found = [one for address in addresses[:MAX_ATTACHMENTS] for one in self._read_one(address)]
        if further := len(addresses) - MAX_ATTACHMENTS:
            problem = f"at most {MAX_ATTACHMENTS} are, and {further:,} more are linked"
            found += [Attachment(problem=problem)] if further > 0 else []
        pictures = find_pictures(issue, self.server_url)[:MAX_PICTURES] if self.takes_pictures else []
        fetched = [data for address in pictures if isinstance(data := self._fetch(address), bytes)]
        found += [one for one in map(read_picture, fetched) if one.picture]
        return [Attachment.model_validate(self.redact(one.model_dump())) for one in found]

    def _read_one(self, address: str) -> Iterator[Attachment]:
        name = unquote(address.rpartition("/")[2])
        data = self._fetch(address) if may_be_read(name) else NOT_TEXT
        yield from read_attachment(name, data) if isinstance(data, bytes) else [Attachment(problem=data)]

    def _fetch(self, address: str) -> bytes | str:
        """Return the file, or why it was not read."""
        for _ in range(MAX_REDIRECTS + 1):
            try:
                response = send_request("GET", address, seconds=SECONDS, max_bytes=MAX_BYTES)
            except (RequestFailed, AnswerTooLarge) as error:
                return str(error)
            if response.status == 200:
                is_page = response.headers.get("content-type", "").startswith("text/html")
                return "GitHub shows a page in its place" if is_page else response.body
            if not 300 <= response.status < 400:
                return f"GitHub answered {response.status}"
            address = urljoin(address, response.headers.get("location", ""))
            if not self._is_storage(address):
                return "GitHub refers to another server"
        return "GitHub refers to ever other addresses"

    def _is_storage(self, address: str) -> bool:
        places = _STORAGE if self.server_url == _GITHUB else (self.server_url,)
        return address.startswith(tuple(f"{place}/" for place in places))
