"""Finds addresses that a change adds to a file."""

import re
from collections.abc import Iterator

_START = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]{1,20}:\\?/\\?/|(?:https?|wss?|ftps?):[\\/]|(?<=[\"'`(=])//(?=[\w-]+\.))[\\/]*"
    r"|\b(?=www\d?\.\w)"
    r"|(?<![\w.+-])[\w.+-]{1,64}@(?=[\w-]{1,63}(?:\.[\w-]{1,63})+:[\w~/.-])"
)
"""What stands before a host: a scheme with its slashes, as browsers take them too, or the `git@` of `git@host:path`."""
_MAX_CHARS = 2_000
"""Of an address. No browser and no server takes a longer host."""
_SPACE = re.compile(r"\s")
_END = re.compile(r"[\"'`<>)\]},;|]")
"""Ends an address in code and prose."""
_AUTHORITY_END = re.compile(r"[/?#\\]")
_USER = re.compile(r"[^/?#]*@")
_RESERVED = re.compile(
    r"(?:(?:[a-z0-9-]*\.)*(?:example\.(?:com|org|net)|test|example|invalid|localhost)\.?|127\.0\.0\.1|\[::1\])(?::[^@]*)?",
    re.IGNORECASE,
)
"""Hosts that belong to nobody (RFC 2606, RFC 6761), also with empty labels, or to the machine itself."""


def find_new_urls(text: str, base_text: str) -> list[str]:
    """Return the addresses of a text that are not in the old one, without those of reserved hosts.

    An address that code puts together from parts is not found.
    """
    known = set(_find_urls(base_text))
    return [url for url in dict.fromkeys(_find_urls(text)) if url not in known]


def _find_urls(text: str) -> Iterator[str]:
    for start in _START.finditer(text):
        space = _SPACE.search(text, start.end(), start.start() + _MAX_CHARS)
        rest = text[start.end() : space.start() if space else start.start() + _MAX_CHARS]
        if _USER.match(rest):  # What seems to be the host may be the name of a user.
            yield start[0] + rest
            continue
        authority = _cut(_AUTHORITY_END.split(rest, maxsplit=1)[0])
        if authority and not _RESERVED.fullmatch(authority):
            yield start[0] + _cut(rest)


def _cut(text: str) -> str:
    # The brackets of an IPv6 address are part of it.
    begin = text.find("]") + 1 if text.startswith("[") else 0
    end = _END.search(text, begin)
    return text[: end.start() if end else len(text)].rstrip(".:!?*_")
