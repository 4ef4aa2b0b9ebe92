"""The pages' words: Jinja macros in `templates/`, one for each block.

Nothing is escaped by the template engine, because every hole is filled through a filter of `checks.inert` or with
our own enums and numbers.
"""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from triage.checks.inert import code_span, fenced, inert, inert_cell
from triage.publish import words


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
        "sentences": words.first_sentences,
        "confidence": words.confidence,
        "seconds": words.seconds,
        "dollars": words.dollars,
        "outcome": words.outcome,
        "clipped": words.clipped,
    }
    environment.globals["words"] = words
    return environment


def macros(name: str) -> Any:
    """The macros of a template, as callables that give Markdown."""
    return _environment().get_template(name).module


def cell_code(text: str) -> str:
    """A code span for a table's cell. A bar would end the cell; a backslash before it cannot be written there."""
    return code_span(text.replace("|", "¦")) if "\\" in text else code_span(text).replace("|", "\\|")
