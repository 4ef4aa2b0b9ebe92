"""Finds the tag of a version as a report writes it."""

import re
from collections.abc import Sequence

from triage.domain.code import Tag
from triage.domain.value import Value

_VERSION = re.compile(
    r"(?:^|(?<=[^\d.]))v?(\d{1,6}(?:[._]\d{1,6}){0,4})(?:[-._+]?((?:a|b|c|rc|alpha|beta|dev|pre|preview|post)[\w.+-]{0,20}))?$",
    re.IGNORECASE,
)
_SERIES = re.compile(r"(?:\.x)+$", re.IGNORECASE)
_PLAIN_PREFIXES = ("", "v", "release", "rel", "version", "ver")


class Version(Value):
    numbers: tuple[int, ...]
    """Without zeros at the end."""
    suffix: str = ""
    """Of a release before the version, or after it."""
    prefix: str = ""
    """Of the tag, such as the name of a package; empty for `v`, `release` and the like."""


def parse_version(text: str) -> Version | None:
    """Return the version at the end of a tag's name, or of a report's words; None without one."""
    match = _VERSION.search(text.strip())
    if match is None:
        return None
    numbers = [int(part) for part in re.split(r"[._]", match[1])]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    prefix = text.strip()[: match.start()].strip("-_/@. ").lower()
    suffix = re.sub(r"[^a-z0-9]", "", (match[2] or "").lower())
    return Version(numbers=tuple(numbers), suffix=suffix, prefix="" if prefix in _PLAIN_PREFIXES else prefix)


def find_tag(written: str, tags: Sequence[Tag], *, last: bool = False) -> Tag | None:
    """Return the tag of a version; of a series such as `1.2.x` the first tag, or the `last`.

    A tag with another prefix, as of one package among many, counts only if no other tag has the version.
    """
    series = _SERIES.search(written.strip())
    wanted = parse_version(_SERIES.sub("", written.strip()) if series else written)
    if wanted is None:
        return None
    versions = [(version, tag) for tag in tags if (version := parse_version(tag.name))]
    if series:
        size = len(wanted.numbers)
        found = [
            (version, tag)
            for version, tag in versions
            if not version.suffix and not version.prefix and version.numbers[:size] == wanted.numbers
        ]
        found.sort(key=lambda pair: pair[0].numbers)
        return found[-1 if last else 0][1] if found else None
    same = [
        (version, tag)
        for version, tag in versions
        if (version.numbers, version.suffix) == (wanted.numbers, wanted.suffix)
    ]
    # A date, a milestone such as `2.0-M1` or another package is in front of the last number.
    exact = [tag for version, tag in same if version.prefix == wanted.prefix]
    if exact or not same or wanted.prefix:
        return exact[0] if exact else None
    return same[0][1] if len(same) == 1 else None


def find_release(tags: Sequence[Tag], like: Tag) -> str | None:
    """Return the first of the tags, oldest first, that names a release of the same package; None without any."""
    prefix = version.prefix if (version := parse_version(like.name)) else ""
    named = ((tag.name, parse_version(tag.name)) for tag in tags)
    return next((name for name, one in named if one and not one.suffix and one.prefix == prefix), None)


def find_previous_tag(tag: Tag, tags: Sequence[Tag]) -> Tag | None:
    """Return the release before a tag, by its version and among tags with the same prefix."""
    version = parse_version(tag.name)
    if version is None:
        return None
    earlier = [
        (other, one)
        for one in tags
        if (other := parse_version(one.name))
        and not other.suffix
        and other.prefix == version.prefix
        and other.numbers < version.numbers
    ]
    return max(earlier, key=lambda pair: pair[0].numbers)[1] if earlier else None
