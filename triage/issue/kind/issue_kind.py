"""Classifies an issue. In doubt it is a bug: a bug that is called a question is lost."""

import re
from collections.abc import Mapping, Sequence

from triage.domain.findings import Kind
from triage.domain.issue import ParsedIssue
from triage.domain.value import Value
from triage.issue.kind.declared_kind import LearnedKind, declares_support, find_declared_kind
from triage.issue.kind.kind_cues import PHRASES
from triage.issue.kind.kind_model import estimate_kind
from triage.issue.kind.security_signs import reports_vulnerability
from triage.issue.text_signs import has_error, searchable_text

_CERTAIN_FROM: dict[LearnedKind, float] = {"bug": 0.8, "feature_request": 0.6, "question": 0.7}
"""Least probability to claim the kind. In repositories that the weights were not learned from, 87 of 100 claims are
right, where each kind is equally frequent (`python -m bench.train_kinds`)."""
_LABELS: dict[LearnedKind, re.Pattern[str]] = {
    "bug": re.compile(r"\b(?:bug|defect|regression|crash|type[-:/ ]*bug|kind/bug)\b", re.I),
    "feature_request": re.compile(
        r"\b(?:enhancement|feature|feature[- ]request|improvement|proposal|rfc|wish(?:list)?)\b", re.I
    ),
    "question": re.compile(r"^(?:type[:/ -]*)?(?:question|support|help|usage|discussion)$", re.I),
}
_SUPPORT_LABEL = re.compile(r"^(?:type[:/ -]*)?(?:support|help|usage|installation|install)$", re.I)
_SUPPORT_PHRASES = ("installation", "my own", "I tried", "does not work", "error", "help")
_ACTUAL_RESULT = re.compile(r"actual (?:outcome|behaviou?r|results?)", re.I)
_EMPTY_TITLE = re.compile(
    r"(?i)^\W*(?:test(?:ing)?|hi|hello|hey|asdf\w*|qwerty?|foo|bar|issue|bug|help|none|title|a+|x+|\d*)[\W\d]*$"
)
_SPAM = re.compile(
    r"(?i)\b(?:buy now|casino|viagra|crypto (?:airdrop|giveaway)|whatsapp (?:me|number|group)|telegram (?:group|"
    r"channel)|seo services?|earn money|"
    r"loan offer|customer (?:care|support) (?:phone )?number|click here to (?:claim|win)|free followers|betting site)\b"
)


class KindReading(Value):
    kind: LearnedKind
    """The likeliest. Support is a question."""
    probability: float
    certain: bool
    """Whether the kind may be claimed. Otherwise it is too uncertain to tell anybody."""
    support: bool = False
    """The reporter wants help with an installation or with own code."""
    security: bool = False
    """It may report a vulnerability of this project, which does not belong in public."""


def read_kind(
    parsed: ParsedIssue, labels: Sequence[str] = (), learned: Mapping[LearnedKind, float] | None = None
) -> KindReading:
    """What the text and the labels say. `learned` has the probabilities by the repository's own issues, if any."""
    labelled = find_labelled_kind(labels)
    chances = learned or estimate_kind(parsed)
    likeliest = max(chances, key=lambda candidate: chances[candidate])
    kind = labelled or likeliest
    is_certain = labelled is not None or chances[kind] >= _CERTAIN_FROM[kind]
    return KindReading(
        kind=kind,
        probability=1.0 if labelled else chances[kind],
        certain=is_certain,
        support=_wants_support(parsed, kind, labels),
        security=reports_vulnerability(parsed, labels, is_request=kind == "feature_request" and is_certain),
    )


def classify_issue(
    parsed: ParsedIssue, labels: Sequence[str], learned: Mapping[LearnedKind, float] | None = None
) -> Kind:
    """What the issue is handled as; `learned` as in `read_kind`.

    An uncertain one is a bug, and so is one that shows an error, unless a label or the reporter says otherwise.
    """
    if _is_not_actionable(parsed):
        return "not_actionable"
    if labelled := find_labelled_kind(labels):
        return labelled
    found = read_kind(parsed, learned=learned)
    if _shows_failure(parsed) and find_declared_kind(parsed) != found.kind:
        return "bug"
    return found.kind if found.certain else "bug"


def _shows_failure(parsed: ParsedIssue) -> bool:
    results = (section for section in parsed.sections if _ACTUAL_RESULT.search(section.heading))
    return bool(parsed.traces) or has_error(parsed) or any(section.text.strip() for section in results)


def find_labelled_kind(labels: Sequence[str]) -> LearnedKind | None:
    """The kind that the labels, or an issue type among them, name; a bug before the others."""
    return next((kind for kind, words in _LABELS.items() if any(map(words.search, labels))), None)


def _wants_support(parsed: ParsedIssue, kind: LearnedKind, labels: Sequence[str]) -> bool:
    if declares_support(parsed) or any(map(_SUPPORT_LABEL.search, labels)):
        return True
    text = searchable_text(parsed)
    return kind == "question" and (
        has_error(parsed) or sum(bool(PHRASES[p].search(text)) for p in _SUPPORT_PHRASES) > 1
    )


def is_spam(parsed: ParsedIssue) -> bool:
    """Whether it advertises something. Who shows code or an error does not."""
    shows_something = parsed.code or parsed.traces or parsed.error_messages
    return not shows_something and _SPAM.search(f"{parsed.title} {parsed.prose}"[:5_000]) is not None


def _is_not_actionable(parsed: ParsedIssue) -> bool:
    if is_spam(parsed):
        return True
    has_answers = any(section.text.strip() for section in parsed.sections)
    body_words = [] if parsed.sections and not has_answers else re.findall(r"\w{2,}", parsed.prose)
    if parsed.code or parsed.links or len(body_words) > 3:
        return False
    return _EMPTY_TITLE.match(parsed.title) is not None or not re.search(r"\w{2}", parsed.title)
