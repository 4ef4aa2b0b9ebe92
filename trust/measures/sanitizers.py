"""Sanitizers applied twice: what was cleaned is clean, what is shown is shown again, what was inert stays so."""

import html
import re
from collections.abc import Callable, Iterator

import comrak
import html5lib  # type: ignore[import-untyped]

from testing.text.hidden_channels import CHANNELS
from testing.text.pathological_text import PATHOLOGICAL_TEXTS
from triage.adapters.runner.inert_lines import to_inert_line, to_inert_lines
from triage.reading.markdown.visible_text import extract_visible_line, extract_visible_page
from triage.secrets.likely_secrets import redact_likely_secrets
from triage.secrets.web_query import sanitize_query
from triage.text.clean_text import clean_and_count, clean_text
from triage.text.inert_markdown import escape_markdown, format_code_block, format_code_span, sanitize_markdown
from trust.corpora import markdown
from trust.markdown_judge import judge_page
from trust.measure import Measure, MeasureResult
from trust.sampling import sample_evenly

SHAPE_CHARS = 3_000
NO_END = 1_000_000
"""Characters; what is cut is another text."""
CANARY = "hidden words"
Sanitizer = Callable[[str], str]
AGAIN: dict[str, Sanitizer] = {
    "clean": clean_text,
    "visible line": lambda text: extract_visible_line(text)[0],
    "masked": redact_likely_secrets,
    "query of the web": sanitize_query,
    "log line": to_inert_line,
    "log lines": lambda text: "\n".join(to_inert_lines(text)),
}
"""Text to text: the second time changes nothing."""
WRITTEN: dict[str, Sanitizer] = {
    "inert": lambda text: escape_markdown(text, NO_END),
    "code span": format_code_span,
    "fenced": format_code_block,
}
"""Text to Markdown: what a reader sees of it, written again, is seen again."""
MARKDOWN: dict[str, Sanitizer] = {
    "plain": lambda text: sanitize_markdown(text, NO_END),
}
"""Markdown to Markdown: the second time shows the same."""


def list_texts() -> list[tuple[str, str]]:
    """Names and texts of all corpora."""
    corpora = [(case.name, case.text) for case in markdown()]
    hidden = [(name, channel(CANARY)) for name, channel in CHANNELS.items()]
    return [*corpora, *hidden, *((name, shape(SHAPE_CHARS)) for name, shape in PATHOLOGICAL_TEXTS.items())]


def run(share: float) -> MeasureResult:
    """Each text through each sanitizer, twice."""
    chosen = sample_evenly(list_texts(), share)
    failures = [f"{words}: {name}" for name, text in chosen for words in _wrong(text)]
    return MeasureResult(len(chosen) * (len(AGAIN) + len(WRITTEN) + len(MARKDOWN) + 1), failures)


def _wrong(text: str) -> Iterator[str]:
    for name, sanitizer in AGAIN.items():
        if not _settles(sanitizer, text):
            yield f"{name} changes its own result"
    for name, sanitizer in WRITTEN.items():
        once = sanitizer(text)
        yield from (f"{name} {words}" for words in _shows(once, sanitizer(rendered_words(once)), sanitizer(once)))
    for name, sanitizer in MARKDOWN.items():
        once = sanitizer(text)
        yield from (f"{name} {words}" for words in _shows(once, sanitizer(once), sanitizer(once)))
    seen = extract_visible_page(text).text
    if clean_and_count(seen) != (seen, 0):
        yield "the visible text holds what nobody sees"
    again = "".join(block.text for block in extract_visible_page(_as_code(seen)).blocks)
    if _letters(again) != _letters(seen):
        yield "the visible text, shown as code, is seen as another"


def _settles(sanitizer: Sanitizer, text: str) -> bool:
    once = sanitizer(text)
    return sanitizer(once) == once


def _shows(once: str, again: str, twice: str) -> Iterator[str]:
    if _letters(rendered_words(again)) != _letters(rendered_words(once)):
        yield "is seen as other words the second time"
    live = set(judge_page(twice, ()).live_effects) - set(judge_page(once, ()).live_effects)
    yield from (f"written twice has {effect}" for effect in sorted(live))


def rendered_words(page: str) -> str:
    """The words of a page, by another parser."""
    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    for name in ("table", "strikethrough", "autolink", "tasklist"):
        setattr(extensions, name, True)
    rendering.unsafe_ = True
    source = page.encode("utf-8", "replace").decode("utf-8")
    made = comrak.render_markdown(source, extension_options=extensions, render_options=rendering)
    return "".join(html5lib.parse(str(made), namespaceHTMLElements=False).itertext())


def _as_code(text: str) -> str:
    """As an indented block, which nothing in it can close."""
    return "\n".join(f"    {line}" for line in text.split("\n"))


def _letters(text: str) -> str:
    """Without blanks and what marks code, which are ours, and apostrophes, which stand in for what would mark code."""
    return re.sub(r"[\s`']", "", text)


def run_without_defence() -> MeasureResult:
    """Sanitizers of which the second step makes what the first one looks for."""
    naive: dict[str, Sanitizer] = {
        "entities after comments": lambda text: html.unescape(re.sub(r"<!--.*?-->", "", text)),
        "comments once": lambda text: re.sub(r"<!--.*?-->", "", text),
        "escaped brackets": lambda text: text.replace("<", "\\<").replace("@", "\\@"),
    }
    cases = ["a &#60;!-- b --> c", "<!-<!-- a -->- b -->", "@mona <b>"]
    tried = [(name, text) for name in naive for text in cases]
    failures = [f"{name} changes its own result" for name, text in tried if not _settles(naive[name], text)]
    return MeasureResult(len(tried), failures)


MEASURE = Measure(
    "Sanitizers applied twice",
    "0 change",
    "A string of the corpora, a hidden channel or a costly shape through each sanitizer and through it once more: the "
    "result stays, what another parser shows of it is shown again in the same words, and it is still inert.",
    run,
    run_without_defence,
)
