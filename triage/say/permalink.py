"""URLs for links: to the repository at the indexed commit, and to other pages. No model writes any of them."""

import re
from urllib.parse import quote, unquote, urlsplit

from triage.domain.code import Span

_SERVER = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9_.-]+)*")
_SLUG = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
MAX_URL_CHARS = 2000
"""After encoding, which makes up to twelve characters of one. Not every browser and proxy takes longer URLs."""
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
"""Files that GitHub renders; line anchors work only in their source (`?plain=1`)."""


def build_permalink(server_url: str, slug: str, commit: str | None, target: Span | str) -> str | None:
    """Return the URL of a file or of its lines; None without a valid server, repository and commit, or if too long."""
    path = target.path if isinstance(target, Span) else target
    is_valid = _SERVER.fullmatch(server_url) and _SLUG.fullmatch(slug) and _COMMIT.fullmatch(commit or "")
    # A crafted tree can have such names; a browser would resolve them to the URL of another page.
    if not is_valid or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return None
    try:
        # Git stores names as bytes; bytes that are not UTF-8 arrive as lone surrogates.
        encoded = quote(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return None
    anchor = ""
    if isinstance(target, Span):
        plain = "?plain=1" if path.lower().endswith(RENDERED_SUFFIXES) else ""
        last = "" if target.start == target.end else f"-L{target.end}"
        anchor = f"{plain}#L{target.start}{last}"
    url = f"{server_url}/{slug}/blob/{commit}/{encoded}{anchor}"
    return url if len(url) <= MAX_URL_CHARS else None


def format_location(target: Span | str) -> str:
    """Return `path`, `path:10` or `path:10-20`."""
    if isinstance(target, str):
        return target
    lines = str(target.start) if target.start == target.end else f"{target.start}-{target.end}"
    return f"{target.path}:{lines}"


_REFERENCE = re.compile(r"issues/[1-9][0-9]{0,18}|commit/[0-9a-f]{40}([0-9a-f]{24})?")


def build_reference_url(server_url: str, slug: str, path: str) -> str | None:
    """Return the URL of an issue or a commit of the repository, such as `issues/12`, that leaves no trace there.

    GitHub shows a link on the page that it leads to, unless it goes to `redirect.github.com` (docs, "Autolinked
    references and URLs"). An Enterprise server has no such host: there the result is None.
    """
    is_valid = server_url == "https://github.com" and _SLUG.fullmatch(slug) and _REFERENCE.fullmatch(path)
    return f"https://redirect.github.com/{slug}/{path}" if is_valid else None


_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_URL_SAFE = ":/?#@!$&*+,=%~"
"""Not encoded. Brackets, quotes and backslashes could close a Markdown link, and a semicolon an entity in it."""


_BACKLINKED_PATH = re.compile(r"/[^/]+/[^/]+/(?:issues|pull|discussions|commit|commits)/", re.I)


def sanitize_third_party_url(url: str, server_url: str) -> str | None:
    """Like `sanitize_url`, without a backlink on the linked page, which a stranger chose.

    GitHub shows a link to an issue or a commit on that issue or commit, so a stranger could make us write there. A
    link to `redirect.github.com` is not shown (docs, "Autolinked references and URLs"). An Enterprise server has no
    such host: there the result is None.
    """
    address = sanitize_url(url)
    parts = urlsplit(address or "")
    if address is None or not _BACKLINKED_PATH.match(unquote(parts.path)):
        return address
    host = (parts.hostname or "").removeprefix("www.")
    if host == "github.com":
        return address.replace(parts.netloc, "redirect.github.com", 1)
    return None if host == (urlsplit(server_url).hostname or "").removeprefix("www.") else address


def sanitize_url(url: str) -> str | None:
    """Return an http(s) URL encoded for a Markdown link; None if its user, host, length or a character is unsafe."""
    if len(url) > MAX_URL_CHARS or any(character.isspace() or not character.isprintable() for character in url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain_host = parts.netloc == (parts.hostname or "") + (f":{port}" if port is not None else "")
    if parts.scheme not in {"http", "https"} or not plain_host or not _HOST.fullmatch(parts.hostname or ""):
        return None
    encoded = quote(url, safe=_URL_SAFE)
    return encoded if len(encoded) <= MAX_URL_CHARS else None
