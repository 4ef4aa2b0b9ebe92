"""Markdown to HTML with GitHub's own parser."""

import re
import threading
from collections import Counter
from collections.abc import Sequence
from ctypes import CDLL, c_void_p

from cmarkgfm import _cmark, cmark
from cmarkgfm.cmark import Options
from selectolax.lexbor import LexborNode

from triage.base.word_set import word_set
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
    """HTML as GitHub renders it, before GitHub's sanitizer. Without `raw_html`, a comment replaces each raw tag.

    Keeps at most 40 levels of quotes and lists, and leaves a table with very many cells as text: both would make the
    output grow faster than the input.
    """
    source = _DEEP_PREFIX.sub(r"\1", clean_text(markdown))
    extensions = ["autolink", "strikethrough", "tasklist"]
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
    """What `markdown_to_html_with_extensions` of cmarkgfm does, without memory that stays."""
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
    """Whether the parent of the node, or the parent's parent, is such an element."""
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
