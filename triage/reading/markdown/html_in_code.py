"""What is seen of code on a page, whatever raw HTML is put into it."""

from selectolax.lexbor import LexborNode

from triage.reading.markdown import hidden_html
from triage.text.clean_text import clean_and_count


def read_code_block(node: LexborNode) -> tuple[str, str, int]:
    """Language and text of a block, and how much in it is hidden; a drawing has no text."""
    told = node.attributes.get("lang") or ""
    text, hidden = _words(node)
    language = hidden_html.known_language(told)
    if language.lower() in hidden_html.DRAWN_LANGUAGES or (
        language.lower() == "math" and hidden_html.formula_hides_text(text)
    ):
        return "", "", hidden + 1
    return language, text, hidden + bool(told and not language)


def read_inline_code(node: LexborNode, *, in_formula: bool) -> tuple[str, int]:
    """A code span as Markdown, and how much in it is hidden; empty when nothing is seen."""
    words, hidden = _words(node)
    cleaned, removed = clean_and_count(" ".join(words.split()))
    text = " ".join(cleaned.split())
    if in_formula and hidden_html.formula_hides_text(text):
        return "", hidden + 1
    fence, pad = ("``", " ") if "`" in text else ("`", "")
    return f"{fence}{pad}{text}{pad}{fence}" if text else "", hidden + removed


def _words(code: LexborNode) -> tuple[str, int]:
    said: list[str] = []
    hidden = 0
    stack = [code.child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        stack.append(node.next)
        if node.is_text_node:
            said.append(node.text_content or "")
        elif not node.is_element_node or hidden_html.is_hidden(node.tag or "", node.attributes):
            hidden += 1
        else:
            said.append("\n" if node.tag == "br" else "")
            stack.append(node.child)
    return "".join(said), hidden
