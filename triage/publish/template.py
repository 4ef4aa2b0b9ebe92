"""The pages' words: Jinja macros in `templates/`, one for each block.

Nothing is escaped by the template engine, because every hole is filled through a filter of `checks.inert` or with
our own enums and numbers.
"""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from triage.domain.run import StepRecord
from triage.publish import wording
from triage.text.inert_markdown import escape_markdown, escape_table_cell, format_code_block, format_code_span


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("triage.publish", "templates"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701  (Markdown, not HTML: escaping is `checks.inert`)
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= {
        "inert": escape_markdown,
        "cell": escape_table_cell,
        "code": format_code_span,
        "cell_code": render_cell_code,
        "fenced": format_code_block,
        "sentences": wording.first_sentences,
        "confidence": wording.format_confidence,
        "seconds": wording.format_seconds,
        "dollars": wording.format_dollars,
        "outcome": wording.format_outcome,
        "clipped": wording.truncate,
        "unticked": escape_checkbox,
        "answerer": describe_answerer,
    }
    environment.globals["words"] = wording
    return environment


def render_block(template: str, macro: str, *values: object) -> str:
    """Markdown of one macro of a template, without empty lines around it."""
    text: str = getattr(_environment().get_template(f"{template}.md.j2").module, macro)(*values)
    return text.strip("\n")


def render_cell_code(text: str) -> str:
    """A code span for a table's cell. A bar would end the cell; a backslash before it cannot be written there."""
    return format_code_span(text.replace("|", "¦")) if "\\" in text else format_code_span(text).replace("|", "\\|")


def describe_answerer(step: StepRecord) -> str:
    """Who answered, for a table's cell; empty for what no agent does."""
    model = wording.model_name(step)
    if model:
        return render_cell_code(wording.truncate(model, 60))
    return "" if step.step in wording.STEPS_WITHOUT_AGENT else step.engine


def escape_checkbox(markdown: str) -> str:
    """For an open item of a task list: GitHub's parser ticks the box when `[x]` stands anywhere in its line."""
    return markdown.replace("[x]", "[ x]").replace("[X]", "[ X]")
