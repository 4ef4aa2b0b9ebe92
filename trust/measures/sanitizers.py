"""Sanitizers applied twice: clean text stays clean, visible text stays visible, inert text stays inert."""

import html
import re
from collections.abc import Callable, Iterator

import comrak
import html5lib  # type: ignore[import-untyped]

from testing.text.hidden_channels import CHANNELS
from testing.text.pathological_text import PATHOLOGICAL_TEXTS
from triage.issue.visible_text.visible_text import extract_visible_line, extract_visible_page
from triage.output.safe_lines import to_safe_line, to_safe_lines
from triage.safety.clean_text import clean_and_count, clean_text
from triage.safety.safe_markdown import escape_markdown, format_code_block, format_code_span, sanitize_markdown
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.safety.secrets.web_query import sanitize_query
from triage.web.github_search import choose_words
from trust.corpora import markdown
from trust.markdown_judge import judge_page
from trust.measure import Measure, MeasureResult, sample_evenly

SHAPE_CHARS = 3_000
NO_LIMIT = 1_000_000
"""Characters: a truncated text would differ."""
CANARY = "hidden words"
Sanitizer = Callable[[str], str]
TEXT_SANITIZERS: dict[str, Sanitizer] = {
    "clean": clean_text,
    "visible line": lambda text: extract_visible_line(text)[0],
    "masked": redact_likely_secrets,
    "query of the web": sanitize_query,
    "query of issues": choose_words,
    "log line": to_safe_line,
    "log lines": lambda text: "\n".join(to_safe_lines(text)),
}
"""Text to text: the second pass changes nothing."""
MARKDOWN_WRITERS: dict[str, Sanitizer] = {
    "inert": lambda text: escape_markdown(text, NO_LIMIT),
    "code span": format_code_span,
    "fenced": format_code_block,
}
"""Text to Markdown: the rendered text, written again, renders the same."""
MARKDOWN_SANITIZERS: dict[str, Sanitizer] = {
    "plain": lambda text: sanitize_markdown(text, NO_LIMIT),
}
"""Markdown to Markdown: the second pass renders the same."""


def run(share: float) -> MeasureResult:
    corpora = [(case.name, case.text) for case in markdown()]
    hidden = [(name, channel(CANARY)) for name, channel in CHANNELS.items()]
    shapes = [(name, shape(SHAPE_CHARS)) for name, shape in PATHOLOGICAL_TEXTS.items()]
    chosen = sample_evenly([*corpora, *hidden, *shapes], share)
    failures = [f"{words}: {name}" for name, text in chosen for words in _find_problems(text)]
    return MeasureResult(
        len(chosen) * (len(TEXT_SANITIZERS) + len(MARKDOWN_WRITERS) + len(MARKDOWN_SANITIZERS) + 1), failures
    )


def _find_problems(text: str) -> Iterator[str]:
    for name, sanitizer in TEXT_SANITIZERS.items():
        if not _is_idempotent(sanitizer, text):
            yield f"{name} changes its own result"
    for name, sanitizer in MARKDOWN_WRITERS.items():
        once = sanitizer(text)
        yield from (
            f"{name} {words}" for words in _find_differences(once, sanitizer(rendered_words(once)), sanitizer(once))
        )
    for name, sanitizer in MARKDOWN_SANITIZERS.items():
        once = sanitizer(text)
        yield from (f"{name} {words}" for words in _find_differences(once, sanitizer(once), sanitizer(once)))
    seen = extract_visible_page(text).text
    if clean_and_count(seen) != (seen, 0):
        yield "the visible text has invisible characters"
    again = "".join(block.text for block in extract_visible_page(_as_code(seen)).blocks)
    if _letters(again) != _letters(seen):
        yield "the visible text, shown as code, renders differently"


def _is_idempotent(sanitizer: Sanitizer, text: str) -> bool:
    once = sanitizer(text)
    return sanitizer(once) == once


def _find_differences(once: str, again: str, twice: str) -> Iterator[str]:
    if _letters(rendered_words(again)) != _letters(rendered_words(once)):
        yield "renders differently the second time"
    live = set(judge_page(twice, ()).live_effects) - set(judge_page(once, ()).live_effects)
    yield from (f"has, when written twice, {effect}" for effect in sorted(live))


def rendered_words(page: str) -> str:
    """Returns the text of a page, by another parser."""
    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    for name in ("table", "strikethrough", "autolink", "tasklist"):
        setattr(extensions, name, True)
    rendering.unsafe_ = True
    source = page.encode("utf-8", "replace").decode("utf-8")
    made = comrak.render_markdown(source, extension_options=extensions, render_options=rendering)
    return "".join(html5lib.parse(str(made), namespaceHTMLElements=False).itertext())


def _as_code(text: str) -> str:
    # An indented block: no text can close it.
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _letters(text: str) -> str:
    # Without white space and backticks, which our code adds, and apostrophes, which replace backticks.
    return re.sub(r"[\s`']", "", text)


def run_without_defence() -> MeasureResult:
    """Sanitizers whose second step creates what the first one removes."""
    naive: dict[str, Sanitizer] = {
        "entities after comments": lambda text: html.unescape(re.sub(r"<!--.*?-->", "", text)),
        "comments once": lambda text: re.sub(r"<!--.*?-->", "", text),
        "escaped brackets": lambda text: text.replace("<", "\\<").replace("@", "\\@"),
    }
    cases = ["a &#60;!-- b --> c", "<!-<!-- a -->- b -->", "@mona <b>"]
    tried = [(name, text) for name in naive for text in cases]
    failures = [f"{name} changes its own result" for name, text in tried if not _is_idempotent(naive[name], text)]
    return MeasureResult(len(tried), failures)


MEASURE = Measure(
    "Sanitizers applied twice",
    "0 change",
    "A hostile text passes each sanitizer twice. The second pass must change nothing.",
    run,
    run_without_defence,
)
