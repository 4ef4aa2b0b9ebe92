"""Tells what kind of issue it is, or that this is uncertain.

In this order: a label that a person set; a stack trace that ends in the repository; the project's own form; a title
that says it; the project's labelled past, else a learned model: multinomial logistic regression, with the weights of
`bench/train_kinds.py`.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from triage.domain.findings import Kind
from triage.domain.issue import KindReading, LearnedKind, ParsedIssue
from triage.read.issue_forms import drop_template_text, find_form_kind, find_used_forms, parse_forms
from triage.read.kind.kind_features import describe_title, extract_kind_features
from triage.read.kind.severity_signs import reports_vulnerability
from triage.read.kind_names import find_labelled_kind, find_named_kind
from triage.read.text_signs import FAILURE, count_words, find_crash_words, has_error

_MAX_CHARS = 3_000
"""Templates ask for the kind in their first lines."""
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
_ASKS_HOW = re.compile(
    r"^\W*(?:\[[^\]]{1,40}\]\W*|question\W+)?how (?:do|does|can|could|to|should|would)\b(?! (?:not|n['’]t)\b)", re.I
)
_TITLE_WORDS = 6
"""A longer title says by itself what it is about."""
_ENDS_AS_QUESTION = re.compile(r"\w\W{0,3}[?？]\W*$")


def find_declared_kind(parsed: ParsedIssue) -> Kind | None:
    """Return the kind that the reporter chose; None without a choice, or when the choice says little.

    Reporters choose “feature request” and “question” when they mean it. “Bug” counts as a form's field and as a prefix
    of the title. Elsewhere people choose it for whatever does not work for them: of 81 questions and bugs in two
    projects whose template starts with a line `Type: Bug` or with the question for it, 20 were bugs.
    """
    text = parsed.prose[:_MAX_CHARS]
    if match := _HEADING.search(text):
        return find_named_kind(match[1])
    for pattern in (_LINE, _EITHER):
        if (match := pattern.search(text)) and (kind := find_named_kind(match[1])):
            return None if kind == "bug" else kind
    prefix = _PREFIX.match(parsed.title)
    if prefix and (kind := find_named_kind(prefix[1] or prefix[2])):
        return kind
    answered = (section.heading for section in parsed.sections if section.text.strip())
    return "feature_request" if any(map(_FEATURE_FORM.search, answered)) else None


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


_STORED = json.loads(WEIGHTS_FILE.read_text("utf-8"))
_WEIGHTS = Weights(scale=_STORED["scale"], bias=_STORED["bias"], features=_STORED["features"])
# When the module is imported, because agents run on an event loop, which no file may block.


def estimate_kind(parsed: ParsedIssue) -> dict[LearnedKind, float]:
    """The probability of each kind. Bugs count as more frequent than other kinds, as they are in most projects."""
    logits = list(_WEIGHTS.bias)
    for name, value in extract_kind_features(parsed).items():
        for position, weight in enumerate(_WEIGHTS.features.get(name, ())):
            logits[position] += value * weight * _WEIGHTS.scale
    if (declared := find_declared_kind(parsed)) in KINDS:
        logits[KINDS.index(declared)] += DECLARED_LOGIT
    highest = max(logits)
    powers = [math.exp(logit - highest) for logit in logits]
    return {kind: power / sum(powers) for kind, power in zip(KINDS, powers, strict=True)}


_CERTAIN_FROM: dict[LearnedKind, float] = {"bug": 0.8, "feature_request": 0.6, "question": 0.7}
"""Least probability to claim the kind. Of 1,500 issues of five projects, with weights learned from the other four
(`bench/train_kinds.py`), 83 of 100 claimed bugs, 87 feature requests and 93 questions are right."""
_ABOUT_DOCUMENTATION = re.compile(
    r"(?i)\b(?:typos?|misspell\w*|(?:broken|dead) links?|mistakes?|errors?) (?:\w+ ){0,3}?(?:in|on) (?:\S+ ){0,4}?"
    r"(?:docs?|documentation|readme|docstrings?|tutorials?|man ?pages?|website|changelog|guides?)\b"
    r"|\b(?:docs|documentation|readme|docstring|tutorial|man ?page|changelog|contributing guide)(?:\.\w+)?"
    r"(?:(?: (?:page|example|of|for|on|in) ?\S*){0,2} (?:\w+ )?(?:is|are|has|lacks?|does|do|says?|should|needs?|"
    r"links?|mentions?|contains?|refers?|misses)"
    r"|(?: (?:page|file|example)s?)? (?:(?:still )?(?:uses?|references)|still reference))\b"
    r"|\bdoc comments? (?:\w+ly )?(?:says?|states?|claims?|mentions?|suggests?)\b"
    r"|\b(?:un|not |mis)documented\b|^\W*(?:document|clarify|docs?\W{1,2})\b"
    r"|^\W*(?:fix|improve|update|correct|expand|missing|outdated|wrong|incorrect|better|more)\b.*"
    r"\b(?:docs|documentation|readme|docstrings?|tutorials?|man ?pages?)\b"
)
_ABOUT_CI = re.compile(
    r"(?i)\bflak[ey]\w* (?:\w+ ){0,2}tests?\b|\btests?\b.{0,60}\b(?:is|are) flak[ey]|^\W*CI\b"
    r"|\bCI (?:is|job|build|fail\w*|broken|red|workflow|pipeline)\b|\btest\w* .{0,40}\b(?:in|on) CI\b"
    r"|\b(?:nightly|scheduled|release) (?:build|job|workflow)s? (?:fail|is|are|broke)\w*"
)


def read_kind(
    parsed: ParsedIssue,
    labels: Sequence[str] = (),
    templates: Sequence[str] = (),
    *,
    fails_in_repository: bool = False,
    learned: Mapping[LearnedKind, float] | None = None,
) -> KindReading:
    """Return the kind that the issue is handled as, or none.

    Args:
        parsed: The issue.
        labels: Of the issue, its type among them.
        templates: Texts of the repository's issue templates.
        fails_in_repository: Whether a stack trace of the report ends in a file of the repository.
        learned: Probabilities by the repository's own issues, if there are enough.
    """
    own = drop_template_text(parsed, templates)
    chances = learned or estimate_kind(parsed)
    likeliest = max(chances, key=lambda candidate: chances[candidate])
    said = _find_said_kind(own, labels, templates, chances, fails_in_repository=fails_in_repository)
    # A report that shows an error and asks does not say whose fault it is.
    is_contradicted = has_error(own) if likeliest == "question" else likeliest != "bug" and bool(own.traces)
    is_certain = chances[likeliest] >= _CERTAIN_FROM[likeliest] and not is_contradicted
    kind = said or (likeliest if is_certain else None)
    return KindReading(
        kind=kind,
        likeliest=said if said in KINDS else likeliest,
        probability=1.0 if said else chances[likeliest],
        security=reports_vulnerability(own, labels, asks_for_feature=kind == "feature_request"),
    )


def _find_said_kind(
    parsed: ParsedIssue,
    labels: Sequence[str],
    templates: Sequence[str],
    chances: Mapping[LearnedKind, float],
    *,
    fails_in_repository: bool,
) -> Kind | None:
    """Return the kind that something says outright; None if only the words are left."""
    forms = find_used_forms(parse_forms(templates), parsed)
    if _is_not_actionable(parsed, is_form=bool(forms)):
        return "not_actionable"
    of_forms = {label for form in forms for label in form.labels}
    if kind := find_labelled_kind([label for label in labels if label not in of_forms]):
        return kind
    if fails_in_repository:
        return "bug"
    declared = find_declared_kind(parsed)
    if kind := find_form_kind(forms) or find_labelled_kind(labels):
        return kind if declared in (None, kind) or kind == "bug" else declared
    if declared in ("documentation", "ci"):
        return declared
    if kind := _find_title_kind(parsed):
        return kind
    return "question" if _is_question_title(parsed, chances) else None


def _find_title_kind(parsed: ParsedIssue) -> Kind | None:
    if find_crash_words(parsed.title):
        return None
    if _ABOUT_DOCUMENTATION.search(parsed.title) and not parsed.traces:
        return "documentation"
    return "ci" if _ABOUT_CI.search(parsed.title) else None


def _is_question_title(parsed: ParsedIssue, chances: Mapping[LearnedKind, float]) -> bool:
    """Return whether the title asks, and not for something new: of 63 such issues on five trackers, two were bugs."""
    asks = _ENDS_AS_QUESTION.search(parsed.title) and "observes" not in describe_title(parsed.title)
    fails = has_error(parsed) or FAILURE.search(parsed.prose[:_MAX_CHARS])
    is_question = _ASKS_HOW.match(parsed.title) or (asks and not fails)
    return bool(is_question) and chances["question"] > chances["feature_request"]


def _is_not_actionable(parsed: ParsedIssue, *, is_form: bool) -> bool:
    """Return whether it says nothing: no word of its own below a title that is no sentence, or above a form as it was.

    A long title says something by itself.
    """
    own_words = "\n".join(line for line in parsed.prose.split("\n") if not line.startswith(("#", ">")))
    words = len(re.findall(r"\w{2,}", own_words))
    if parsed.code or parsed.traces or parsed.links or words > 3:
        return False
    title = _PREFIX.sub("", parsed.title)
    is_untouched_form = is_form and not words and count_words(title) < _TITLE_WORDS
    return not title.strip() or count_words(parsed.title) < 2 or is_untouched_form
