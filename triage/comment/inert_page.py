"""The last check of a finished page."""

from collections.abc import Sequence

from triage.comment.wording import truncate
from triage.safety.active_content import find_active_content
from triage.safety.inert_markdown import format_code_block

MAX_SUMMARY_UNITS = 900_000
"""GitHub shows 1 MiB per step."""


def is_inert(markdown: str, links: Sequence[str], picture: str) -> bool:
    return not find_active_content(markdown.replace(picture, "", 1), links)


def ensure_inert(markdown: str, links: Sequence[str], max_utf16_units: int, picture: str = "") -> str:
    """Returns Markdown as it is if nothing in it is active except `links` and `picture`, else in a code block."""
    if is_inert(markdown, links, picture):
        return markdown
    return format_code_block(truncate(markdown, max_utf16_units // 2))
