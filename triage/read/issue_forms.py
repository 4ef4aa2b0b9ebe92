"""Parses the repository's issue templates, and leaves out of an issue what they say.

An issue that somebody sent without filling the template in says nothing.
"""

import re
from collections.abc import Sequence
from typing import Any

import yaml
from pydantic import Field

from triage.domain.findings import Kind, MissingKind
from triage.domain.issue import CodeBlock, IssueSection, ParsedIssue
from triage.domain.value import Value
from triage.read.kind_names import find_labelled_kind, find_named_kind
from triage.safety.clean_text import clean_text

_MAX_CHARS = 65_536
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.S)
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.S)
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
_FORM = re.compile(r"^['\"]?body['\"]?:", re.M)
"""A form, whose lines may be answers to choose from."""
_EMPHASIS = re.compile(r"(?<!\w)([*_]{1,3})(?=\S)([^*_\n]+)(?<=\S)\1(?!\w)")
_LINK = re.compile(r"https?://[^\s<>()\"']+")
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


class IssueForm(Value):
    """An issue form, or a Markdown template."""

    name: str = ""
    labels: list[str] = Field(default_factory=list)
    """What it puts on an issue, its type included."""
    title: str = ""
    """The start of the title that it gives, without the mark at its end."""
    fields: list[FormField] = Field(default_factory=list)

    @property
    def kind(self) -> Kind | None:
        """What its labels or its type say, else its name, else the start of the title."""
        return find_labelled_kind(self.labels) or find_named_kind(self.name) or find_named_kind(self.title)


def classify_field(label: str) -> MissingKind:
    return next((kind for kind, words in _KINDS.items() if words.search(label)), "other")


def parse_forms(texts: Sequence[str]) -> list[IssueForm]:
    """Return every template that has questions. An invalid one is skipped."""
    forms = []
    for text in (clean_text(raw[:_MAX_CHARS]) for raw in texts):
        front = _FRONT_MATTER.match(text)
        about = load_yaml(front[1] if front else text if _FORM.search(text) else "")
        body = about.get("body")
        if front is None and isinstance(body, list):
            fields = [field for item in body[:100] if (field := _parse_field(item)) is not None]
        else:
            shown = _COMMENT.sub("", _FRONT_MATTER.sub("", text))
            labels = dict.fromkeys((match[1] or match[2]).strip(" :*") for match in _HEADING.finditer(shown))
            fields = [FormField(label=label, kind=classify_field(label)) for label in labels if label]
        if fields:
            forms.append(_make_form(about, fields))
    return forms


def _make_form(about: dict[Any, Any], fields: list[FormField]) -> IssueForm:
    """Return the form of a template, whose front matter or YAML is `about`."""
    name, title, labels, issue_type = (about.get(key) for key in ("name", "title", "labels", "type"))
    names = labels.split(",") if isinstance(labels, str) else labels if isinstance(labels, list) else []
    return IssueForm(
        name=name.strip() if isinstance(name, str) else "",
        labels=[one.strip() for one in [*names, issue_type] if isinstance(one, str) and one.strip()],
        title=title.strip().rstrip(" :") if isinstance(title, str) else "",
        fields=fields,
    )


def find_template_comments(texts: Sequence[str]) -> frozenset[str]:
    """Return what the templates say in comments (`<!-- … -->`), without repeated white space."""
    found = (comment for raw in texts for comment in _COMMENT.findall(clean_text(raw[:_MAX_CHARS])))
    return frozenset(" ".join(comment.split()) for comment in found) - {""}


def find_used_forms(forms: Sequence[IssueForm], parsed: ParsedIssue) -> list[IssueForm]:
    """Return the forms that have most of their questions as headings of the issue; several if they fit alike.

    Of those, the ones whose start of the title the issue has.
    """
    headings = {_key(section.heading) for section in parsed.sections}
    hits = [sum(_key(field.label) in headings for field in form.fields) for form in forms]
    enough = (count for form, count in zip(forms, hits, strict=True) if 2 * count >= min(len(form.fields), 4))
    most = max(enough, default=0)
    best = [form for form, count in zip(forms, hits, strict=True) if most and count == most]
    return [form for form in best if form.title and parsed.title.startswith(form.title)] or best


def find_form_kind(forms: Sequence[IssueForm]) -> Kind | None:
    """Return the kind of the forms that fit; None if they disagree."""
    kinds = {form.kind for form in forms}
    return kinds.pop() if len(kinds) == 1 else None


def find_bug_form(forms: Sequence[IssueForm]) -> IssueForm:
    """Return the form for bugs, if there is only one; else an empty one."""
    named = [form for form in forms if form.kind == "bug"]
    return named[0] if len(named) == 1 else IssueForm()


def join_own_headings(sections: Sequence[IssueSection], fields: Sequence[FormField]) -> list[IssueSection]:
    """Return a section a field: what stands below a heading of the reporter's own answers the field above it."""
    labels = {_key(field.label) for field in fields}
    joined: list[IssueSection] = []
    for section in sections:
        if joined and _key(section.heading) not in labels:
            text = f"{joined[-1].text}\n{section.heading}\n{section.text}"
            joined[-1] = joined[-1].model_copy(update={"text": text})
        else:
            joined.append(section)
    return joined


def find_answer(field: FormField, sections: Sequence[IssueSection]) -> str | None:
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
    return "" if _NO_WORDS.match(answer) else answer


def load_yaml(text: str) -> dict[Any, Any]:
    """Return the mapping; empty if it is none, or is no valid YAML."""
    try:
        loaded: Any = yaml.load(text, _LOADER) if _is_plain(text) else None  # noqa: S506 - a safe loader
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError):
        # PyYAML raises the last two for a value that does not fit its tag, such as `!!bool maybe`.
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _is_plain(text: str) -> bool:
    """Return whether the YAML is neither deep nor has aliases, which can make a small text large."""
    depth = 0
    for event in yaml.parse(text, _LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if getattr(event, "anchor", None) or depth > _MAX_DEPTH:  # an alias has one too
            return False
    return True


def _parse_field(item: Any) -> FormField | None:
    """Return the question of an element of a form; None if it asks nothing."""
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
    label = _EMPHASIS.sub(r"\2", " ".join(label.split()))
    return FormField(label=label, kind=classify_field(label), required=required, hint=hint)


def _key(label: str) -> str:
    return re.sub(r"[\W_]+", " ", label).strip().casefold()


_MIN_WORDS, _MIN_CHARS = 2, 4
_HINT = re.compile(
    r"\W*(?:\d{1,2}[.)] )?(?:a clear and concise description\b.*|steps to reproduce the behaviou?r\W*|see error\W*"
    r"|if applicable, add\b.*|add any other context\b.*|paste the (?:activity|output|result|log)\b.*"
    r"|please (?:answer|complete|fill)\b.*|if possible, provide a recipe\b.*|a complete runnable program is good\W*"
    r"|a link on \S{1,60} is best\W*|.{0,100}['\"‘“`]\.{2,4}['\"’”`]\W*"
    r"|(?:please )?(?:describe (?:what|how|the|your)\b|(?:provide|explain|add|include|list|paste|write|steps|minimal)\b"
    r".{0,200}\b(?:here|if (?:possible|applicable|any))\W*$).*"
    r"|[\w /()]{1,60}:?\s{0,4}\[e\.g\.[^\]\n]{0,100}\]\W*)$",
    re.I,
)
"""Of the templates that GitHub offers, and of much copied ones."""
_TO_FILL = re.compile(r":|\||\[\w{2,}")
"""A label, a row of a table, a placeholder such as `[version]`."""
_TITLE = re.compile(r"[\s-]*['\"]?(?:title|name|label)['\"]?:")
_BOX = re.compile(r"^\s*[-*+] \[[ xX]\] ")
"""That somebody has ticked what the form says makes it no word of theirs."""
_VERSION_CALL = re.compile(r"\s*[$>]?\s?[\w./-]{1,40} (?:version|env|info|doctor|--version|-[vV])\s*$")


def leave_out_form(parsed: ParsedIssue, forms: Sequence[str]) -> ParsedIssue:
    """Return the issue without the lines and links of the issue forms, and without the start of a form's title.

    What a form says is in no code for a reason. A title that is nothing else is empty.
    """
    if not forms:
        return parsed
    lines = [line for form in forms for line in form.splitlines()]
    form_lines = {_line_key(part) for line in lines for part in (line, line.partition(":")[2])} | {"no response"}

    def drop_form_lines(text: str) -> str:
        return "\n".join(
            line for line in text.split("\n") if len(_line_key(line)) < _MIN_CHARS or _line_key(line) not in form_lines
        )

    starts = [form.title for form in parse_forms(forms) if re.match(re.escape(form.title) + r"(?!\w)", parsed.title)]
    title = parsed.title.removeprefix(max(starts, key=len, default="")).lstrip(" :-")
    links = _list_own_links(parsed, forms)
    changed = {
        "title": title,
        "body": drop_form_lines(parsed.body),
        "prose": drop_form_lines(parsed.prose),
        "links": links,
    }
    return parsed.model_copy(update=changed)


def _list_own_links(parsed: ParsedIssue, forms: Sequence[str]) -> list[str]:
    written = {link for form in forms for link in _LINK.findall(form)}
    return [link for link in parsed.links if link not in written and not link.startswith("mailto:")]


def drop_template_text(parsed: ParsedIssue, templates: Sequence[str]) -> ParsedIssue:
    """Return the issue without lines and links of the repository's templates, hints, and code that only asks a version.

    A title that is a form's title or name, or the label of a field, is empty.
    """
    forms = parse_forms(templates)
    written = (text[:_MAX_CHARS] for text in templates if not _FORM.search(text))
    hints = (field.hint for form in forms for field in form.fields)
    known = {_line_key(line) for text in (*written, *hints) for line in text.split("\n")}
    lines = (line for text in templates for line in text[:_MAX_CHARS].split("\n"))
    titles = {_line_key(line[match.end() :]) for line in lines if (match := _TITLE.match(line))} - {""}

    def drop_hints(text: str) -> str:
        return "\n".join(line for line in text.split("\n") if line.startswith("#") or not _is_hint(line, known))

    def is_answered(block: CodeBlock) -> bool:
        lines = [line for line in block.text.split("\n") if line.strip()]
        return not all(_VERSION_CALL.match(line) or _is_hint(line, known) for line in lines)

    return parsed.model_copy(
        update={
            "title": "" if _line_key(parsed.title) in titles else parsed.title,
            "prose": drop_hints(parsed.prose),
            "sections": [one.model_copy(update={"text": drop_hints(one.text)}) for one in parsed.sections],
            "code": [block for block in parsed.code if is_answered(block)],
            "links": _list_own_links(parsed, templates),
        }
    )


def _is_hint(line: str, known: set[str]) -> bool:
    key = _line_key(line)
    # A shorter one may be an answer to choose.
    is_to_fill = key.count(" ") >= _MIN_WORDS or _TO_FILL.search(line[:400]) is not None
    return _HINT.match(line[:400]) is not None or (is_to_fill and key in known)


def _line_key(line: str) -> str:
    # A page shows of a link's target only the host.
    shown = re.sub(r"\]\((?:\w+://([^/()\s]*))?[^()\s]*\)", r" \1 ", _BOX.sub("", line[:1_000]))
    return re.sub(r"[\W_]+", " ", shown).strip().casefold()
