"""Plans what is suggested in GitHub's own panel: labels, the issue type and an assignee, each with a reason."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from triage.comment import wording
from triage.comment.hidden_state import CommentState, hash_suggestion
from triage.domain.effect import (
    MAX_RATIONALE_CHARS,
    Confidence,
    LabelsMode,
    Suggestion,
    SuggestionKind,
    SuggestionOptions,
)
from triage.domain.findings import Kind, MissingKind
from triage.domain.proposal import SuggestionProposal
from triage.domain.report import RunReport
from triage.safety.active_content import format_plain_line

_KIND_WORDS: dict[Kind, tuple[str, ...]] = {
    "bug": ("bug", "defect"),
    "feature_request": ("feature", "feature request", "enhancement"),
    "question": ("question", "support"),
}
"""Names of labels and issue types, the usual one first."""
_KIND_REASONS: dict[Kind, str] = {
    "bug": "It reads as a bug report",
    "feature_request": "It asks for something new",
    "question": "It asks a question",
    "not_actionable": "It says too little to act on",
}
_WAITING_WORDS = ("info", "reproduction", "feedback")
_MISSING_WORDS: dict[MissingKind, str] = {
    "reproduction": "a way to reproduce it",
    "error_output": "the text of the error",
    "version": "the version",
    "environment": "the platform",
    "actual": "what happens exactly",
    "expected": "what was expected",
    "configuration": "the configuration",
    "other": "more information",
}
"""The question itself is in the reporter's language; the reason is for maintainers."""
_REASON_CHARS = 200
_SURE_KIND = 0.9
"""Least probability of a kind for high confidence."""


class Asked(NamedTuple):
    """What GitHub has to be asked about before anything is suggested."""

    labels: list[str]
    logins: list[str]


def list_candidates(report: RunReport, mode: LabelsMode) -> Asked:
    """Returns the labels and logins of a report that may be suggested. No teams: GitHub assigns people."""
    login = report.ticket.assignee.lstrip("@")
    may_assign = login and "/" not in login and _rate(report) != "LOW"
    return Asked(report.ticket.labels if mode == "suggest" else [], [login] if may_assign else [])


def plan_suggestions(
    report: RunReport, mode: LabelsMode, options: SuggestionOptions | None, previous: CommentState | None = None
) -> list[Suggestion]:
    """Returns what is suggested on the issue. Nothing without `options`: then GitHub takes no suggestions.

    What our comment remembers is not suggested again: a person has decided about it.
    """
    if options is None or mode == "off":
        return []
    decided = previous.suggested if previous else []
    return [wanted for wanted in _list_wanted(report, mode, options) if hash_suggestion(wanted) not in decided]


def _list_wanted(report: RunReport, mode: LabelsMode, options: SuggestionOptions) -> Iterator[Suggestion]:
    asked = list_candidates(report, mode)
    of_kind = _rate_kind(report)
    learned = {label.name.casefold(): label.probability for label in report.learned_labels}
    for name in asked.labels:
        is_kind = _names_kind(name, report.kind)
        if name not in options.labels or (is_kind and not of_kind):
            continue
        if name.casefold() in learned and not is_kind and not report.security:
            rate: Confidence = "HIGH" if learned[name.casefold()] >= _SURE_KIND else "MEDIUM"
            yield _suggest("label", name, "Similar issues of this repository carry it.", rate)
        else:
            yield _suggest("label", name, _explain_label(report, name), of_kind or "LOW")
    by_word = {name.casefold(): name for name in options.types}
    types = [] if report.security else [by_word[word] for word in _KIND_WORDS.get(report.kind, ()) if word in by_word]
    if types and of_kind:
        yield _suggest("type", types[0], _explain_kind(report), of_kind)
    for login in asked.logins:
        if login in options.assignees and report.suspects:
            path = format_plain_line(report.suspects[0].path)
            where = path if len(path) <= _REASON_CHARS else ""
            yield _suggest("assignee", login, f"Owns {where or 'the file'}, the first place to look at.", _rate(report))


def _suggest(kind: SuggestionKind, name: str, rationale: str, confidence: Confidence) -> Suggestion:
    text = wording.truncate(rationale, MAX_RATIONALE_CHARS)
    return Suggestion(kind=kind, name=name, rationale=text, confidence=confidence)


def _rate(report: RunReport) -> Confidence:
    if report.confidence < wording.LOW_CONFIDENCE:
        return "LOW"
    return "MEDIUM" if report.confidence < wording.HIGH_CONFIDENCE else "HIGH"


def _rate_kind(report: RunReport) -> Confidence | None:
    """None for a kind that nobody claims: without a clear sign, an issue is handled as a bug."""
    if report.kind_probability is None:
        return "MEDIUM" if wording.has_model_answer(report) else None
    return "HIGH" if report.kind_probability >= _SURE_KIND else "MEDIUM"


def _names_kind(label: str, kind: Kind) -> bool:
    return _last_word(label) in _KIND_WORDS.get(kind, ())


def _last_word(label: str) -> str:
    """Returns what `type: bug` and `kind/bug` have in common."""
    return label.casefold().replace("/", ":").rpartition(":")[2].strip()


def _explain_label(report: RunReport, name: str) -> str:
    if report.security:
        return "It may be a security report."
    if _names_kind(name, report.kind):
        return _explain_kind(report)
    if report.missing_information and any(word in _last_word(name) for word in _WAITING_WORDS):
        return f"The reporter is asked for {_MISSING_WORDS[report.missing_information[0].kind]}."
    return format_plain_line(wording.truncate(report.severity_reason, _REASON_CHARS)) or _explain_kind(report)


def _explain_kind(report: RunReport) -> str:
    return _join(_KIND_REASONS[report.kind], report.summary)


def _join(reason: str, detail: str) -> str:
    words = format_plain_line(wording.truncate(detail, _REASON_CHARS))
    return f"{reason}: {words}" if words else f"{reason}."


def to_suggestions(proposal: SuggestionProposal) -> list[Suggestion]:
    """Returns what a proposal in our comment suggests, as our comment remembers it."""
    wanted: list[tuple[SuggestionKind, str]] = [("label", name) for name in proposal.labels]
    wanted += [("type", proposal.issue_type)] if proposal.issue_type else []
    wanted += [("assignee", proposal.assignee)] if proposal.assignee else []
    return [Suggestion(kind=kind, name=name, rationale="", confidence="MEDIUM") for kind, name in wanted]


def describe_suggestions(suggestions: Sequence[Suggestion]) -> str:
    """Returns what is suggested in words, such as "label bug, type Bug"."""
    return ", ".join(f"{wanted.kind} {wanted.name}" for wanted in suggestions)
