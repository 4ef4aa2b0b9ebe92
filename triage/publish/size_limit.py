"""The last look at a page before it goes out: is it short enough, and is everything in it dead?"""

from collections.abc import Sequence

from triage.publish.sections import Page
from triage.publish.wording import truncate
from triage.text.inert_markdown import find_active_content, format_code_block

MAX_COMMENT_UNITS = 60_000
"""GitHub takes 65,536 characters; the rest is for how it counts them and for our own first line."""
MAX_SUMMARY_UNITS = 900_000
"""GitHub shows 1 MiB for one step."""


def fit_page(page: Page, max_units: int) -> str:
    """The page in at most `max_units` UTF-16 code units; what does not fit goes from the end, and the page says so.

    Sections go as a whole, so that every fence and every fold stays closed.
    """
    parts = [*page.blocks, *(fold.markdown for fold in page.folds)]
    titles = ["" for _ in page.blocks] + [fold.title.partition(":")[0] for fold in page.folds]
    text = "\n\n".join([*parts, page.footer])
    left_out: list[str] = []
    while utf16_length(text) > max_units and parts:
        parts.pop()
        left_out.insert(0, titles.pop() or "part of the report")
        text = "\n\n".join([*parts, _truncation_notice(left_out), page.footer])
    return text


def _truncation_notice(titles: Sequence[str]) -> str:
    named = ", ".join(dict.fromkeys(titles))
    return f"_Cut, because it was too long. Left out: {named}._"


def ensure_inert(markdown: str, links: Sequence[str], max_units: int, picture: str = "") -> str:
    """The same Markdown when nothing in it acts, else its source in one fenced block.

    `links` are the addresses that code put in; `picture` is a block of ours that GitHub is meant to draw. This is the
    second lock: the first is that every hole of a template is filled through `checks.inert`.
    """
    if not find_active_content(markdown.replace(picture, "", 1), links):
        return markdown
    return format_code_block(truncate(markdown, max_units // 2))


def utf16_length(text: str) -> int:
    """Length as JavaScript and GitHub's limits count it."""
    return len(text) + sum(character > "\uffff" for character in text)
