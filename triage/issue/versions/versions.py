"""Finds the versions that the reporter uses, as `name version` where there is a name."""

import re
from collections.abc import Sequence

from triage.base.word_set import word_set
from triage.domain.issue import Section

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
_PINNED = re.compile(rf"(?<![\w./-])([A-Za-z][\w.-]{{1,60}})(?:===?|@|~=|>=|<=)\s?v?({_NUMBER})(?![\w.])")
_DASHED = re.compile(r"(?<![\w./-])([A-Za-z][A-Za-z_]{1,40})-v?(\d{1,4}\.\d{1,6}(?:\.[\w]{1,20}){0,3})(?![\w/-]|\.\w)")
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
_LISTED = re.compile(
    rf"^[\s*+>|-]{{0,8}}`?([A-Za-z][\w .()/+-]{{1,50}}?)`?\s{{0,40}}(?:[:=|]|"
    rf"\s)\s{{0,40}}[\"'`(v=]{{0,3}}({_NUMBER}|\d{{1,4}}(?=\s*$))"
)
_ALONE = re.compile(rf"^[\s`*\"'-]{{0,6}}v?({_NUMBER})[\s`*\"'.]{{0,6}}$")
_ADDRESS = re.compile(r"(?:(?:10|127)(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.\d\d(?:\.\d+){2}|0\.0\.0\.0)$")
"""Of the local network: no version."""
_TRAILING_WORD = re.compile(r"(?i)[ _.]?\b_*versions?_*$")
_SECTION = re.compile(
    r"\bversions?\b|environment|system|platform|setup|software|dependenc|packages|installed|info\b|^os\b", re.I
)
_NOT_NAMES = word_set(
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
_BRANCH = (
    r"(?:master|main|trunk|develop|dev branch|nightly|(?-i:HEAD))\b(?![./(\[_-]\w|\()"
    r"(?! (?!(?:branch|build|version|release|as|at|and|or|but|it|i|too|also|today|now|still|of|on|in|with|from|since|"
    r"when|where|while|without|after|before|that|this|which|the|a|is|are|was|does|has|have|commit|checkout)\b)[a-z])"
)
"""`in the main window` and `in main.c` are no branches."""
_NUMBERED_PARTS = word_set("section sections figure table chapter step line lines ticket issue pr page rfc rule")
MOVING_VERSION = re.compile(
    r"(?<!\d, )\b(?:on|in|from|using|with|against|of|version:?|at)[\s`'\"(*:]{1,4}(?:the )?"
    rf"(?:latest |current |newest |git |upstream |origin/|upstream/)?{_BRANCH}"
    r"|\b(?:latest|current|newest)[\s`'\"(*:]{1,4}(?:git |upstream )?"
    r"(?:master|main|trunk|head|develop|nightly|version|release|stable|commit|dev\w*)\b"
    r"|\b(?:on|using|with|have|has|running) (?:the )?(?:very )?(?:latest|newest)\b(?! [a-z])"
    r"|^[^\w\n]{0,20}(?:latest |current )?(?:master|main|trunk|(?-i:HEAD)|develop|dev branch|canary|edge|nightly|"
    r"latest)[^\w\n]{0,20}$"
    r"|最新版|最新バージョン|최신 버전|última versi[oó]n|dernière version|neueste[nr]? Version|последн\w{1,4} верси"
    r"|\b(?:master|main|trunk|develop|nightly) (?:branch|build|version)\b|\bHEAD (?:is|at|@|commit)\b"
    r"|\bcommit [`'(]?[0-9a-f]{7,40}\b|/(?:blob|tree|commit)/[0-9a-f]{7,40}\b|\bsha:? ?[0-9a-f]{7,40}\b|"
    r"\bdev\d*\+g?[0-9a-f]{6,}",
    re.I | re.M,
)
"""A state of the source without a release number."""


def find_versions(prose: str, code: Sequence[str], sections: Sequence[Section]) -> list[str]:
    """Versions, the most reliable first: from sections for them, then from prose, then from code blocks."""
    found: dict[str, str] = {}
    for section in sections:
        if _SECTION.search(section.heading):
            _add(found, _in_section(section))
    _add(found, _in_lines(prose.split("\n")))
    for text in code:
        _add(found, _in_lines(text.split("\n"), _PLATFORM_NUMBER, _PINNED, _DASHED))
    return list(found.values())[:_MAX_VERSIONS]


def is_platform_version(version: str) -> bool:
    """Whether a found version is that of a language, system, browser or tool, not of the project."""
    name = version.lower().rpartition(" ")[0]
    return any(word in PLATFORMS for word in re.split(r"[\s(),/-]+", name))


def _add(found: dict[str, str], more: Sequence[tuple[str, str]]) -> None:
    numbers = {known.rpartition(" ")[2] for known in found.values()}
    for raw_name, raw_number in more:
        name = _TRAILING_WORD.sub("", " ".join(raw_name.split()).strip(" :-=*`()"))
        number = raw_number.rstrip(".,-+").removeprefix("v")
        nameless = name.lower() in _NOT_NAMES or name.endswith(".")
        version = number if nameless else f"{name} {number}".strip()
        if number not in numbers or not any(known.endswith(version.lower()) for known in found):
            found.setdefault(version.lower(), version)
            numbers.add(number)


def _in_section(section: Section) -> list[tuple[str, str]]:
    """Versions in lines such as `name: 1.2`. A number alone gets its name from the heading."""
    found: list[tuple[str, str]] = []
    for line in (whole[:_MAX_LINE_CHARS] for whole in section.text.split("\n")):
        alone = _ALONE.match(line)
        listed = _LISTED.match(line)
        if alone:
            found.append((re.sub(r"(?i)\s*\bversions?\b\s*", " ", section.heading).strip(), alone[1]))
        elif listed:
            found.append((re.sub(r"(?i)\s*\bversions?\b\s*", " ", listed[1]).strip(), listed[2]))
        found.extend(_in_lines([line]))
    return found


def _in_lines(lines: Sequence[str], *patterns: re.Pattern[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in (whole[:_MAX_LINE_CHARS] for whole in lines):
        if not re.search(r"\d", line):
            continue
        for pattern in patterns or (_PLATFORM_NUMBER, _PINNED, _VERSION_WORD, _VEED, _NAMED, _DASHED):
            nameless = pattern is _VERSION_WORD  # `It is version 1.2`: the word before it is no name
            for match in pattern.finditer(line):
                name = match[1] or ""
                found.append(("" if nameless and name.lower() in _NOT_NAMES else name, match[2]))
    return [
        (name, number)
        for name, number in found
        if name.lower() not in _NOT_NAMES
        or (number.count(".") > 1 and name.lower() not in _NUMBERED_PARTS and not _ADDRESS.match(number))
    ]
