"""Finds what the project ran on: operating system, language, browser, device."""

import re
from collections.abc import Iterator

from triage.domain.issue import ParsedIssue, Quote
from triage.issue.sentences import quote, shorten_to_ends
from triage.issue.versions.versions import PLATFORMS

_MAX_FOUND = 12
_MAX_VALUE_CHARS = 100
_MAX_WORDS = 10
"""Of an answer below a heading. More are a sentence about something else."""
_SECTION = re.compile(
    r"(?i)^\W*(?:os\b|operating system|platform|environment$|os ?/ ?environment|os platform|browsers?\b|python "
    r"version|node(?:\.js)? version|"
    r"java version|php version|ruby version|device|hardware|gcc|compiler|system information$)"
)
_LABELLED = re.compile(
    r"(?im)^[\s>*#_`|+-]{0,8}(?P<line>(?:OS|Operating system|Platform|Browser|Device|Hardware|Kernel|Machine|"
    r"Distribution|Compiler|(?P<language>Python|Node(?:\.js)?|Java|JDK|PHP|Ruby|Go|Rust|GCC))"
    r"(?:[ /(,][ \w()/.,-]{0,60}?)?[*_`]{0,3}[ ]{0,8}[:=|]"
    r"[*_` |]{0,6}(?P<value>[^\s|*`_][^\n|]{0,100}))"
)
_NUMBERED_VALUE = re.compile(r"\W{0,4}(?:[A-Za-z+#.]{1,20}[ -]?)?\d")
"""Of a language: what else follows its name and a colon is a message of its compiler."""
_NAMES = "|".join(re.escape(name) for name in sorted(PLATFORMS, key=len, reverse=True))
_SEPARATOR = (
    r"(?:[ _/]|: |==|=(?=v?\d{1,3}\.\d{1,3}(?:\.\d{1,6})?[ \t]{0,8}$)"
    r"|[:-](?!\d{3,}(?![\d.]))(?!\d{1,7}:)){1,3}"
)
"""A long number after a colon or a dash is a line or a process; one after an equals sign may be any value."""
_NUMBERED = re.compile(
    rf"(?im)(?<![\w./-])(?P<value>(?:{_NAMES}|go|windows nt|mac ?os(?: x)?|os x)(?: version| server| pro| home|[ "
    rf"-]release)?{_SEPARATOR}v?\d[\w.+-]{{0,30}}"
    rf"|win(?:dows)? ?(?:server )?(?:xp|vista|7|8(?:\.1)?|1[01]|20[012]\d)(?![\w.]))"
)
_SYSTEM = re.compile(
    r"(?P<value>(?:Arch |Gentoo |Debian |Alpine |Kali )Linux|Ubuntu|Debian|Fedora|CentOS|Alpine|Gentoo|Manjaro|"
    r"NixOS|FreeBSD|OpenBSD|macOS|Mac ?OS ?X?|OS ?X|Windows|WSL2?|"
    r"Raspberry Pi|Android|iOS|Chrome|Firefox|Safari|Edge|Docker|Kubernetes|Linux|[Oo]n (?:a |my )?[Mm]ac)(?!\w)"
)
_EXAMPLE = re.compile(r"\[e\.g\.[^\]\n]{0,100}\]|\(e\.g\.[^()\n]{0,100}\)")
_EMPTY = re.compile(r"(?i)^\W*(?:n/?[ar]|none|no response|unknown|any|all|-|\[?e\.g\..{0,100})?\W*$")


def find_environment(parsed: ParsedIssue) -> list[Quote]:
    """At most twelve systems, languages and tools, as written, the most explicit first."""
    found: list[Quote] = []
    for words in _candidates(parsed):
        value = words.strip().strip("`*_\"'|").strip().rstrip(".,;:")[:_MAX_VALUE_CHARS]
        if _EMPTY.match(value) or any(value in known.text for known in found):
            continue
        if place := quote(parsed, value):
            found.append(place)
            if len(found) == _MAX_FOUND:
                break
    return found


def _candidates(parsed: ParsedIssue) -> Iterator[str]:
    """Without the examples that templates give in brackets."""
    for section in parsed.sections:
        if _SECTION.search(section.heading) and section.text:
            line = next((line for line in section.text[:500].split("\n") if re.search(r"\w{2}", line)), "")
            if ":" not in line and "```" not in line and len(line.split()) <= _MAX_WORDS:
                yield line.lstrip("- *")
    text = _EXAMPLE.sub("", shorten_to_ends(parsed.text))
    for match in _LABELLED.finditer(text.partition("\n")[2]):  # below the title, whose label may be a component
        if _EMPTY.match(match["value"]) or (match["language"] and not _NUMBERED_VALUE.match(match["value"])):
            continue
        # a number alone needs its label
        yield match["value"] if re.search(r"[A-Za-z]{2}", match["value"]) else match["line"]
    yield from (match["value"] for match in _NUMBERED.finditer(text))
    prose = _EXAMPLE.sub("", shorten_to_ends(f"{parsed.title}\n{parsed.prose}"))
    yield from (match["value"] for match in _SYSTEM.finditer(prose))
