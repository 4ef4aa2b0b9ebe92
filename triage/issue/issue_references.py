"""Finds issues of the same repository that a text names."""

import re

_MAX_CHARS = 65_536
_SLUG = r"[\w.-]{1,39}/[\w.-]{1,100}"
_NUMBER = r"(\d{1,9})(?!\w)"
_REFERENCE = re.compile(rf"(?:(?<![\w/.-])({_SLUG})|(?<![\w/&]))#{_NUMBER}|(?<![\w/])GH-{_NUMBER}", re.I)
_ADDRESS = re.compile(rf"https?://(?:redirect\.|www\.)?([^\s/]{{1,100}})/({_SLUG})/(?:issues|pull)/{_NUMBER}", re.I)


def find_referenced_issues(text: str, repository: str, server_url: str = "https://github.com") -> set[int]:
    """Numbers in `#12`, `GH-12`, `owner/repo#12` and addresses on `server_url`, for issues of `repository` only.

    Takes time linear in the text, of which it reads 65,536 characters.
    """
    text = text[:_MAX_CHARS]
    slug, host = repository.casefold(), server_url.rpartition("//")[2].rstrip("/").casefold()
    found = {
        int(number or other)
        for named, number, other in _REFERENCE.findall(text)
        if not named or named.casefold() == slug
    }
    addresses = _ADDRESS.findall(text)
    return found | {int(number) for at, named, number in addresses if (at.casefold(), named.casefold()) == (host, slug)}
