"""Renders blocks of a page with the Jinja macros in `templates/`, and checks a finished page for the last time.

The template engine escapes nothing: every value passes a filter of `safety.safe_markdown`, or is an enum or a number
of ours.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from triage.base.text import truncate
from triage.domain.run import StepRecord
from triage.safety.active_content import find_active_content
from triage.safety.safe_markdown import (
    escape_markdown,
    escape_table_cell,
    format_bold,
    format_code_block,
    format_code_span,
)
from triage.say import wording


@cache
def _open_templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("triage.say", "templates"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  (Markdown, not HTML)
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "escape_markdown": escape_markdown,
        "table_cell": escape_table_cell,
        "bold": format_bold,
        "code_span": format_code_span,
        "table_code": render_table_code,
        "code_block": format_code_block,
        "first_sentences": wording.first_sentences,
        "confidence": wording.format_confidence,
        "dollars": wording.format_dollars,
        "outcome": wording.format_outcome,
        "truncate": truncate,
        "escape_checkbox": escape_checkbox,
        "answered_by": describe_answerer,
        "link_code": link_code,
    }
    environment.globals["wording"] = wording
    return environment


def render_block(template: str, macro: str, *values: object) -> str:
    """Return what a macro of `templates/<template>.md.j2` writes for the values."""
    text: str = getattr(_open_templates().get_template(f"{template}.md.j2").module, macro)(*values)
    return text.strip("\n")


def render_table_code(text: str) -> str:
    """Return a code span for a table cell, where a bar ends the cell and no backslash may stand before it."""
    return format_code_span(text.replace("|", "¦")) if "\\" in text else format_code_span(text).replace("|", "\\|")


def describe_answerer(step: StepRecord) -> str:
    """Return who answered, for a table cell; empty for what no agent answers, such as the index."""
    model = wording.model_name(step)
    if model:
        return render_table_code(truncate(model, 60))
    return "" if step.is_lookup else step.engine


def link_code(markdown: str, links: Mapping[str, str]) -> str:
    """Return escaped text in which each code span that has a link leads there. `links` are URLs by code span."""
    for code, url in links.items():
        markdown = markdown.replace(code, f"[{code}]({url})")
    return markdown


def escape_checkbox(markdown: str) -> str:
    """Return text for an open item of a task list: GitHub ticks the box if `[x]` stands anywhere in the line."""
    return markdown.replace("[x]", "[ x]").replace("[X]", "[ X]")


MAX_SUMMARY_UNITS = 900_000
"""GitHub shows 1 MiB per step."""


def ensure_safe(markdown: str, links: Sequence[str], max_utf16_units: int) -> str:
    """Return Markdown as it is if nothing in it is active except `links`, else in a code block."""
    if not find_active_content(markdown, links):
        return markdown
    return format_code_block(truncate(markdown, max_utf16_units // 2))
