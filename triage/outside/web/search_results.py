"""Reads search results: titles, addresses and texts that strangers wrote."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from triage.safety.clean_text import clean_text
from triage.safety.secrets.likely_secrets import redact_likely_secrets

MAX_RESULTS = 5
MAX_TITLE_CHARS = 300
MAX_CONTENT_CHARS = 4_000
MAX_URL_CHARS = 1_000
_MAX_HTML_CHARS = 40_000
"""Of a page's text, before its tags are removed."""
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]{0,2000}>")
_SAFE_URL_CHARS = "!$&'()*+,;=:@/?#%-._~"
"""Characters that stay as they are in a URL. All others are percent-encoded, so that none can look like its end."""


def parse_results(results: Sequence[Any]) -> list[dict[str, str]]:
    """Return title, url and content of the first results that have a safe URL; drops everything else."""
    pages: dict[str, dict[str, str]] = {}
    for page in results:
        url = safe_url(page.get("url")) if isinstance(page, dict) else None
        if url is not None and url not in pages:
            title = " ".join(_to_plain_text(page.get("title")).split())[:MAX_TITLE_CHARS]
            pages[url] = {
                "title": title,
                "url": url,
                "content": _to_plain_text(page.get("content"))[:MAX_CONTENT_CHARS],
            }
        if len(pages) == MAX_RESULTS:
            break
    return list(pages.values())


def safe_url(url: Any) -> str | None:
    """Return a URL that may be displayed, its host in ASCII, or None.

    Refused are schemes other than http and https, logins, invisible characters, hosts that are no public names,
    secrets, and long URLs.
    """
    if not isinstance(url, str) or len(url) > MAX_URL_CHARS or clean_text(url) != url or re.search(r"[\s\\<>\"`]", url):
        return None
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode("ascii")
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:  # UnicodeError is one
        return None
    if parts.scheme not in ("http", "https") or "@" in parts.netloc or not _is_public_name(host):
        return None
    path, query, fragment = (quote(part, safe=_SAFE_URL_CHARS) for part in (parts.path, parts.query, parts.fragment))
    safe = urlunsplit((parts.scheme, f"{host}{port}", path, query, fragment))
    return safe if redact_likely_secrets(safe) == safe and len(safe) <= MAX_URL_CHARS else None


def _is_public_name(host: str) -> bool:
    # The last part of an address in digits is a number, and no top-level domain is one.
    found = re.fullmatch(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.([a-z0-9_-]+)\.?", host)
    return found is not None and not found[1].isdigit()


def _to_plain_text(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    text = _TAG.sub(" ", _HTML_COMMENT.sub(" ", text[:_MAX_HTML_CHARS]))
    return redact_likely_secrets(clean_text(unescape(text)))
