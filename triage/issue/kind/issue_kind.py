"""Classifies an issue. In doubt it is a bug: a bug that is called a question is lost.

Labels count first, then what the reporter chose, then a learned model: multinomial logistic regression, whose weights
come from `bench/train_kinds.py`.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from triage.domain.findings import Kind
from triage.domain.issue import ParsedIssue
from triage.domain.value import Value
from triage.issue.kind.kind_features import PHRASES, describe_title, extract_kind_features
from triage.issue.kind.severity_signs import reports_vulnerability
from triage.issue.text_signs import FAILURE, has_error, searchable_text

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
_ASKS_HOW = re.compile(
    r"^\W*(?:\[[^\]]{1,40}\]\W*|question\W+)?how (?:do|does|can|could|to|should|would)\b(?! (?:not|n['’]t)\b)", re.I
)
_ENDS_AS_QUESTION = re.compile(r"\w\W{0,3}[?？]\W*$")


def find_declared_kind(parsed: ParsedIssue) -> LearnedKind | None:
    """Return the kind that the reporter chose; None without a choice, or when the choice says little.

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
    """Return whether a form's field says that the reporter wants help."""
    match = _HEADING.search(parsed.prose[:_MAX_CHARS])
    return match is not None and _SUPPORT.search(match[1]) is not None


def _name_kind(choice: str) -> LearnedKind | None:
    kinds = [kind for kind, words in _WORDS.items() if words.search(choice)]
    return kinds[0] if len(kinds) == 1 else None


WEIGHTS_FILE = Path(__file__).with_name("kind_weights.json")
KINDS: tuple[LearnedKind, ...] = get_args(LearnedKind)
DECLARED_LOGIT = 2.0
"""Added for the kind that the reporter chose: it becomes about seven times as likely."""


@dataclass(frozen=True)
class Weights:
    scale: float
    """Of the whole numbers in `features`, which the file has to be small."""
    bias: list[float]
    features: Mapping[str, list[int]]
    """For each feature one weight per kind, in the order of `KINDS`."""


def _load_weights() -> Weights:
    stored = json.loads(WEIGHTS_FILE.read_text("utf-8"))
    return Weights(scale=stored["scale"], bias=stored["bias"], features=stored["features"])


_WEIGHTS = _load_weights()
# When the module is imported, because agents run on an event loop, which no file may block.


def estimate_kind(parsed: ParsedIssue) -> dict[LearnedKind, float]:
    """The probability of each kind. Bugs count as more frequent than other kinds, as they are in most projects."""
    logits = list(_WEIGHTS.bias)
    for name, value in extract_kind_features(parsed).items():
        for position, weight in enumerate(_WEIGHTS.features.get(name, ())):
            logits[position] += value * weight * _WEIGHTS.scale
    if declared := find_declared_kind(parsed):
        logits[KINDS.index(declared)] += DECLARED_LOGIT
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    return {kind: power / sum(powers) for kind, power in zip(KINDS, powers, strict=True)}


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
    parsed: ParsedIssue,
    labels: Sequence[str],
    learned: Mapping[LearnedKind, float] | None = None,
    form_name: str = "",
) -> Kind:
    """Return what the issue is handled as; `learned` as in `read_kind`, `form_name` of the form that was filled in.

    An uncertain one is a bug. A question that shows an error is one too, unless a label, a form, a prefix or a title
    such as `How do I …` says otherwise. Who asks for something new may quote an error, but no trace.
    """
    if _is_not_actionable(parsed):
        return "not_actionable"
    if labelled := find_labelled_kind(labels):
        return labelled
    declared = find_declared_kind(parsed)
    of_form = _name_kind(form_name)
    if of_form in ("feature_request", "question") and declared in (None, of_form):
        return of_form
    found = read_kind(parsed, learned=learned)
    if declared is None and _is_question_title(parsed, learned or estimate_kind(parsed)):
        return "question"
    shows_bug = bool(parsed.traces) or _tells_result(parsed) or (found.kind == "question" and has_error(parsed))
    return "bug" if not found.certain or (shows_bug and declared != found.kind) else found.kind


def _is_question_title(parsed: ParsedIssue, chances: Mapping[LearnedKind, float]) -> bool:
    """Return whether the title asks, and not for something new: of 63 such issues on five trackers, two were bugs."""
    asks = _ENDS_AS_QUESTION.search(parsed.title) and "observes" not in describe_title(parsed.title)
    fails = _shows_failure(parsed) or FAILURE.search(parsed.prose[:_MAX_CHARS])
    is_question = _ASKS_HOW.match(parsed.title) or (asks and not fails)
    return bool(is_question) and chances["question"] > chances["feature_request"]


def _shows_failure(parsed: ParsedIssue) -> bool:
    return bool(parsed.traces) or has_error(parsed) or _tells_result(parsed)


def _tells_result(parsed: ParsedIssue) -> bool:
    return any(_ACTUAL_RESULT.search(section.heading) and section.text.strip() for section in parsed.sections)


def find_labelled_kind(labels: Sequence[str]) -> LearnedKind | None:
    """Return the kind that the labels, or an issue type among them, name; a bug before the others."""
    return next((kind for kind, words in _LABELS.items() if any(map(words.search, labels))), None)


def _wants_support(parsed: ParsedIssue, kind: LearnedKind, labels: Sequence[str]) -> bool:
    if declares_support(parsed) or any(map(_SUPPORT_LABEL.search, labels)):
        return True
    text = searchable_text(parsed)
    return kind == "question" and (
        has_error(parsed) or sum(bool(PHRASES[p].search(text)) for p in _SUPPORT_PHRASES) > 1
    )


def is_spam(parsed: ParsedIssue) -> bool:
    """Return whether it advertises something. Who shows code or an error does not."""
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
