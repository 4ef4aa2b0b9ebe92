"""What a report says, in a few fields. It needs no checkout."""

import re

from triage.domain.findings import MissingInformation, Severity
from triage.domain.issue import Issue, Quote, Regression, Trace
from triage.domain.value import Value
from triage.issue.kind.declared_kind import LearnedKind
from triage.issue.kind.issue_kind import classify_issue, read_kind
from triage.issue.questions.missing_information import find_missing_information
from triage.issue.read_issue import read_issue
from triage.issue.report_facts import find_facts

_PROJECT = re.compile(r"https?://[^/]+/([\w.-]{1,100}/[\w.-]{1,100})(?:/|$)")


class ReadingSummary(Value):
    kind: LearnedKind
    probability: float
    certain: bool
    language: str
    """ISO 639-1, for Chinese with its script (`zh-Hans`, `zh-Hant`); English where unsure."""
    support: bool
    security: bool
    version: str | None
    """The project's."""
    environment: list[str]
    """Languages, systems, browsers and tools."""
    error: str | None
    traces: list[Trace]
    regression: Regression | None
    severity: Severity | None
    symptom: str | None
    """The error, where it can be quoted whole and is not the title again."""
    reproduction: str | None
    expectation: str | None
    missing: list[MissingInformation]
    places: dict[str, tuple[int, int]]
    """Start and end of the quoted fields in the visible text, in characters; the end is exclusive."""


def summarize_issue(issue: Issue, project: str = "") -> ReadingSummary:
    """`project` is `owner/name`; without it, the issue's URL says it. Raises nothing for any text."""
    url = _PROJECT.match(issue.url)
    project = project or (url[1] if url else "")
    parsed = read_issue(issue)
    kind = read_kind(parsed, issue.labels)
    facts = find_facts(parsed, project)
    severity = facts.severity if kind.kind == "bug" else None
    is_bug = classify_issue(parsed, issue.labels) == "bug"
    quotes = {
        "version": facts.version,
        "error": facts.error,
        "symptom": facts.symptom,
        "reproduction": facts.reproduction,
        "expectation": facts.expectation,
        "severity": severity.quote if severity else None,
    }
    return ReadingSummary(
        kind=kind.kind,
        probability=round(kind.probability, 3),
        certain=kind.certain,
        language=parsed.language,
        support=kind.support,
        security=kind.security,
        version=_text(facts.version),
        environment=[quote.text for quote in facts.environment],
        error=_text(facts.error),
        traces=parsed.stack_traces,
        regression=facts.regression,
        severity=severity.severity if severity else None,
        symptom=_text(facts.symptom),
        reproduction=_text(facts.reproduction),
        expectation=_text(facts.expectation),
        missing=find_missing_information(parsed, [], project) if is_bug else [],
        places={name: (quote.start, quote.end) for name, quote in quotes.items() if quote},
    )


def _text(quote: Quote | None) -> str | None:
    return quote.text if quote else None
