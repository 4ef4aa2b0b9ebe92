"""Words that go out are words: nothing in them links, pings, loads, commands or changes the page around them.

`inert`, `inert_cell`, `plain`, `fenced` and `code_span` make such text; `live_effects` looks at a finished page and
lists whatever would still act on GitHub.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from triage.domain.effect import COMMENT_MARKER
from triage.text.clean_text import clean_and_count, clean_text, is_costly_to_parse, markdown_to_html, word_set

MAX_CHARS = 600
MAX_PLAIN_CHARS = 20_000
_MAX_TAGS = 30_000
"""More than a page of ours has; each is looked at."""

_SPAN = re.compile(r"(?<!`)(`{1,8})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)")
_RUN = re.compile(r"`+")
_LONG_RUN = re.compile("`{21,}")
_OPENING, _CLOSING = "([{\"'“‘*_~", ")]}\"'”’*_~.,;:!?…"
_NO_NAME = re.compile(r"(?:e\.g|i\.e|a\.m|p\.m|\d{1,6}(?:[.,:]\d{1,6})*)\.?", re.I)
_ACTS = re.compile(
    r"[@$]"  # mentions, addresses, formulas
    r"|#\w|\bgh-\d|\b[a-z][a-z0-9]{0,20}-\d"  # issues, also those of other trackers
    r"|(?<![\w])[0-9a-f]{7,64}(?!\w)"  # commits
    r"|://|\bwww\.|\b(?:mailto|xmpp|javascript|data|vbscript):"  # addresses
    r"|[^\W_]\.[^\W\d_]"  # hosts and files: a host that is no link can still be copied by a trusting reader
    r"|:[\w+-]{1,60}:"  # emoji by name
    r"|^[(\[{\"']*/|^\\"  # commands of other bots
    r"|\w_\w|^_+\w|\w_$",  # names, which escaping would make hard to read
    re.I,
)
_COMMAND_LINE = re.compile(r"^([ \t>*+|-]*(?:\d{1,9}[.)][ \t]+)?(?:\[[ xX]\][ \t]+)?)(?=/[A-Za-z])", re.M)
"""A command of some bot, also behind what Markdown puts before a line."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~^$&])")
_BLOCK_START = re.compile(r"^([-+=:]|\d{1,9}(?=[.)]))")
_ITEMS_APART = re.compile(r"(^- [^\n]*)\n\n(?=- )", re.M)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_DRAWN = word_set("mermaid math geojson topojson stl suggestion latex tex")
"""Languages that GitHub draws, or turns into a button, instead of showing the text."""


def escape_markdown(text: str, max_chars: int = MAX_CHARS) -> str:
    """One line of Markdown that GitHub shows as these words and nothing else.

    What would act (mentions, references, addresses, paths, commands) becomes a code span, as do names; well-formed
    code spans stay; everything else that Markdown knows is escaped. `max_chars` counts the text before escaping.
    """
    words = " ".join(clean_text(text[: 4 * max_chars]).split())
    if len(words) > max_chars:
        words = words[: max_chars - 1].rstrip() + "…"
    pieces: list[str] = []
    end = 0
    for span in _SPAN.finditer(words):
        pieces.extend(_inert_words(words[end : span.start()]))
        pieces.append(format_code_span(span[2]))
        end = span.end()
    pieces.extend(_inert_words(words[end:]))
    return _at_line_start(_apart(pieces))


def escape_table_cell(text: str, max_chars: int = MAX_CHARS) -> str:
    """`inert` for a table's cell: a pipe inside a code span does not end the cell."""
    return re.sub(r"(?<!\\)(\\\\)*\|", r"\1\\|", escape_markdown(text.replace("\\|", "|"), max_chars))


def format_code_span(text: str) -> str:
    """A code span that the text cannot close, on one line; empty when there is nothing to show."""
    shown = _without_long_runs(" ".join(clean_text(text).split()))
    if not shown:
        return ""
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def format_code_block(text: str, language: str = "") -> str:
    """A fenced block that the text cannot close. A language that GitHub draws instead of showing is left out.

    A line that begins with a slash gets a backslash: bots read a comment's lines for commands, and know no fences.
    """
    shown = _COMMAND_LINE.sub(r"\1\\", _without_long_runs(clean_text(text)).strip("\n"))
    fence = "`" * max(3, _longest_run(shown) + 1)
    name = _LANGUAGE.fullmatch(language)
    info = "" if name is None or language.lower() in _DRAWN else language
    return f"{fence}{info}\n{shown}\n{fence}"


def sanitize_markdown(markdown: str, max_chars: int = MAX_PLAIN_CHARS) -> str:
    """A model's Markdown as inert paragraphs, list items and fenced code; finished Markdown, to be shown as it is.

    Headings become paragraphs, links their text, pictures and HTML nothing. `max_chars` counts the input.
    """
    text = clean_text(markdown)
    cut = text[:max_chars]
    html = markdown_to_html(cut, raw_html=False)
    if is_costly_to_parse(html) or html.count("<") > _MAX_TAGS:
        return format_code_block(cut)
    body = LexborHTMLParser(f"<body>{html}").body
    blocks = list(_plain_blocks(body)) if body is not None else []
    if len(text) > max_chars:
        blocks.append("…")
    return _ITEMS_APART.sub(r"\1\n", "\n\n".join(block for block in blocks if block))


def find_active_content(markdown: str, allowed_urls: Sequence[str]) -> list[str]:
    """Everything in a finished page that would act on GitHub, each in a few words of ours; empty when it is safe.

    Our own hidden marker may open the page; `<details>`, `<summary>`, `<sub>` and `<br>` may stand in it. A link must
    be one of `allowed_urls`, or begin with one of them that ends in `/`.
    """
    page = _after_marker(markdown)
    if page is None:
        return ["an open comment"]
    found = ["invisible characters"] if clean_and_count(page)[1] or _ODD_CONTROL.search(page) else []
    if _COMMAND_LINE.search(page):
        found.append(_SLASH)
    html = markdown_to_html(page, raw_html=True)
    if is_costly_to_parse(html) or html.count("<") > _MAX_TAGS:
        return [*found, "nesting too deep to check"]
    if _RAW.search(markdown_to_html(_OUR_TAGS.sub(" ", page), raw_html=False)):
        found.append("raw HTML")
    root = LexborHTMLParser(f"<body>{html}").root
    if root is not None:
        allowed = {unquote(url) for url in allowed_urls}
        found.extend(_live_nodes(root, allowed))
    return list(dict.fromkeys(found))


def _inert_words(text: str) -> Iterator[str]:
    """Pieces of the text without code spans: words escaped, live ones in code."""
    for word in re.findall(r"\s+|\S+", text):
        before, core, after = _parted(word)
        if word.isspace() or not _acts(word, core):
            yield _escaped(word)
        elif _ACTS.search(before + after) or word.startswith("/"):
            yield format_code_span(word)
        else:
            core, after = _closed(core, after)
            yield from (_escaped(before), format_code_span(core), _escaped(after))


def _parted(word: str) -> tuple[str, str, str]:
    """What opens before a word, the word, and what closes after it."""
    bare = word.lstrip(_OPENING)
    core = bare.rstrip(_CLOSING)
    return word[: len(word) - len(bare)], core, bare[len(core) :]


def _closed(core: str, after: str) -> tuple[str, str]:
    """A call keeps its own closing bracket: `f()` and not `f(`."""
    if after.startswith(")") and core.count("(") > core.count(")"):
        return core + ")", after[1:]
    return core, after


def _acts(word: str, core: str) -> bool:
    return bool(_ACTS.search(word)) and not _NO_NAME.fullmatch(core)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda special: _ENTITIES.get(special[1], "\\" + special[1]), text)


_ENTITIES = {"`": "&#96;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
"""A backslash before a backtick would still lengthen a run that ends a code span."""


def _apart(pieces: Sequence[str]) -> str:
    """Joined, with a space where two code spans would melt into one."""
    whole: list[str] = []
    for piece in pieces:
        if piece and whole and whole[-1].endswith("`") and piece.startswith("`"):
            whole.append(" ")
        if piece:
            whole.append(piece)
    return "".join(whole)


def _at_line_start(line: str) -> str:
    """The line so that it begins neither a list nor an underline, a table or a code block."""
    line = line.strip()
    start = _BLOCK_START.match(line)
    if start is None:
        return line
    if start[1].isdigit():
        return f"{start[1]}\\{line[start.end() :]}"
    return f"\\{line}"


def _without_long_runs(text: str) -> str:
    """GitHub's parser opens no code span with more than 80 backticks, and counts those of a fence in one byte."""
    return _LONG_RUN.sub("`" * 20 + "…", text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)


_BLOCKS = word_set("p h1 h2 h3 h4 h5 h6 li ul ol blockquote table tr thead tbody hr section div body")


def _plain_blocks(body: LexborNode) -> Iterator[str]:
    """Depth first: text gathers until a block begins or ends."""
    gathered: list[str] = []
    mark = ""
    for node in body.traverse(include_text=True):
        tag = node.tag or ""
        if tag == "pre":
            yield _paragraph(gathered, mark)
            mark = ""
            yield format_code_block(node.text(deep=True), node.attributes.get("lang") or "")
        elif tag in _BLOCKS:
            yield _paragraph(gathered, mark)
            mark = "- " if tag == "li" else mark if tag == "p" and not gathered else ""
        elif tag in ("td", "th", "br"):
            gathered.append(" ")
        elif node.is_text_node and not _inside(node, "pre"):
            text = node.text_content or ""
            gathered.append(format_code_span(text) if _inside(node, "code") else _unmarked(text))
            if _ends_block(node):
                yield _paragraph(gathered, mark)
                mark = ""
    yield _paragraph(gathered, mark)


def _unmarked(text: str) -> str:
    """A literal backtick of the text opens no code span when the text is made inert."""
    return text.replace("`", "'")


def _ends_block(node: LexborNode) -> bool:
    parent = node.parent
    return parent is not None and parent.tag in _BLOCKS and node.next is None


def _inside(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    if parent is not None and parent.tag == tag:
        return True
    above = parent.parent if parent is not None else None
    return above is not None and above.tag == tag


def _paragraph(gathered: list[str], mark: str) -> str:
    text = "".join(gathered)
    gathered.clear()
    line = escape_markdown(text, max_chars=len(text) + 1) if text.strip() else ""
    return f"{mark}{line}" if line else ""


_RAW = re.compile("<!-- raw HTML omitted -->")
_OUR_TAGS = re.compile(r"</?(?:details|summary|sub)>|<details open>|<br ?/?>")
_MADE_BY_MARKDOWN = word_set(
    "html head body p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a hr br table thead tbody tr "
    "th td input "
    "details summary sub"
)
_ATTRIBUTES = frozenset({"href", "align", "lang", "start", "type", "checked", "disabled", "open"})
_LIVE_TEXT = (
    ("a mention", re.compile(r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9])")),
    ("an issue reference", re.compile(r"#\d|(?i:\bgh-\d)|\b[A-Z][A-Z0-9]{1,20}-\d")),
    ("a commit reference", re.compile(r"(?<![\w])[0-9a-f]{7,40}(?![\w])")),
    ("a formula", re.compile(r"\$\$|\$[^\s$\d][^$]*\$")),
)
_SLASH = "a line that begins with a slash"
_ODD_CONTROL = re.compile("[\r\x0b\x0c\x1b\x85\u2028\u2029]")
"""Taken for line ends or colours and not counted; a finished page has none."""
_NEW_LINE_TAGS = word_set("p h1 h2 h3 h4 h5 h6 li td th br details summary blockquote hr pre table")


def _after_marker(markdown: str) -> str | None:
    """The page without our marker at its very beginning; none when the marker does not end."""
    if not markdown.startswith(COMMENT_MARKER):
        return markdown
    _, end, rest = markdown.partition("-->")
    return rest if end else None


def _live_nodes(root: LexborNode, allowed: set[str]) -> Iterator[str]:
    fresh_line, text = True, ""
    for node in root.traverse(include_text=True):
        tag = node.tag or ""
        if tag == "code" and text.endswith("$"):
            yield "a formula"
        if node.is_text_node:
            text = node.text_content or ""
            if _inside(node, "code") or _inside(node, "pre"):
                fresh_line = False
                continue
            yield from _live_words(text, fresh_line)
            fresh_line = text.rstrip(" ").endswith("\n") or (fresh_line and not text.strip())
        elif not node.is_element_node:
            yield "an HTML comment"
        else:
            fresh_line = fresh_line or tag in _NEW_LINE_TAGS
            yield from _live_element(tag, node, allowed)


def _live_words(text: str, fresh_line: bool) -> Iterator[str]:
    for name, pattern in _LIVE_TEXT:
        if pattern.search(text):
            yield name
    lines = text.split("\n")
    if any(line.lstrip().startswith("/") for line in (lines if fresh_line else lines[1:])):
        yield _SLASH


def _live_element(tag: str, node: LexborNode, allowed: set[str]) -> Iterator[str]:
    attributes = node.attributes
    if tag == "img":
        yield "an image"
    elif tag not in _MADE_BY_MARKDOWN:
        yield "raw HTML"
    elif not set(attributes) <= _ATTRIBUTES:
        yield "an attribute"
    elif tag == "input" and attributes.get("type") != "checkbox":
        yield "raw HTML"
    elif tag == "pre" and (attributes.get("lang") or "").lower() in _DRAWN:
        yield "a drawn block"
    if tag == "a" and not _is_allowed(unquote(attributes.get("href") or ""), allowed):
        yield "a foreign link"


def _is_allowed(target: str, allowed: set[str]) -> bool:
    return target in allowed or any(url.endswith("/") and target.startswith(url) for url in allowed)
