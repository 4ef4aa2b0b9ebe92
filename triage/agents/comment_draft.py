"""The paragraphs of the writer's comment draft: why it fails, how it may be fixed, how to check it."""

import json
import re

from triage.domain.value import Value

MAX_DRAFT_CHARS = 6_000
_NAMES = {
    "why": r"why(?: (?:it|this) (?:fails|happens|breaks))?|(?:the |likely |probable )?(?:root )?cause"
    r"|explanation|analysis|diagnosis",
    "fix_idea": r"fix idea|idea(?: for a fix)?|(?:the |suggested |proposed |possible |potential )?(?:fix|solution)"
    r"|how to fix(?: it| this)?",
    "check": r"check|verify|verification|test(?: idea)?|how to (?:check|verify|test)(?: it| this)?",
}
_WORDS = "|".join(f"(?P<{name}>{words})" for name, words in _NAMES.items())
# At the begin of a line behind `**`, `##`, `-`, `1.`; inside of a line only in bold type.
_LABEL = re.compile(
    rf"(?:^[^\w\n]{{0,12}}(?:\d{{1,2}}[.)][^\w\n]{{0,4}})?|(?<=[.!?)`][ \t])(?=\*\*))[*_`]*(?:{_WORDS})"
    r"(?:[*_`]*[ \t]*(?:[:.|][*_`]*|[-\u2013\u2014](?=\s)|$)|[*_]+(?=\s))[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"\A```\w*\s*\n?(.*?)\s*```\Z", re.DOTALL)
_BOLD = re.compile(r"(`[^`\n]*`)|\*\*(?=\S)([^*\n`]*(?:`[^`\n]*`[^*\n`]*)*)\*\*")
_LIST_MARK = re.compile(r"^[ \t]*[-*\u2022][ \t]+", re.MULTILINE)


class CommentDraft(Value):
    why: str = ""
    fix_idea: str = ""
    check: str = ""


def parse_comment_draft(text: str) -> CommentDraft:
    """Return the labelled paragraphs of a model's text, each once; a text without labels is the explanation."""
    text = text[:MAX_DRAFT_CHARS].strip()
    if fenced := _FENCE.match(text):
        text = fenced[1]
    text = _write_labels(text)
    matches = list(_LABEL.finditer(text))
    if not matches:
        return CommentDraft(why=_strip_marks(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    found: dict[str, str] = {}
    for match, end in zip(matches, ends, strict=True):
        found.setdefault(match.lastgroup or "why", _strip_marks(text[match.end() : end]))
    return CommentDraft(**found)


def _write_labels(text: str) -> str:
    """Return the text, or that of the fields of a JSON object."""
    try:
        value = json.loads(text, strict=False) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return text
    while isinstance(value, dict) and len(value) == 1 and isinstance(inner := next(iter(value.values())), dict | str):
        if isinstance(inner, str) and _LABEL.match(_to_label(next(iter(value)))):
            break
        value = inner
    if isinstance(value, str):
        return value
    fields = value.items() if isinstance(value, dict) else ()
    lines = [f"{_to_label(name)} {item}" for name, item in fields if isinstance(item, str)]
    return "\n".join(lines) or text


def _to_label(name: str) -> str:
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return f"{words.replace('_', ' ').lower()}:"


def _strip_marks(text: str) -> str:
    # The paragraphs are shown in a line each, where bold type and lists would be shown as their characters.
    plain = _BOLD.sub(lambda found: found[1] or found[2], text)
    return _LIST_MARK.sub("", plain).strip().removesuffix("|").rstrip()
