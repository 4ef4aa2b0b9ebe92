"""Pages that a search found, as what they are: a title, an address and words of strangers."""

import re
from collections.abc import Sequence
from html import unescape
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from triage.secrets.likely_secrets import redact_likely_secrets
from triage.text.clean_text import clean_text

MAX_TITLE_CHARS = 300
MAX_CONTENT_CHARS = 4_000
MAX_URL_CHARS = 1_000
_MAX_HTML_CHARS = 40_000
"""Of a page's text, before its tags are taken out."""
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]{0,2000}>")
_SAFE_URL_CHARS = "!$&'()*+,;=:@/?#%-._~"
"""What stands in an address as it is; all else is written as bytes, so that nothing in it can look like its end."""


def parse_results(results: Sequence[Any], most: int) -> list[dict[str, str]]:
    """Title, address and text of the first pages that have an address; anything else that was sent is dropped."""
    pages: dict[str, dict[str, str]] = {}
    for page in results:
        url = safe_url(page.get("url")) if isinstance(page, dict) else None
        if url is not None and url not in pages:
            title = " ".join(_visible_words(page.get("title")).split())[:MAX_TITLE_CHARS]
            pages[url] = {
                "title": title,
                "url": url,
                "content": _visible_words(page.get("content"))[:MAX_CONTENT_CHARS],
            }
        if len(pages) == most:
            break
    return list(pages.values())


def safe_url(url: Any) -> str | None:
    """An address that a reader may be shown, its host in ASCII; none for anything odd.

    Odd are other schemes, logins, invisible characters, hosts that are no public names, secrets, and great length.
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
    shown = urlunsplit((parts.scheme, f"{host}{port}", path, query, fragment))
    return shown if redact_likely_secrets(shown) == shown and len(shown) <= MAX_URL_CHARS else None


def _is_public_name(host: str) -> bool:
    if "." not in host or not re.fullmatch(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+\.?", host):
        return False
    try:
        ip_address(host)
    except ValueError:
        return not host.rstrip(".").rpartition(".")[2].isdigit()
    return False


def _visible_words(text: Any) -> str:
    """What a person would see, without tags and secrets. A text that is none has no words."""
    if not isinstance(text, str):
        return ""
    bare = _TAG.sub(" ", _HTML_COMMENT.sub(" ", text[:_MAX_HTML_CHARS]))
    return redact_likely_secrets(clean_text(unescape(bare)))
