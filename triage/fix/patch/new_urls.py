"""Finds addresses that a change adds to a file."""

import re
from collections.abc import Iterator

_SLASH = r"(?:/|&sol;|\\u002[fF]|\\x2[fF])"
_COLON = r"(?::|&colon;|\\u003[aA]|\\x3[aA])"
_START = re.compile(
    rf"(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}{_COLON}\\?{_SLASH}\\?{_SLASH}"
    rf"|\b(?i:https?|wss?|ftps?){_COLON}\s*(?:{_SLASH}|\\|(?<=:)(?=[\w-]{{1,63}}\.\w))"
    r"|(?<=[\"'`(=])(?=\\{0,2}/)[\\/]{2,8}(?=[\w-]{2,}\.|\[[0-9A-Fa-f:]+\])"
    r"|(?:(?<=[\"'`(=])\\{4}|(?<=[rR@][\"'])\\{2})(?=[\w-]{2,63}[\\.][\w\\])"
    r"|(?:(?<=[=(:]) |(?<=\]: ))//(?=[\w-]+(?:\.[\w-]+)+(?:[/\s>)?#]|\Z))"
    r")[\\/]*"
    r"|\b(?=www\d?\.\w)"
    r"|(?<![\w.+-])[\w.+-]{1,64}@(?=[\w-]{1,63}(?:\.[\w-]{1,63})+:[\w~/.-])"
)
"""What stands before a host: a scheme with its slashes, as browsers take them too, or the `git@` of `git@host:path`.

Slashes alone count behind a quote or a bracket, and behind a blank where no comment begins.
"""
_MAX_CHARS = 2_000
"""Of an address. No browser and no server takes a longer host."""
_USER = re.compile(r"[^/?#\s]*@")
_WORD = re.compile(r"\S*")
_NO_END = r"\s\"'`<>)\]},;|"
"""What ends an address in code and prose."""
_HOST = re.compile(rf"(?:\[[^\s\]/?#\\]{{0,64}}\])?[^/?#\\{_NO_END}]*")
"""The brackets of an IPv6 address are part of it."""
_REST = re.compile(rf"(?:\[[^\s\]]{{0,64}}\])?[^{_NO_END}]*")
_NOBODY = r"(?:(?:[a-z0-9-]*\.)*(?:example\.(?:com|org|net)|test|example|invalid|localhost)\.?|127\.0\.0\.1|\[::1\])"
_RESERVED = re.compile(rf"{_NOBODY}(?::[^@]*)?", re.IGNORECASE)
"""Hosts that belong to nobody (RFC 2606, RFC 6761), also with empty labels, or to the machine itself."""
_GOES_ON = re.compile(
    rf"(?:[,;]{_NOBODY}(?::\d+)?(?![\w.:-]))*[,;](?!{_NOBODY}(?::\d+)?(?![\w.:-]))[\w-]+(?:\.\w|:\d)"
    r"|\\(?![nrtbf\"'`\\/\s]|\Z)",
    re.IGNORECASE,
)
"""Behind a reserved host: a list with another host, or an escape that goes on with the name."""


def find_new_urls(text: str, base_text: str, limit: int = 10) -> list[str]:
    """Return the first addresses of a text that are not in the old one, without those of reserved hosts.

    An address that code puts together from parts is not found, nor is one inside of another that is returned.
    """
    known = set(_find_urls(base_text))
    new: list[str] = []
    for url in _find_urls(text):
        if url not in known:
            known.add(url)
            new.append(url)
        if len(new) == limit:
            break
    return new


def _find_urls(text: str) -> Iterator[str]:
    done = 0
    for start in _START.finditer(text):
        if start.start() < done:
            continue
        place = start.end(), start.start() + _MAX_CHARS
        host = _match(_HOST, text, place)
        if _USER.match(text, *place):  # What seems to be the host may be the name of a user.
            url = start[0] + _match(_WORD, text, place)
        elif host and not (_RESERVED.fullmatch(host) and not _GOES_ON.match(text, start.end() + len(host), place[1])):
            url = start[0] + _match(_REST, text, place)
        else:
            done = start.end() + len(host.partition(":")[0])
            continue
        done = start.start() + len(url)
        yield url


def _match(pattern: re.Pattern[str], text: str, place: tuple[int, int]) -> str:
    found = pattern.match(text, *place)
    assert found is not None  # the patterns match an empty text as well
    return found[0] if pattern is _WORD else found[0].rstrip(".:!?*_")
