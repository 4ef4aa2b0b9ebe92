"""Untrusted text as code points, and as the HTML that GitHub's own Markdown parser makes of it."""

import re
from collections import Counter

import regex  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options, markdown_to_html_with_extensions


def word_set(words: str) -> frozenset[str]:
    """The words of a line as a set."""
    return frozenset(words.split())


_NEWLINE = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_COLOUR = re.compile("\x1b\\[[0-9;:]{0,64}[mK]")
_ESCAPE = re.compile("\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\x1b[]PX^_])[^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\\\)?")
# A joiner between two pictures, and the colour mark after one that is plain without it, are what a person sees.
_INVISIBLE = regex.compile(
    r"(?P<kept>(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])"
    r"(?:\uFE0F?\u200D(?=\p{Extended_Pictographic})|(?<!\p{Emoji_Presentation})\uFE0F(?!\p{Default_Ignorable_Code_Point})))"
    r"|[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}"
    r"--[\n\t\p{Prepended_Concatenation_Mark}]]+",
    regex.V1,
)
_ODD_SPACE = regex.compile(r"[\p{Zs}\u2800--[ ]]", regex.V1)
_MARKS = regex.compile(r"(\p{M}{8})\p{M}+")
"""Eight combining marks are more than any script stacks on a letter; a run beyond that hides what is around it."""

_FULL_INFO_STRING = 1 << 16
"""`CMARK_OPT_FULL_INFO_STRING`, which the wrapper does not name: words after a fence's language come as `data-meta`."""
_DEEP_PREFIX = re.compile(r"^((?:[ \t]{0,8}(?:>|[-*+]|\d{1,9}[.)])){40})(?:[ \t]{0,8}(?:>|[-*+]|\d{1,9}[.)]))+", re.M)
_TABLE_RULE = re.compile(r"^[ \t>]*[|:-][|: \t-]*$", re.M)
_MAX_CELLS = 50_000
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_NEVER_NESTED = word_set(
    "area base br col embed hr img input link meta param source track wbr p li dt dd tr td th option"
)
_MAX_DEPTH = 200
_MAX_TAG_CHARS = 4_000
_MAX_QUOTED_BRACKETS = 400


def clean_and_count(text: str | None) -> tuple[str, int]:
    """Text with line feeds as line ends and without what nobody sees, and how many invisible runs were taken out.

    Gone are control, format, bidirectional and default-ignorable code points (by Unicode property), lone
    surrogates and terminal escapes; whole emoji stay. Colours of a terminal are taken out and not counted.
    """
    if text and text.isascii() and text.replace("\n", "").isprintable():
        return text, 0  # as most text is, and most often
    text = _COLOUR.sub("", _NEWLINE.sub("\n", (text or "").removeprefix("\ufeff")))
    text, escapes = _ESCAPE.subn("", text)
    removed = 0

    def gone(match: "regex.Match[str]") -> str:
        nonlocal removed
        if match["kept"]:
            return str(match[0])
        removed += 1
        return ""

    text = _INVISIBLE.sub(gone, text)
    return _MARKS.sub(r"\1", _ODD_SPACE.sub(" ", text)), removed + escapes


def clean_text(text: str | None) -> str:
    """`clean` without the count."""
    return clean_and_count(text)[0]


def markdown_to_html(markdown: str, *, raw_html: bool) -> str:
    """HTML as GitHub renders it, before GitHub's own sanitizer; without raw HTML a comment stands in its place.

    Quotes are at most 40 deep, and a table that would have very many cells stays text: both grow the output faster
    than the input.
    """
    source = _DEEP_PREFIX.sub(r"\1", clean_text(markdown))
    extensions = ["autolink", "strikethrough", "tasklist"]
    if _cells(source) <= _MAX_CELLS:
        extensions.append("table")
    options = Options.CMARK_OPT_GITHUB_PRE_LANG | Options.CMARK_OPT_FOOTNOTES | _FULL_INFO_STRING
    if raw_html:
        options |= Options.CMARK_OPT_UNSAFE
    html: str = markdown_to_html_with_extensions(source, options=options, extensions=extensions)
    return html


def is_costly_to_parse(html: str) -> bool:
    """Whether an HTML parser would need more than linear time: very deep nesting, or a tag with endless attributes."""
    if _depth(html) > _MAX_DEPTH or len(re.findall(r"=\s{0,9}[\"'][^\"'<>]{0,99}>", html)) > _MAX_QUOTED_BRACKETS:
        return True
    for piece in html.split(">"):
        if len(piece) > _MAX_TAG_CHARS:
            tag = re.search("<[a-zA-Z]", piece)
            if tag and len(piece) - tag.start() > _MAX_TAG_CHARS:
                return True
    return False


def _cells(source: str) -> int:
    """Cells of the widest table if every line belonged to it; the parser fills short rows up."""
    widest = max((rule[0].count("|") + 1 for rule in _TABLE_RULE.finditer(source) if "|" in rule[0]), default=0)
    return widest * (source.count("\n") + 1) if widest > 1 else 0


def _depth(html: str) -> int:
    """Most elements open at once. A closing tag counts against its own name only, as in a browser."""
    opened: Counter[str] = Counter()
    depth = deepest = 0
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if name in _NEVER_NESTED:
            continue
        if not tag[1]:
            opened[name] += 1
            depth += 1
            deepest = max(deepest, depth)
        elif opened[name]:
            opened[name] -= 1
            depth -= 1
    return deepest
