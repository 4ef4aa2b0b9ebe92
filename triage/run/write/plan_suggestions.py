"""Plans what is suggested in GitHub's own panel, each with a reason: labels that may be, the type, closing."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from triage.base.text import truncate
from triage.domain.effect import (
    MAX_RATIONALE_CHARS,
    LabelsMode,
    Suggestion,
    SuggestionConfidence,
    SuggestionKind,
    SuggestionOptions,
)
from triage.domain.findings import Kind
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.read.kind_names import LABEL_WORDS, strip_label
from triage.safety.active_content import format_plain_line
from triage.say import wording
from triage.say.decide import list_asked
from triage.say.hidden_state import CommentState, hash_suggestion

TRIGGER_WORDS = re.compile(
    r"(?:accept|approv|auto-?(?:fix|merg|deploy|land)|backport|codegen|de-?ploy|gitauto|implement|merg[ei]|openhands"
    r"|publish|rebas|releas|revert|roll-?back|trigger|trusted|verif"
    r"|(?:agent|aider|allow(?:ed)?|bounty|cherry|claude|close[ds]?|codex|copilot|cursor|devin|exec(?:ute)?|fix|fixme"
    r"|gemini|jules|land(?:ed)?|lgtm|lock(?:ed)?|ok|paid|preview|ready|rerun|retest|run|safe|ship|shipit|signed|spam"
    r"|stale|sweep)$)"
)
"""Words, and beginnings of words, of labels that start or permit something in many repositories: tests of a fork,
merging, releasing, coding agents, bots that close issues."""


def select_allowed_labels(config: ProjectConfig, labels: Iterable[str]) -> list[str]:
    """The labels of the repository that may be suggested, without the opt-in and the opt-out label.

    A label can start a workflow with more rights than ours. So one that sounds like it must be allowed by name.
    """
    allowed = {name.casefold() for name in config.labels.allow}
    own = {config.opt_in_label.casefold(), config.opt_out_label.casefold()}

    def is_allowed(label: str) -> bool:
        if allowed:
            return label.casefold() in allowed
        words = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", unicodedata.normalize("NFKC", label).casefold())
        return not any(TRIGGER_WORDS.match(part) for word in words for part in (word, *word.split("-")))

    return [label for label in labels if label.casefold() not in own and is_allowed(label)]


_AREA_REASON = "The issue's own words say it."
"""Where those words would do something."""
_REASON_CHARS = 200
_SURE_KIND = 0.9
"""Least probability of a kind for high confidence."""


def list_suggested_labels(report: RunReport, mode: LabelsMode) -> list[str]:
    """Return the labels that may be suggested, if GitHub takes them."""
    return report.ticket.labels if mode == "suggest" else []


def find_suggested_original(report: RunReport) -> int:
    """Return the number of the issue that this one repeats, or 0.

    None that was closed as completed: then this one may say that the bug is back.
    """
    issue = report.possible_duplicate
    is_open = issue is not None and (issue.state == "open" or issue.ended == "not planned")
    return issue.number if issue and is_open and not report.security else 0


def plan_suggestions(
    report: RunReport, mode: LabelsMode, options: SuggestionOptions | None, state: CommentState | None = None
) -> list[Suggestion]:
    """Return what is suggested on the issue. Nothing without `options`: then GitHub takes no suggestions.

    What our comment remembers is not suggested again: a person has decided about it.
    """
    if options is None or mode == "off":
        return []
    decided = state.suggestion_hashes if state else []
    wanted = [*_list_wanted(report, mode, options)]
    wanted += _list_close(report, options) if options.can_close else []
    return [one for one in wanted if hash_suggestion(one) not in decided]


def _list_wanted(report: RunReport, mode: LabelsMode, options: SuggestionOptions) -> Iterator[Suggestion]:
    """Yield labels and the type, each with how sure it is; no label of a kind that nobody is sure of."""
    kind_confidence = _rate_kind(report)
    areas = {one.name.casefold(): one for one in report.area_labels}
    for name in list_suggested_labels(report, mode):
        is_kind = _names_kind(name, report.kind)
        if name not in options.labels or (is_kind and not kind_confidence):
            continue
        area = areas.get(name.casefold())
        if area and not is_kind and not report.security:
            rate: SuggestionConfidence = "HIGH" if area.probability >= _SURE_KIND else "MEDIUM"
            yield _suggest("label", name, format_plain_line(f"{area.reason}.") or _AREA_REASON, rate)
        else:
            yield _suggest("label", name, _explain_label(report, name), kind_confidence or "LOW")
    by_word = {name.casefold(): name for name in options.types}
    words = () if report.security else LABEL_WORDS.get(report.kind or "", ())
    types = [by_word[word] for word in words if word in by_word]
    if types and kind_confidence:
        yield _suggest("type", types[0], _explain_kind(report), kind_confidence)


def _list_close(report: RunReport, options: SuggestionOptions) -> Iterator[Suggestion]:
    """Yield to close the issue as a duplicate. Nothing here closes it: a person does."""
    original = report.possible_duplicate
    if original and options.original == original.number:
        rate: SuggestionConfidence = "HIGH" if original.score >= _SURE_KIND else "MEDIUM"
        why = format_plain_line("; ".join(original.reasons))
        yield _suggest("close", f"as duplicate of #{original.number}", f"Possibly the same: {why}.", rate)


def _suggest(kind: SuggestionKind, name: str, rationale: str, confidence: SuggestionConfidence) -> Suggestion:
    text = truncate(rationale, MAX_RATIONALE_CHARS)
    return Suggestion(kind=kind, name=name, rationale=text, confidence=confidence)


def _rate_kind(report: RunReport) -> SuggestionConfidence | None:
    """None for a kind that nobody claims: without a clear sign, an issue is handled as a bug."""
    if report.kind_probability is None:
        return "MEDIUM" if wording.has_model_answer(report) else None
    return "HIGH" if report.kind_probability >= _SURE_KIND else "MEDIUM"


def _names_kind(label: str, kind: Kind | None) -> bool:
    return strip_label(label) in LABEL_WORDS.get(kind or "", ())


def _explain_label(report: RunReport, name: str) -> str:
    """Return why a label is suggested that no area has."""
    if report.security:
        return "It may be a security report."
    if _names_kind(name, report.kind):
        return _explain_kind(report)
    if (asked := list_asked(report)) and strip_label(name) in LABEL_WORDS["missing"]:
        return _add_detail("The reporter is asked for more", asked[0].reason)
    return format_plain_line(truncate(report.severity_reason, _REASON_CHARS)) or _explain_kind(report)


def _explain_kind(report: RunReport) -> str:
    return _add_detail(wording.KINDS[report.kind].rstrip("."), report.summary)


def _add_detail(reason: str, detail: str) -> str:
    words = format_plain_line(truncate(detail, _REASON_CHARS))
    return f"{reason}: {words}" if words else f"{reason}."


def describe_suggestions(suggestions: Sequence[Suggestion]) -> str:
    """Returns what is suggested in words, such as "label bug, type Bug"."""
    return ", ".join(f"{wanted.kind} {wanted.name}" for wanted in suggestions)
