"""Leaves out what a template says: an issue that somebody sent without filling it in says nothing."""

import re
from collections.abc import Sequence

from triage.domain.issue import CodeBlock, ParsedIssue

_MAX_CHARS = 65_536
_MIN_WORDS = 2
_HINT = re.compile(
    r"\W*(?:\d{1,2}[.)] )?(?:a clear and concise description\b.*|steps to reproduce the behaviou?r\W*|see error\W*"
    r"|if applicable, add\b.*|add any other context\b.*|paste the (?:activity|output|result|log)\b.*"
    r"|please (?:answer|complete|fill)\b.*|if possible, provide a recipe\b.*|a complete runnable program is good\W*"
    r"|a link on \S{1,60} is best\W*|.{0,100}['\"‘“`]\.{2,4}['\"’”`]\W*"
    r"|[\w /()]{1,60}:?\s{0,4}\[e\.g\.[^\]\n]{0,100}\]\W*)$",
    re.I,
)
"""Of the templates that GitHub offers, and of much copied ones."""
_FORM = re.compile(r"^body:", re.M)
"""A form, whose lines may be answers to choose from."""
_VERSION_CALL = re.compile(r"\s*[$>]?\s?[\w./-]{1,40} (?:version|env|info|doctor|--version|-[vV])\s*$")


def drop_template_text(parsed: ParsedIssue, templates: Sequence[str]) -> ParsedIssue:
    """Prose, sections and code without lines of the repository's templates, without hints, and without empty calls."""
    written = (text[:_MAX_CHARS] for text in templates if not _FORM.search(text))
    known = {_key(line) for text in written for line in text.split("\n")}

    def keep(text: str) -> str:
        return "\n".join(line for line in text.split("\n") if line.startswith("#") or not _is_hint(line, known))

    def is_answered(block: CodeBlock) -> bool:
        lines = [line for line in block.text.split("\n") if line.strip()]
        return not all(_VERSION_CALL.match(line) or _is_hint(line, known) for line in lines)

    return parsed.model_copy(
        update={
            "prose": keep(parsed.prose),
            "sections": [one.model_copy(update={"text": keep(one.text)}) for one in parsed.sections],
            "code": [block for block in parsed.code if is_answered(block)],
        }
    )


def _is_hint(line: str, known: set[str]) -> bool:
    key = _key(line)
    return _HINT.match(line[:400]) is not None or (key.count(" ") >= _MIN_WORDS and key in known)


def _key(line: str) -> str:
    return re.sub(r"[\W_]+", " ", line[:1_000]).strip().casefold()
