"""Recognizes the names that projects give to kinds of issues: labels, issue types, forms, prefixes of titles."""

import re
from collections.abc import Sequence

from triage.domain.findings import Kind

_KIND_WORDS: dict[Kind, str] = {
    "bug": r"bugs?|defects?|regressions?|crash(?:es)?",
    "feature_request": r"features?|enhanc\w+|improvements?|proposals?|rfcs?|wish(?:es|list)?|ideas?|suggestions?",
    "question": r"questions?",
    "documentation": r"docs?|documentation|docstrings?",
    "ci": r"ci|ci[ /-]?cd|continuous integration|flaky(?: tests?)?",
}
"""In the order in which the labels of one issue count."""
LABEL_WORDS: dict[str, tuple[str, ...]] = {
    "bug": ("bug", "defect"),
    "feature_request": ("enhancement", "feature"),
    "question": ("question", "support"),
    "not_actionable": ("invalid",),
    "regression": ("regression",),
    "security": ("security",),
    "crash": ("crash",),
    "documentation": ("documentation", "docs", "doc"),
    "ci": ("ci", "ci/cd"),
    "missing": ("needs-info", "needs info", "more-info", "needs-reproduction"),
}
"""Names of the labels and issue types that fit a kind or a sign, the usual one first."""
_WHOLE_NAMES: dict[str, Kind] = dict.fromkeys(("support", "help", "usage", "discussion", "how to"), "question")
"""Inside of other names these words mean something else: `support for arm`, `help wanted`."""
_INSIDE = {kind: re.compile(rf"\b(?:{words})\b") for kind, words in _KIND_WORDS.items()}
_OTHERWISE = re.compile(r"\b(?:not|no|non|needs?|wanted|invalid|duplicate|tracker|bounty)\b")
_DECORATION = re.compile(r"(?<!\S):[\w+-]{1,40}:(?!\S)|[^\w\s/:.&-]|\ufe0f")
"""Emoji, also by their names on GitHub, and brackets."""
_BEFORE = re.compile(r"^(?:[\W\d_]+|(?:[a-z]|type|kind|category|issue)[\s_-]+(?=\w))+")
_AFTER = re.compile(r"(?:[\s_-]+(?:reports?|requests?|issues?|v?\d+(?:\.\w+)*))+$|[\W_]+$")


def strip_label(name: str) -> str:
    """Return the words that `C-bug`, `bug V2`, `T: bug`, `🐛 bug`, `bug :bug:`, `kind/bug` and `Bug Report` share."""
    plain = " ".join(_DECORATION.sub(" ", name.casefold()).split())
    last = re.split(r"[/:]", plain.strip(" /:"))[-1]
    return _AFTER.sub("", _BEFORE.sub("", last)) or last


def find_named_kind(name: str) -> Kind | None:
    """Return the kind that a name means; None if it means none, or two of them."""
    plain = _DECORATION.sub(" ", name.casefold()).replace("_", " ")
    if _OTHERWISE.search(plain):
        return None
    core = strip_label(name)
    if core in _WHOLE_NAMES:
        return _WHOLE_NAMES[core]
    kinds = [kind for kind, pattern in _INSIDE.items() if pattern.search(plain)]
    if len(kinds) == 2 and "bug" in kinds and kinds[1] in ("documentation", "ci"):
        return kinds[1]  # an error in the documentation
    return kinds[0] if len(kinds) == 1 else None


def find_labelled_kind(labels: Sequence[str]) -> Kind | None:
    """Return the kind that the labels, or an issue type among them, name; a bug before the others."""
    found = {find_named_kind(label) for label in labels}
    return next((kind for kind in _KIND_WORDS if kind in found), None)


def choose_label(words: Sequence[str], labels: Sequence[str]) -> str | None:
    """Return the label that means one of the words, the plainest one first; None without any."""
    by_word: dict[str, str] = {}
    for label in sorted(labels, key=len):
        by_word.setdefault(strip_label(label), label)
    return next((by_word[word] for word in words if word in by_word), None)
