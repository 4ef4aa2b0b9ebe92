"""The writer's rules: report and ticket from templates over the findings."""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from triage.agents.cited_places import build_model_explanation
from triage.agents.codebase_rules import NO_REASON
from triage.domain.agent_input import AgentInput
from triage.domain.code import Span, Suspect
from triage.domain.findings import Effort, RelevantFile, TicketDraft
from triage.domain.issue import ParsedIssue, SeveritySign, SignKind
from triage.domain.report import MAX_LABELS, CheckedEvidence, TriageReport
from triage.read.kind.severity_signs import find_severity, find_severity_signs
from triage.read.kind_names import LABEL_WORDS, choose_label, find_labelled_kind
from triage.read.versions.regressions import find_regression

MAX_SUSPECTS = 5
MAX_TITLE_CHARS = 200
MAX_REASON_CHARS = 200

_SIGN_PHRASES: dict[SignKind, str] = {
    "security": "a security problem",
    "data_loss": "lost or damaged data",
    "crash": "a crash",
}


def fill_report_template(agent_input: AgentInput) -> TriageReport:
    """Return the report as far as rules can write it; it says what only a person or a model can add."""
    files = agent_input.relevant_files[:MAX_SUSPECTS]
    sign, explanation = find_severity(agent_input.parsed), build_model_explanation(agent_input)
    severity, reason = (sign.severity, explain_severity(sign)) if sign else (None, "")
    if explanation and explanation.severity:
        severity, reason = explanation.severity, explanation.severity_reason
    return TriageReport(
        severity=severity,
        severity_reason=reason,
        confidence=agent_input.confidence,
        summary=(explanation.summary if explanation else "") or summarize(agent_input.parsed),
        affected_files=list(map(to_suspect, files)),
        evidence=_list_evidence(agent_input, files),
    )


def summarize(parsed: ParsedIssue) -> str:
    """Return the first error message, else the title."""
    error = next(iter(parsed.error_messages), "").replace("`", "'")  # a lone one would open a code span
    return error or parsed.title or "The issue has no title."


def explain_severity(sign: SeveritySign) -> str:
    """Return the sentence of the report that says how bad it is, as the reason."""
    sentence = " ".join(sign.quote.text.split())
    if len(sentence) > MAX_REASON_CHARS:
        sentence = sentence[: MAX_REASON_CHARS - 1].rsplit(" ", 1)[0] + " …"
    return f"The issue speaks of {_SIGN_PHRASES[sign.kind]}: “{sentence}”"


def to_suspect(file: RelevantFile) -> Suspect:
    return Suspect(path=file.path, span=_find_span(file), symbol=file.symbol, reason=file.relevance_reason)


def _find_span(file: RelevantFile) -> Span | None:
    has_lines = file.start_line and file.end_line
    return Span(path=file.path, start=file.start_line or 0, end=file.end_line or 0) if has_lines else None


def _list_evidence(agent_input: AgentInput, files: Sequence[RelevantFile]) -> list[CheckedEvidence]:
    messages = agent_input.investigation.error_messages if agent_input.investigation else []
    claim = "The issue reports this error"
    from_issue = [CheckedEvidence(claim=claim, quote=message, verified=True) for message in messages[:2]]
    from_code = [
        CheckedEvidence(claim=file.relevance_reason, span=span, quote=file.quote, verified=span is not None)
        for file, span in ((file, _find_span(file)) for file in files[:3])
        if file.relevance_reason != NO_REASON
    ]
    return [*from_issue, *from_code]


def fill_ticket_template(agent_input: AgentInput, owners: Sequence[str]) -> dict[str, Any]:
    """Return title, labels of the project, an owner of the code as assignee, and effort."""
    kinds: list[str] = [agent_input.kind or "", *(sign.kind for sign in find_severity_signs(agent_input.parsed))]
    regression = find_regression(agent_input.parsed)
    if regression and regression.worked_in:
        kinds.append("regression")
    if agent_input.missing_information:
        kinds.append("missing")
    existing = _list_labels(agent_input)
    found = (choose_label(LABEL_WORDS.get(kind, ()), existing) for kind in kinds)
    return {
        "title": _format_title(agent_input.parsed.title),
        "labels": _select_existing_labels([*filter(None, found), *_list_areas(agent_input)], existing),
        "assignee": next((owner for owner in owners if owner != agent_input.issue.author), None),
        "effort": "S" if agent_input.is_confirmed else "M",
    }


def _list_labels(agent_input: AgentInput) -> list[str]:
    """Return the labels of the repository without those that the form has put on, and a person has taken off."""
    of_form = {name.casefold() for name in agent_input.form_labels}
    labels = agent_input.repository.labels
    return [name for name in labels if name.casefold() not in of_form or agent_input.issue.has_label(name)]


def _list_areas(agent_input: AgentInput) -> list[str]:
    """Return the labels that say what it is about. One that names another kind contradicts the report."""
    fitting = (None, agent_input.kind)
    return [one.name for one in agent_input.area_labels if find_labelled_kind([one.name]) in fitting]


def normalize_ticket(draft: TicketDraft, agent_input: AgentInput, owners: Sequence[str]) -> dict[str, Any]:
    """Return a model's ticket: the labels of the rules, further ones that exist, and an owner of the code."""
    by_rules = fill_ticket_template(agent_input, owners)
    wanted = (draft.assignee or "").strip("@ ").casefold()
    effort = draft.effort.strip().upper()
    chosen = _select_existing_labels(draft.labels, _list_labels(agent_input))
    return by_rules | {
        "title": _format_title(draft.title) if draft.title.strip() else by_rules["title"],
        "labels": list(dict.fromkeys([*by_rules["labels"], *chosen]))[:MAX_LABELS],
        "assignee": next((owner for owner in owners if owner.casefold() == wanted), by_rules["assignee"]),
        "effort": effort if effort in get_args(Effort) else by_rules["effort"],
    }


def _format_title(text: str) -> str:
    return " ".join(text.split())[:MAX_TITLE_CHARS] or "Untitled issue"


def _select_existing_labels(names: Iterable[str], labels: Sequence[str]) -> list[str]:
    known = {label.casefold(): label for label in labels}
    # A model may write several into one; the name of a label may have a comma in it.
    written = (part.strip(" `").casefold() for name in names for part in (name, *name.split(",")))
    return list(dict.fromkeys(known[name] for name in written if name in known))[:MAX_LABELS]
