"""Tells what is written for people, and where its sections begin: Markdown, reStructuredText, AsciiDoc, man pages.

Of 51 questions that a section answers, words have the right one among the first three in 38 without changelogs, older
versions and translations, and in 28 with them (`bench.documented`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MAN_PAGE = r"(?<=[A-Za-z])(?<!\.so)\.[1-8](?:\.(?:in|prebuilt))?"
_PAGE = re.compile(
    rf"(?:\.(?:md|mdx|markdown|rst|adoc|asciidoc)|{_MAN_PAGE})$|(?:^|/)README[^/]*$|(?:^|/)docs?/.*\.txt$",
    re.IGNORECASE,
)
_NOT_AN_ANSWER = re.compile(
    r"(?:^|/)(?:\.[^/]+|versioned_docs|v(?:ersion-)?\d[\d.]*|[a-z]{2,3}[-_][A-Z]{2})/"
    r"|(?:^|/)(?:zh|ja|ko|de|fr|es|it|pt|ru|tr)(?:[-_][A-Za-z]{2,4})?/"
    r"|[._-](?:(?:zh|ja|ko|de|fr|es|pt|ru)(?:[-_]\w+)?|[^\x00-\x7f]+)\.\w+$"
    r"|(?:^|/)(?:LICENSE|COPYING|CODE_OF_CONDUCT|(?i:changes?|change[-_]?logs?|history|news|release[-_]?notes?|releases"
    r"|announce|blog))(?:[-_./]|$)"
)
"""Workflows and issue forms, older versions, translations; what changed is no answer to how something works."""
_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*")
_HTML_HEADING = re.compile(r"\s*<h[1-6][^>]*>(.*)", re.IGNORECASE)
_MARKDOWN_HEADING = re.compile(r" {0,3}#{1,6}\s+(.+?)\s*#*")
_ASCIIDOC_HEADING = re.compile(r"={1,6}\s+(\S.*)")
_MAN_HEADING = re.compile(r"\.\s*S[HShs]\s+\"?(.+?)\"?\s*")
_TAG = re.compile(r"<[^>]{1,200}>")
_ROFF = re.compile(r"\\f.|\\&|\\(?=-)")


class Heading(NamedTuple):
    line: int
    """From 1."""
    text: str


def is_documentation(path: str) -> bool:
    """Return whether a page may answer how something works."""
    return _PAGE.search(path) is not None and _NOT_AN_ANSWER.search(path) is None


def find_headings(path: str, lines: Sequence[str]) -> list[Heading]:
    """Return where the sections of a page begin; empty for other files."""
    if not _PAGE.search(path):
        return []
    if re.search(rf"{_MAN_PAGE}$", path):
        return _match_lines(lines, _MAN_HEADING)
    if path.endswith((".adoc", ".asciidoc")):
        return _match_lines(lines, _ASCIIDOC_HEADING)
    return list(_find_prose_headings(lines, is_markdown=not path.endswith((".rst", ".txt"))))


def _match_lines(lines: Sequence[str], heading: re.Pattern[str]) -> list[Heading]:
    found = ((number, heading.fullmatch(line)) for number, line in enumerate(lines, 1))
    return [Heading(number, _ROFF.sub("", match[1]).strip()) for number, match in found if match]


def _find_prose_headings(lines: Sequence[str], *, is_markdown: bool) -> Iterator[Heading]:
    fence = ""
    for number, line in enumerate(lines, 1):
        if is_markdown and (mark := _FENCE.match(line)):
            # A longer fence may show a shorter one.
            closes = fence and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if closes else fence or mark[1]
        elif not fence and is_markdown and (match := _MARKDOWN_HEADING.fullmatch(line)):
            yield Heading(number, match[1])
        elif not fence and (match := _HTML_HEADING.match(line)):
            texts = (_TAG.sub("", text).strip() for text in (match[1], *lines[number : number + 2]))
            yield Heading(number, next(filter(None, texts), ""))
        elif not fence and _is_underline(lines, number, "=-" if is_markdown else ""):
            yield Heading(number - 1, lines[number - 2].strip())


def _is_underline(lines: Sequence[str], number: int, marks: str) -> bool:
    """Return whether a line stands below a title, which begins a paragraph."""
    line, title, above = lines[number - 1], *(lines[at] if at >= 0 else "" for at in (number - 2, number - 3))
    return bool(
        title.strip()
        and not title[0].isspace()
        and _UNDERLINE.fullmatch(line)
        and (not marks or line[0] in marks)
        and not _UNDERLINE.fullmatch(title)
        and (not above.strip() or (not marks and _UNDERLINE.fullmatch(above)))
    )
