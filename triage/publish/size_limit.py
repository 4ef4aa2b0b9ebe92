"""Last checks of a page before it is published: its length, and that nothing in it is active."""

from collections.abc import Sequence

from triage.publish.sections import Page
from triage.publish.wording import truncate
from triage.text.active_content import find_active_content
from triage.text.inert_markdown import format_code_block

MAX_COMMENT_UNITS = 60_000
"""GitHub accepts 65,536 characters. The difference leaves room for our first line and for how GitHub counts."""
MAX_SUMMARY_UNITS = 900_000
"""GitHub shows 1 MiB per step."""


def fit_page(page: Page, max_units: int) -> str:
    """Returns the page in at most `max_units` UTF-16 code units. Leaves out sections from the end, and says so.

    A section is never cut: every code block and every fold stays closed.
    """
    parts = [*page.blocks, *(fold.markdown for fold in page.folds)]
    titles = ["" for _ in page.blocks] + [fold.title.partition(":")[0] for fold in page.folds]
    text = "\n\n".join([*parts, page.footer])
    left_out: list[str] = []
    while utf16_length(text) > max_units and parts:
        parts.pop()
        left_out.insert(0, titles.pop() or "part of the report")
        names = ", ".join(dict.fromkeys(left_out))
        text = "\n\n".join([*parts, f"_Cut, because it was too long. Left out: {names}._", page.footer])
    return text


def ensure_inert(markdown: str, links: Sequence[str], max_units: int, picture: str = "") -> str:
    """Returns the Markdown if nothing in it is active, except `links` and `picture`, else its source in a code block.

    This is the second defence: each value in a template is already escaped by `text.inert_markdown`.
    """
    if not find_active_content(markdown.replace(picture, "", 1), links):
        return markdown
    return format_code_block(truncate(markdown, max_units // 2))


def utf16_length(text: str) -> int:
    """Returns the length as JavaScript and the limits of GitHub count it."""
    return len(text) + sum(character > "\uffff" for character in text)
