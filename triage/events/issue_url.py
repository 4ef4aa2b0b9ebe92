"""The URL of an issue to its repository and number."""

import re
from urllib.parse import urlsplit

from triage.errors import BadInput

_PATH = re.compile(r"/([\w.-]+/[\w.-]+)/(issues|pull)/([1-9][0-9]{0,9})(?:/.*)?", re.ASCII)


def is_url(text: str) -> bool:
    """Whether the text is a URL of a web page."""
    return text.lower().startswith(("https://", "http://"))


def parse_issue_url(url: str, server_url: str) -> tuple[str, int]:
    """The repository as `owner/name`, and the issue's number.

    Args:
        url: Such as `https://github.com/owner/name/issues/12`; a query and a fragment are ignored.
        server_url: Scheme and host of the configured GitHub server, which the URL must lead to.

    Raises:
        BadInput: The URL is of another server, of a pull request, or of no issue.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadInput("--issue: this URL cannot be read.") from None
    host, server = _normalize_host(parts.netloc), _normalize_host(urlsplit(server_url).netloc)
    if host != server:
        raise BadInput(
            f"--issue: the URL leads to {host!a}, but the configured GitHub server is {server}. "
            "For GitHub Enterprise, set GITHUB_SERVER_URL."
        )
    found = _PATH.fullmatch(parts.path)
    if found is None:
        raise BadInput(f"--issue: this is not the URL of an issue, such as {server_url}/owner/name/issues/12.")
    if found[2] == "pull":
        raise BadInput("--issue: the URL leads to a pull request; only issues can be triaged.")
    return found[1], int(found[3])


def _normalize_host(netloc: str) -> str:
    return netloc.lower().removeprefix("www.")
