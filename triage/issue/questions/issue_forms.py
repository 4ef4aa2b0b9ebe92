"""Parses the repository's issue templates, and leaves out of an issue what they say.

An issue that somebody sent without filling the template in says nothing.
"""

import re
from collections.abc import Sequence
from typing import Any

import yaml

from triage.domain.findings import MissingKind
from triage.domain.issue import CodeBlock, ParsedIssue, Section
from triage.domain.value import Value
from triage.safety.clean_text import clean_text

_MAX_CHARS = 65_536
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.S)
_NAME = re.compile(r"^name[ \t]*:[ \t]*(\S.{0,200})$", re.M)
_BUG = re.compile(r"\bbugs?\b", re.I)
_HEADING = re.compile(r"^(?:#{1,6} +(.{1,120}?)[ #:]*|\*\*(.{1,120}?):?\*\*:?)$", re.M)
_WORDS: dict[MissingKind, str] = {
    "expected": r"\bexpect|should (?:happen|have)|desired",
    "reproduction": (
        r"repro|\bsteps\b|minimal|mcve|test case|code (?:for|sample|snippet|example)|how (?:can|do) we (?:see|"
        r"trigger)"
    ),
    "error_output": r"\blogs?\b|\berror|trace|console|stack|output of",
    "version": r"\bversions?\b|\brelease\b",
    "actual": (
        r"actual|what happen|current(?:ly)? behav|observed|describe the (?:bug|issue|problem)|bug (?:summary|"
        r"description|report)|^description|^summary|^problem|what went wrong"
    ),
    "configuration": r"config|settings",
    "environment": r"environment|operating system|^\W*os\b|platform|browser|system info|device|hardware|\bsystem\b",
}
_KINDS = {kind: re.compile(words, re.I) for kind, words in _WORDS.items()}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Ten times as fast, but not in every build of PyYAML."""
_MAX_DEPTH = 20
_NO_WORDS = re.compile(
    r"[\W_]*(?:(?:n/?a|none|nothing|tbd|todo|no response|not applicable|same(?: as above)?|"
    r"(?:see|as|in|check)(?: the)? (?:\w+ )?(?:logs?|title|above|below|attach\w*|screen ?shots?|"
    r"pictures?|images?|video|description))[\W_]*)?$",
    re.I,
)


class FormField(Value):
    label: str
    kind: MissingKind
    required: bool = False
    """Only a form can require an answer, not a Markdown template."""
    hint: str = ""
    """What the form has in the field before anybody writes: its value and its placeholder."""


Form = list[FormField]


def classify_field(label: str) -> MissingKind:
    return next((kind for kind, words in _KINDS.items() if words.search(label)), "other")


def parse_forms(texts: Sequence[str]) -> list[Form]:
    """Return every template that has questions. An invalid one is skipped."""
    forms = []
    for text in (clean_text(raw[:_MAX_CHARS]) for raw in texts):
        form = _from_yaml(text)
        if form is None:
            shown = _COMMENT.sub("", _FRONT_MATTER.sub("", text))
            labels = dict.fromkeys((match[1] or match[2]).strip(" :*") for match in _HEADING.finditer(shown))
            form = [FormField(label=label, kind=classify_field(label)) for label in labels if label]
        forms.append(form)
    return [form for form in forms if form]


def find_form_name(texts: Sequence[str], sections: Sequence[Section]) -> str:
    """Return the `name` of the form that was filled in; empty when none was, or when two of them fit."""
    headings = {_key(section.heading) for section in sections}
    forms = [(text, form) for text in texts for form in parse_forms([text])]
    used = find_used_form([form for _, form in forms], sections)
    hits = sum(_key(field.label) in headings for field in used)
    fitting = [text for text, form in forms if hits and sum(_key(field.label) in headings for field in form) == hits]
    name = _NAME.search(fitting[0]) if len(fitting) == 1 else None
    return name[1].strip(" \t\r\"'") if name else ""


def find_template_comments(texts: Sequence[str]) -> frozenset[str]:
    """Return what the templates say in comments (`<!-- … -->`), without repeated white space."""
    found = (comment for raw in texts for comment in _COMMENT.findall(clean_text(raw[:_MAX_CHARS])))
    return frozenset(" ".join(comment.split()) for comment in found) - {""}


def find_used_form(forms: Sequence[Form], sections: Sequence[Section]) -> Form:
    """Return the template that has most of its questions as headings of the issue; empty when there is none."""
    headings = {_key(section.heading) for section in sections}
    best: Form = []
    best_hits = 0
    for form in forms:
        hits = sum(_key(field.label) in headings for field in form)
        if hits > best_hits and 2 * hits >= min(len(form), 4):
            best, best_hits = form, hits
    return best


def find_bug_form(texts: Sequence[str]) -> Form:
    """Return the form for bugs, of which there is one if only one has it in its name; else empty."""
    named = [text for text in texts if (name := _NAME.search(text)) and _BUG.search(name[1])]
    forms = parse_forms(named)
    return forms[0] if len(forms) == 1 else []


def find_answer(field: FormField, sections: Sequence[Section]) -> str | None:
    """Return the text below the field's heading; None when the heading is missing.

    Empty is what says nothing: `...`, a pointer such as `see log`, the form's own text.
    """
    texts = [section.text for section in sections if _key(section.heading) == _key(field.label)]
    if not texts:
        return None
    known = set(map(_line_key, field.hint.split("\n"))) - {""}
    lines = max(texts, key=len).split("\n")
    answer = "\n".join(line for line in lines if _line_key(line) not in known).strip()
    if field.kind in ("other", "environment", "configuration") and re.search(r"\w", answer):
        return answer  # `N/A` may be the answer
    return "" if is_unanswered(answer) else answer


def is_unanswered(text: str) -> bool:
    """Return whether a text below a heading says nothing: no word, a word for none, or only that it is elsewhere."""
    return _NO_WORDS.match(text) is not None


def _from_yaml(text: str) -> Form | None:
    if _FRONT_MATTER.match(text) or "body:" not in text:
        return None
    try:
        loaded: Any = yaml.load(text, _LOADER) if _is_plain(text) else None  # noqa: S506 - a safe loader
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError):
        # PyYAML raises the last two for a value that does not fit its tag, such as `!!bool maybe`.
        return None
    body = loaded.get("body") if isinstance(loaded, dict) else None
    if not isinstance(body, list):
        return None
    return [field for item in body[:100] if (field := _field(item)) is not None]


def _is_plain(text: str) -> bool:
    """Return whether the YAML is neither deep nor has aliases, which can make a small text large."""
    depth = 0
    for event in yaml.parse(text, _LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if getattr(event, "anchor", None) or depth > _MAX_DEPTH:  # an alias has one too
            return False
    return True


def _field(item: Any) -> FormField | None:
    if not isinstance(item, dict) or item.get("type") not in ("input", "textarea", "dropdown"):
        return None
    attributes, validations = item.get("attributes"), item.get("validations")
    if not isinstance(attributes, dict):
        return None
    label = attributes.get("label")
    if not isinstance(label, str) or not label.strip():
        return None
    required = isinstance(validations, dict) and validations.get("required") is True
    hints = [attributes.get("value"), attributes.get("placeholder")] if item["type"] != "dropdown" else []
    hint = "\n".join(text for text in hints if isinstance(text, str))
    return FormField(label=" ".join(label.split()), kind=classify_field(label), required=required, hint=hint)


def _key(label: str) -> str:
    return re.sub(r"[\W_]+", " ", label).strip().casefold()


_MAX_TEMPLATE_CHARS = 65_536
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
    written = (text[:_MAX_TEMPLATE_CHARS] for text in templates if not _FORM.search(text))
    hints = (field.hint for form in parse_forms(templates) for field in form)
    known = {_line_key(line) for text in (*written, *hints) for line in text.split("\n")}

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
    key = _line_key(line)
    return _HINT.match(line[:400]) is not None or (key.count(" ") >= _MIN_WORDS and key in known)


def _line_key(line: str) -> str:
    return re.sub(r"[\W_]+", " ", line[:1_000]).strip().casefold()
