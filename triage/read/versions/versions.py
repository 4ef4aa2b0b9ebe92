"""Finds the versions and the environment that a reporter names, and the tags of versions."""

import re
from collections.abc import Sequence

from triage.base.text import word_set
from triage.domain.code import Tag
from triage.domain.value import Value

_MAX_VERSIONS = 40
_MAX_LINE_CHARS = 400
_NUMBER = (
    r"\d{1,4}(?:\.\d{1,6}){1,4}(?:[-.+]?(?:a|b|rc|alpha|beta|dev|post|pre|preview|canary|next|nightly|SNAPSHOT|"
    r"RELEASE|LTS)[\w.+-]{0,40})?(?:\+[\w.]{1,40})?"
)
PLATFORMS = word_set(
    "os-release python-bits hat "
    "python cpython pypy node nodejs node.js npm yarn pnpm java jdk openjdk jvm ruby php perl rustc cargo golang "
    "dotnet .net gcc g++ clang llvm "
    "msvc cmake glibc pip conda anaconda ubuntu debian fedora centos rhel alpine arch linux kernel windows macos "
    "osx os mac darwin catalina ventura sonoma "
    "monterey android ios chrome firefox safari edge opera docker kubernetes postgres postgresql mysql mariadb "
    "sqlite oracle redis bash zsh "
    "cuda jupyter ipython qt tcl tk numpy scipy setuptools wheel xcode"
)
_PLATFORM = "|".join(re.escape(name) for name in sorted(PLATFORMS, key=len, reverse=True))
_PLATFORM_NUMBER = re.compile(
    rf"(?<![\w.-])((?:{_PLATFORM}|go)(?: version| os x| server| pro| home)?)[ "
    rf":=/-]{{1,3}}v?(\d{{1,4}}(?:\.\d{{1,6}}){{0,4}}[\w.+-]{{0,30}})(?![\w])",
    re.I,
)
_VERSION_WORD = re.compile(
    rf"(?<![\w.])(?:([A-Za-z][\w.-]{{1,40}}) )?(?:versions?|release|ver\.?|versi[oó]n|vers[aã]o|versione|versie|"
    rf"верси[яиюей]{{1,2}}|版本|バージョン|버전)\b(?:\s(?:is|used|of|number)|"
    rf"[\s:=*`\"'(]){{0,6}}v?({_NUMBER})",
    re.I,
)
_VEED = re.compile(
    r"(?<![\w./-])(?:([A-Za-z][\w.-]{1,40}) )?(v\d{1,4}\.\d{1,5}(?:\.\d{1,6}){0,3}[\w.+-]{0,30})(?![\w/])"
)
_NAMED = re.compile(
    r"(?<![\w.])([A-Z][A-Za-z]{2,30}|[a-z][a-z_-]{3,30})(?:[ ]|: "
    r"?)v?(\d{1,4}\.\d{1,5}(?:\.\d{1,6}[\w]{0,12}){1,3}|\d\.\d{1,2}(?:\.x)?(?:rc\d|b\d|a\d|"
    r"dev\d?)?)(?![\w.]*[\w%]|\s?(?:s|ms|sec|seconds?|MB|GB|KB|times|x|percent)\b)"
)
_ADDRESS = re.compile(r"(?:(?:10|127)(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.\d\d(?:\.\d+){2}|0\.0\.0\.0)$")
"""Of the local network: no version."""
_TRAILING_WORD = re.compile(r"(?i)[ _.]?\b_*versions?_*$")
NOT_NAMES = word_set(
    "version versions release releases section figure table chapter step line lines page at to in of from since "
    "until before after and or the "
    "with than is was about using use used on for by equals return returns value took take takes between over "
    "ticket issue pr size width height "
    "score least be as both like through against an open root main current build install installed under "
    "upgrading updating upgraded updated "
    "runserver core also only even still this that seems happens happen works worked broken fails tested running "
    "run have has stable latest "
    "ratio factor"
)
_NUMBERED_PARTS = word_set("section sections figure table chapter step line lines ticket issue pr page rfc rule")
MOVING_VERSION = re.compile(
    r"(?i)\b(?:latest|newest|current) |\b(?:master|main|trunk|nightly|HEAD|[0-9a-f]{10,40})\b(?![+(]|[.:]\w)"
    r"|最新版|最新バージョン|최신 버전|última versi[oó]n|dernière version|neueste[nr]? Version|последн\w{1,4} верси"
)
"""A state of the source without a release number."""


def find_versions(text: str) -> list[str]:
    """Return the versions in a text, each with its name if it has one."""
    found: dict[str, str] = {}
    numbers = set[str]()
    for raw_name, raw_number in _find_in_lines(text.split("\n")):
        name = _TRAILING_WORD.sub("", " ".join(raw_name.split()).strip(" :-=*`()"))
        number = raw_number.rstrip(".,-+").removeprefix("v")
        nameless = name.lower() in NOT_NAMES or name.endswith(".")
        version = number if nameless else f"{name} {number}".strip()
        if number not in numbers or not any(known.endswith(version.lower()) for known in found):
            found.setdefault(version.lower(), version)
            numbers.add(number)
    return list(found.values())[:_MAX_VERSIONS]


def _find_in_lines(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return each number of a version with the name before it, which is empty for none."""
    found: list[tuple[str, str]] = []
    for line in (whole[:_MAX_LINE_CHARS] for whole in lines):
        if not re.search(r"\d", line):
            continue
        for pattern in (_PLATFORM_NUMBER, _VERSION_WORD, _NAMED, _VEED):
            nameless = pattern is _VERSION_WORD  # `It is version 1.2`: the word before it is no name
            for match in pattern.finditer(line):
                name = match[1] or ""
                found.append(("" if nameless and name.lower() in NOT_NAMES else name, match[2]))
    return [
        (name, number)
        for name, number in found
        if name.lower() not in NOT_NAMES
        or (number.count(".") > 1 and name.lower() not in _NUMBERED_PARTS and not _ADDRESS.match(number))
    ]


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
    if series:
        size = len(wanted.numbers)
        found = [pair for pair in _list_releases(tags, "") if pair[0].numbers[:size] == wanted.numbers]
        found.sort(key=lambda pair: pair[0].numbers)
        return found[-1 if last else 0][1] if found else None
    versions = ((version, tag) for tag in tags if (version := parse_version(tag.name)))
    same = [pair for pair in versions if (pair[0].numbers, pair[0].suffix) == (wanted.numbers, wanted.suffix)]
    # A date, a milestone such as `2.0-M1` or another package is in front of the last number.
    exact = [tag for version, tag in same if version.prefix == wanted.prefix]
    if exact or not same or wanted.prefix:
        return exact[0] if exact else None
    return same[0][1] if len(same) == 1 else None


def _list_releases(tags: Sequence[Tag], prefix: str) -> list[tuple[Version, Tag]]:
    """Return the tags of one package that name a release, and no version before one."""
    found = ((parse_version(tag.name), tag) for tag in tags)
    return [(one, tag) for one, tag in found if one and not one.suffix and one.prefix == prefix]


def find_release(tags: Sequence[Tag], like: Tag | None, *, is_later: bool = False) -> str | None:
    """Return the first of the tags, oldest first, that names a release; None without any.

    `like` is a tag of its package, or None for tags without a prefix. With `is_later` only releases after it count.
    """
    version = (parse_version(like.name) if like else None) or Version(numbers=())
    own = _list_releases(tags, version.prefix)
    return next((tag.name for one, tag in own if not is_later or _is_later(one, version)), None)


def _is_later(release: Version, version: Version) -> bool:
    """Return whether a release is later than a version; than its own pre-releases it is, too."""
    return release.numbers > version.numbers or (bool(version.suffix) and release.numbers == version.numbers)


def names_version(text: str, tag: Tag) -> bool:
    """Return whether the text has the number of a tag."""
    number = re.search(r"\d.*", tag.name)
    return number is not None and re.search(rf"(?<![\d.]){re.escape(number[0])}(?![\d]|\.\d)", text) is not None


def find_previous_tag(tag: Tag, tags: Sequence[Tag]) -> Tag | None:
    """Return the release before a tag, by its version and among tags with the same prefix; None without one."""
    version = parse_version(tag.name)
    if version is None:
        return None
    earlier = [pair for pair in _list_releases(tags, version.prefix) if pair[0].numbers < version.numbers]
    return max(earlier, key=lambda pair: pair[0].numbers)[1] if earlier else None


_SYSTEM = re.compile(rf"(?i)\b(?:{_PLATFORM}|win ?(?:xp|vista|7|8(?:\.1)?|1[01])|nixos|freebsd|wsl2?|osx?)\b")


def names_platform(text: str) -> bool:
    """Return whether a text names a system, a language, a browser or a tool."""
    return _SYSTEM.search(text) is not None
