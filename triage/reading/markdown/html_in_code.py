"""Reads the visible text of code blocks and code spans, which raw HTML may be part of."""

from selectolax.lexbor import LexborNode

from triage.reading.markdown import hidden_html
from triage.text.clean_text import clean_and_count


def read_code_block(node: LexborNode) -> tuple[str, str, int]:
    """Language and text of a block, and how many pieces in it are hidden. A block that GitHub draws has no text."""
    written_language = node.attributes.get("lang") or ""
    text, hidden = _read_visible(node)
    language = hidden_html.known_language(written_language)
    is_drawn = language.lower() in hidden_html.DRAWN_LANGUAGES
    if is_drawn or (language.lower() == "math" and hidden_html.formula_hides_text(text)):
        return "", "", hidden + 1
    return language, text, hidden + bool(written_language and not language)


def read_inline_code(node: LexborNode, *, in_formula: bool) -> tuple[str, int]:
    """A code span as Markdown, and how many pieces in it are hidden; empty when nothing is visible."""
    words, hidden = _read_visible(node)
    cleaned, removed = clean_and_count(" ".join(words.split()))
    text = " ".join(cleaned.split())
    if in_formula and hidden_html.formula_hides_text(text):
        return "", hidden + 1
    fence, pad = ("``", " ") if "`" in text else ("`", "")
    return f"{fence}{pad}{text}{pad}{fence}" if text else "", hidden + removed


def _read_visible(code: LexborNode) -> tuple[str, int]:
    texts: list[str] = []
    hidden = 0
    stack = [code.child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        stack.append(node.next)
        if node.is_text_node:
            texts.append(node.text_content or "")
        elif not node.is_element_node or hidden_html.is_hidden(node.tag or "", node.attributes):
            hidden += 1
        else:
            texts.append("\n" if node.tag == "br" else "")
            stack.append(node.child)
    return "".join(texts), hidden
