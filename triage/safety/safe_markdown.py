"""Makes text from outside into Markdown that GitHub shows as plain words and code, and Markdown into HTML.

Nothing in it links, mentions, loads, commands a bot or changes the page around it.
"""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from ctypes import CDLL, c_void_p

from cmarkgfm import _cmark, cmark
from cmarkgfm.cmark import Options
from selectolax.lexbor import LexborNode

from triage.base.text import word_set
from triage.safety.clean_text import clean_text

_parser_library = CDLL(_cmark.__file__)
"""The parser that cmarkgfm calls. cmarkgfm frees neither the tree nor the HTML: 19 MB for 64 KiB of a table."""
for _free in (_parser_library.cmark_node_free, _parser_library.free):
    _free.argtypes, _free.restype = [c_void_p], None
_parsing = threading.Lock()
"""The parser writes a table of special characters that all threads share, and runs without Python's lock."""
MAX_TAGS = 30_000
"""A page of ours has fewer; looking at more takes too long."""
_FULL_INFO_STRING = 1 << 16
"""`CMARK_OPT_FULL_INFO_STRING`, which cmarkgfm does not define: words after a fence's language become `data-meta`."""
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


def markdown_to_html(markdown: str, *, raw_html: bool) -> str:
    """Return HTML as GitHub renders it, before GitHub's sanitizer. Without `raw_html`, a comment replaces each raw tag.

    Keeps at most 40 levels of quotes and lists, and leaves a table with very many cells as text: both would make the
    output grow faster than the input.
    """
    source = _DEEP_PREFIX.sub(r"\1", clean_text(markdown))
    extensions = ["autolink", "strikethrough", "tasklist", "tagfilter"]
    # The parser fills short rows with empty cells.
    widest = max((rule[0].count("|") + 1 for rule in _TABLE_RULE.finditer(source) if "|" in rule[0]), default=0)
    if widest < 2 or widest * (source.count("\n") + 1) <= _MAX_CELLS:
        extensions.append("table")
    options = Options.CMARK_OPT_GITHUB_PRE_LANG | Options.CMARK_OPT_FOOTNOTES | _FULL_INFO_STRING
    if raw_html:
        options |= Options.CMARK_OPT_UNSAFE
    with _parsing:
        return _parse_and_free(source, options, extensions)


def _parse_and_free(markdown: str, options: int, extensions: Sequence[str]) -> str:
    """Return what `markdown_to_html_with_extensions` of cmarkgfm does, without memory that stays."""
    cmark.core_extensions_ensure_registered()
    parser = cmark.parser_new(options)
    try:
        for name in extensions:
            cmark.parser_attach_syntax_extension(parser, cmark.find_syntax_extension(name))
        cmark.parser_feed(parser, markdown)
        tree = cmark.parser_finish(parser)
        html = _cmark.lib.cmark_render_html(tree, options, cmark.parser_get_syntax_extensions(parser))
        try:
            return bytes(_cmark.ffi.string(html)).decode()
        finally:
            _parser_library.free(_get_address(html))
            _parser_library.cmark_node_free(_get_address(tree))
    finally:
        cmark.parser_free(parser)


def _get_address(pointer: object) -> int:
    return int(_cmark.ffi.cast("uintptr_t", pointer))


def is_costly_to_parse(html: str) -> bool:
    """Whether an HTML parser would need more than linear time: deep nesting, or a tag with very many attributes."""
    if _depth(html) > _MAX_DEPTH or len(re.findall(r"=\s{0,9}[\"'][^\"'<>]{0,99}>", html)) > _MAX_QUOTED_BRACKETS:
        return True
    for piece in html.split(">"):
        if len(piece) > _MAX_TAG_CHARS:
            tag = re.search("<[a-zA-Z]", piece)
            if tag and len(piece) - tag.start() > _MAX_TAG_CHARS:
                return True
    return False


def is_inside(node: LexborNode, tag: str) -> bool:
    """Return whether the parent of the node, or the parent's parent, is such an element."""
    parent = node.parent
    if parent is not None and parent.tag == tag:
        return True
    above = parent.parent if parent is not None else None
    return above is not None and above.tag == tag


def _depth(html: str) -> int:
    """Maximum number of open elements. As in a browser, an end tag closes only an element of its own name."""
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


_MAX_LINE_CHARS = 600

COMMAND_LINE = re.compile(
    r"^([ \t>*|]*(?:[+-][ \t][ \t>*|]*)*(?:\d{1,9}[.)][ \t]+)?(?:\[[ xX]\][ \t]+)?)(?=/[A-Za-z])", re.M
)
"""A command to a bot, also after the marks of a list, a quote or a table."""
RENDERED_LANGUAGES = word_set("mermaid math geojson topojson stl suggestion latex tex")
"""Languages of code blocks that GitHub does not show as text."""
_CODE_SPAN = re.compile(r"(?<!`)(`{1,8})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)")
_OPENING, _CLOSING = "([{\"'“‘*~", ")]}\"'”’*~.,;:!?…"
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_HARMLESS = re.compile(r"(?:e\.g|i\.e|a\.m|p\.m|\d{1,6}(?:[.,:]\d{1,6})*)\.?", re.I)
_ACTIVE = re.compile(
    r"[@$]"  # mentions, addresses, formulas
    # GitHub counts ASCII letters and digits as part of a word, so that `é` before a commit does not hide it.
    r"|#\w|(?a:(?<![a-z0-9])[a-z][a-z0-9]{0,20}-\d)"  # issues, also those of other trackers
    r"|(?a:(?<![a-z0-9])[0-9a-f]{7,64}(?![a-z0-9]))"  # commits
    r"|://|\bwww\.|\b(?:mailto|xmpp|javascript|data|vbscript):"  # addresses
    r"|[^\W_]\.[^\W\d_]"  # hosts and files: a reader may copy a host that is not a link
    r"|:[\w+-]{1,60}:"  # emoji by name
    r"|^[(\[{\"']*/|^\\",  # commands to bots
    re.I,
)
_NAME = re.compile(
    r"(?=.*_).*[^\W_]"  # `_private`, `f(_x`, `Vec<_T>`: escaping would make them hard to read
    r"|\w+(?:::|->)\w"
    r"|--[A-Za-z]|-[A-Za-z]$"
    r"|[a-z][a-z0-9]+[A-Z]\w*(?:\(\))?$"
)
"""Names of code. A word with capitals inside is one if it begins small, as most brands do not."""
_BRANDS = word_set("macos ios ipad ipados iphone itunes icloud imac watchos tvos visionos ebay jquery github's")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~^$&])")
_ENTITIES = {"`": "&#96;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
"""A backslash before a backtick would still make the run of backticks longer that ends a code span."""
_BLOCK_START = re.compile(r"^([-+=:]|\d{1,9}(?=[.)]))")
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")


def escape_markdown(text: str, max_chars: int = _MAX_LINE_CHARS) -> str:
    """Return one line of Markdown that GitHub shows as these words and nothing else.

    Names and whatever would act (mentions, references, addresses, paths, commands) become code spans; well-formed code
    spans stay; all other Markdown is escaped. `max_chars` counts the text before escaping.
    """
    words = " ".join(clean_text(text[: 4 * max_chars]).split())
    if len(words) > max_chars:
        words = clean_text(words[: max_chars - 1]).rstrip() + "…"  # a cut may leave half of an emoji
    pieces: list[str] = []
    end = 0
    for span in _CODE_SPAN.finditer(words):
        between = words[end : span.start()]
        # A slash between two code spans begins no command: `while`/`until`.
        pieces.extend([between] if between.strip() == "/" and end else _escape_words(between))
        pieces.append(format_code_span(span[2]))
        end = span.end()
    pieces.extend(_escape_words(words[end:]))
    return _escape_line_start(_join_pieces(pieces))


def escape_table_cell(text: str, max_chars: int = _MAX_LINE_CHARS) -> str:
    """`escape_markdown` for a table's cell: a pipe inside a code span does not end the cell."""
    return re.sub(r"(?<!\\)(\\\\)*\|", r"\1\\|", escape_markdown(text.replace("\\|", "|"), max_chars))


def format_bold(markdown: str) -> str:
    """Bold, for a line of `escape_markdown`; empty for an empty line, since `****` can be a rule."""
    return f"**{markdown}**" if markdown else ""


def format_code_span(text: str) -> str:
    """Return a code span on one line that the text cannot close; empty for a text without visible characters."""
    shown = _shorten_backticks(" ".join(clean_text(text).split()))
    if not shown:
        return ""
    fence = "`" * (_longest_backticks(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def format_code_block(text: str, language: str = "") -> str:
    """Return a fenced block that the text cannot close. Leaves out a language that GitHub does not show as text.

    Puts a backslash before a slash at the start of a line: bots look for commands in a comment's source.
    """
    shown = COMMAND_LINE.sub(r"\1\\", _shorten_backticks(clean_text(text)).strip("\n"))
    fence = "`" * max(3, _longest_backticks(shown) + 1)
    is_shown_as_text = _LANGUAGE.fullmatch(language) and language.lower() not in RENDERED_LANGUAGES
    return f"{fence}{language if is_shown_as_text else ''}\n{shown}\n{fence}"


def _escape_words(text: str) -> Iterator[str]:
    """Yield the text with Markdown escaped, and as code spans what are names or would act."""
    for word in re.findall(r"\s+|\S+", text):
        before, core, after = _split_punctuation(word)
        is_name = _NAME.match(core) is not None and core.lower() not in _BRANDS
        if word.isspace() or not (is_name or _ACTIVE.search(word)) or _HARMLESS.fullmatch(core):
            yield _escape(word)
        elif _ACTIVE.search(before + after) or word.startswith("/"):
            yield format_code_span(word)
        else:
            yield from (_escape(before), format_code_span(core), _escape(after))


def _split_punctuation(word: str) -> tuple[str, str, str]:
    """Return what stands before a word, the word, and what stands after it."""
    bare = word.lstrip(_OPENING)
    core = bare.rstrip(_CLOSING)
    before, after = word[: len(word) - len(bare)], bare[len(core) :]
    opening = _BRACKETS.get(after[:1])
    if opening and core.count(opening) > core.count(after[0]):
        return before, core + after[0], after[1:]  # the bracket of a call: `f()`
    return before, core, after


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda special: _ENTITIES.get(special[1], "\\" + special[1]), text)


def _join_pieces(pieces: Sequence[str]) -> str:
    joined: list[str] = []
    for piece in pieces:
        if piece and joined and joined[-1].endswith("`") and piece.startswith("`"):
            joined.append(" ")  # or two code spans would become one
        if piece:
            joined.append(piece)
    return "".join(joined)


def _escape_line_start(line: str) -> str:
    """Return the line with a backslash if it would begin a list, a heading, a table or a code block."""
    line = line.strip()
    start = _BLOCK_START.match(line)
    if start is None:
        return line
    if start[1].isdigit():
        return f"{start[1]}\\{line[start.end() :]}"
    return f"\\{line}"


def _shorten_backticks(text: str) -> str:
    """GitHub's parser opens no code span with more than 80 backticks, and counts those of a fence in one byte."""
    return re.sub("`{21,}", "`" * 20 + "…", text)


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
