"""The kind that the reporter chose: in a form's field, by the form itself, or in front of the title."""

import re
from typing import Literal

from triage.domain.issue import ParsedIssue

LearnedKind = Literal["bug", "feature_request", "question"]

_MAX_CHARS = 3_000
"""Templates ask for the kind in their first lines."""
_WORDS: dict[LearnedKind, re.Pattern[str]] = {
    "bug": re.compile(r"\b(?:bugs?|defect|regression|crash)\b", re.I),
    "feature_request": re.compile(r"\bfeatures?\b|enhanc|proposal|\brfc\b|\bidea\b|suggest|improve|wish", re.I),
    "question": re.compile(r"question|\bsupport\b|\bhelp\b|how to|discussion|usage", re.I),
}
_FIELD = (
    r"(?:(?:issue|report|ticket|bug)[ -]?(?:type|kind|category)|type|kind|category|"
    r"(?:type|kind) of (?:issue|report|ticket|request)|i'm submitting an?[ .…]{0,5})"
)
_ANSWER = r"(?:[ \t#*_?]{0,10}:[ \t*_]{0,6}\n?\n?|[ \t#*_?]{0,10}\n[ \t]{0,8}\n?)[ \t]{0,8}([^\n]{1,60})$"
"""After a colon, or on one of the next two lines."""
_HEADING = re.compile(rf"^[ \t>]{{0,8}}#{{1,6}}[ \t]{{0,4}}{_FIELD}{_ANSWER}", re.I | re.M)
_LINE = re.compile(rf"^[ \t>*_-]{{0,8}}{_FIELD}{_ANSWER}", re.I | re.M)
_EITHER = re.compile(
    r"(?:request|suggest) an? \W{0,3}feature\W{0,3} or report an? \W{0,3}bug\W{0,8}([^\n*]{1,60})", re.I
)
_PREFIX = re.compile(r"^\s*(?:\[([^\]]{2,40})\]|([A-Za-z][\w /-]{1,28}?)\s?:)")
_FEATURE_FORM = re.compile(
    r"solution you'd like|feature (?:request|description)|related to a problem|alternatives (?:you've )?considered",
    re.I,
)
_SUPPORT = re.compile(r"\bsupport\b|\bhelp\b|install|build", re.I)


def find_declared_kind(parsed: ParsedIssue) -> LearnedKind | None:
    """The kind that the reporter chose; None without a choice, or when the choice says little.

    Reporters choose “feature request” and “question” when they mean it. “Bug” counts as a form's field and as a prefix
    of the title. Elsewhere people choose it for whatever does not work for them: of 81 questions and bugs in two
    projects whose template starts with a line `Type: Bug` or with the question for it, 20 were bugs.
    """
    text = parsed.prose[:_MAX_CHARS]
    if match := _HEADING.search(text):
        return _name_kind(match[1])
    for pattern in (_LINE, _EITHER):
        if (match := pattern.search(text)) and (kind := _name_kind(match[1])):
            return None if kind == "bug" else kind
    prefix = _PREFIX.match(parsed.title)
    if prefix and (kind := _name_kind(prefix[1] or prefix[2])):
        return kind
    answered = (section.heading for section in parsed.sections if section.text.strip())
    return "feature_request" if any(map(_FEATURE_FORM.search, answered)) else None


def declares_support(parsed: ParsedIssue) -> bool:
    """Whether a form's field says that the reporter wants help."""
    match = _HEADING.search(parsed.prose[:_MAX_CHARS])
    return match is not None and _SUPPORT.search(match[1]) is not None


def _name_kind(choice: str) -> LearnedKind | None:
    kinds = [kind for kind, words in _WORDS.items() if words.search(choice)]
    return kinds[0] if len(kinds) == 1 else None
