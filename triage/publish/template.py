"""The pages' words: Jinja macros in `templates/`, one for each block.

Nothing is escaped by the template engine, because every hole is filled through a filter of `checks.inert` or with
our own enums and numbers.
"""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from triage.domain.run import StepRecord
from triage.publish import wording
from triage.text.inert_markdown import code_span, fenced, inert, inert_cell


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
        "inert": inert,
        "cell": inert_cell,
        "code": code_span,
        "cell_code": cell_code,
        "fenced": fenced,
        "sentences": wording.first_sentences,
        "confidence": wording.confidence,
        "seconds": wording.seconds,
        "dollars": wording.dollars,
        "outcome": wording.outcome,
        "clipped": wording.clipped,
        "unticked": unticked,
        "answerer": answerer,
    }
    environment.globals["words"] = wording
    return environment


def block(template: str, macro: str, *values: object) -> str:
    """Markdown of one macro of a template, without empty lines around it."""
    text: str = getattr(_environment().get_template(f"{template}.md.j2").module, macro)(*values)
    return text.strip("\n")


def cell_code(text: str) -> str:
    """A code span for a table's cell. A bar would end the cell; a backslash before it cannot be written there."""
    return code_span(text.replace("|", "¦")) if "\\" in text else code_span(text).replace("|", "\\|")


def answerer(step: StepRecord) -> str:
    """Who answered, for a table's cell; empty for what no agent does."""
    model = wording.asked_of(step)
    if model:
        return cell_code(wording.clipped(model, 60))
    return "" if step.step in wording.MECHANICAL else step.engine


def unticked(markdown: str) -> str:
    """For an open item of a task list: GitHub's parser ticks the box when `[x]` stands anywhere in its line."""
    return markdown.replace("[x]", "[ x]").replace("[X]", "[ X]")
