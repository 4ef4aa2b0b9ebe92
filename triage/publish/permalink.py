"""Links into the repository, pinned to the indexed commit. Code writes them; a model never does."""

import re
from urllib.parse import quote, unquote, urlsplit

from triage.domain.code import Span

_SERVER = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9_.-]+)*")
_SLUG = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
RENDERED_SUFFIXES = (
    ".md",
    ".markdown",
    ".mdx",
    ".rst",
    ".adoc",
    ".asciidoc",
    ".org",
    ".textile",
    ".ipynb",
    ".csv",
    ".tsv",
    ".svg",
)
"""Files that GitHub shows as a page; line anchors work in their source only (`?plain=1`)."""


def build_permalink(server_url: str, slug: str, commit: str | None, target: Span | str) -> str | None:
    """The address of a file or of its lines; none when there is no server, repository or commit to link to.

    Every character of the path that means something in a URL or in Markdown is percent-encoded.
    """
    path = target.path if isinstance(target, Span) else target
    known = _SERVER.fullmatch(server_url) and _SLUG.fullmatch(slug) and _COMMIT.fullmatch(commit or "")
    # A made-up tree can hold such names; a browser would fold them into the address of another page.
    if not known or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return None
    try:
        # Git keeps names as bytes; what is no UTF-8 comes as lone surrogates and goes back to its bytes.
        encoded = quote(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return None
    return f"{server_url}/{slug}/blob/{commit}/{encoded}{_line_anchor(target)}"


def format_location(target: Span | str) -> str:
    """How a place reads: `path`, `path:10` or `path:10-20`."""
    if isinstance(target, str):
        return target
    lines = str(target.start) if target.start == target.end else f"{target.start}-{target.end}"
    return f"{target.path}:{lines}"


def _line_anchor(target: Span | str) -> str:
    if isinstance(target, str):
        return ""
    plain = "?plain=1" if target.path.lower().endswith(RENDERED_SUFFIXES) else ""
    last = "" if target.start == target.end else f"-L{target.end}"
    return f"{plain}#L{target.start}{last}"


_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_MAX_URL_CHARS = 2000
_URL_SAFE = ":/?#@!$&*+,=%~"
"""Left as they are. Brackets, quotes and backslashes could end a Markdown link, a semicolon an entity inside of it."""


_BACKLINKING = re.compile(r"/[^/]+/[^/]+/(?:issues|pull|discussions|commit|commits)/", re.I)


def sanitize_third_party_url(url: str, server_url: str) -> str | None:
    """`outside`, for a page that somebody else named: a link to it leaves no trace there.

    GitHub notes a link to an issue or a commit on that issue or commit, and so would have us write where a stranger
    wants. `redirect.github.com` is its own way round that (docs, "Autolinked references and URLs"); an Enterprise
    server has none, so there such an address is no link.
    """
    address = sanitize_url(url)
    parts = urlsplit(address or "")
    if address is None or not _BACKLINKING.match(unquote(parts.path)):
        return address
    host = (parts.hostname or "").removeprefix("www.")
    if host == "github.com":
        return address.replace(parts.netloc, "redirect.github.com", 1)
    return None if host == (urlsplit(server_url).hostname or "").removeprefix("www.") else address


def sanitize_url(url: str) -> str | None:
    """A web address that may stand in a link, encoded for Markdown; none when anything about it is odd.

    Odd are other schemes than http(s), names or passwords before the host, hosts in other letters than ASCII,
    white space and control characters.
    """
    if len(url) > _MAX_URL_CHARS or any(character.isspace() or not character.isprintable() for character in url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain_host = parts.netloc == (parts.hostname or "") + (f":{port}" if port is not None else "")
    if parts.scheme not in {"http", "https"} or not plain_host or not _HOST.fullmatch(parts.hostname or ""):
        return None
    return quote(url, safe=_URL_SAFE)
