"""What a report says, in a few fields. It needs no checkout."""

from triage.domain.findings import MissingInformation, Severity
from triage.domain.issue import Issue, Reading, Trace
from triage.domain.value import Value
from triage.reading.declared_kind import LearnedKind
from triage.reading.issue_kind import classify_issue, read_kind
from triage.reading.missing_information import find_missing_information
from triage.reading.read_issue import read_issue
from triage.reading.severity import find_severity
from triage.reading.symptoms import find_symptoms
from triage.reading.versions import is_platform_version

_RUNTIME_PREFIXES = ("runtime.", "runtime/", "panic", "std::", "core::", "rust_begin_unwind")
"""Functions of Go and Rust that report a panic; the cause is in the frames below."""


class ReadingSummary(Value):
    kind: LearnedKind
    probability: float
    certain: bool
    support: bool
    security: bool
    version: str | None
    """The project's, with its name where the report has it."""
    environment: list[str]
    """Versions of languages, systems, browsers and tools."""
    error: str | None
    traces: list[Trace]
    regression: str | None
    """The words that say so."""
    severity: Severity | None
    symptom: str | None
    missing: list[MissingInformation]


def summarize_issue(issue: Issue) -> ReadingSummary:
    """Raises nothing for any text."""
    reading = read_issue(issue)
    kind = read_kind(reading, issue.labels)
    symptoms = find_symptoms(reading)
    severity = find_severity(symptoms) if kind.kind == "bug" else None
    return ReadingSummary(
        kind=kind.kind,
        probability=round(kind.probability, 3),
        certain=kind.certain,
        support=kind.support,
        security=kind.security,
        version=next((version for version in reading.versions if not is_platform_version(version)), None),
        environment=[version for version in reading.versions if is_platform_version(version)],
        error=reading.error_messages[0] if reading.error_messages else None,
        traces=reading.traces,
        regression=next((symptom.phrase for symptom in symptoms if symptom.kind == "regression"), None),
        severity=severity[0] if severity else None,
        symptom=describe_symptom(reading) or None,
        missing=find_missing_information(reading, []) if classify_issue(reading, issue.labels) == "bug" else [],
    )


def describe_symptom(reading: Reading) -> str:
    """The error of the report, and where it was raised; empty without one."""
    if reading.traces:
        # The last of a chain: the cause in Java, the exception that surfaced in Python.
        return _describe_trace(reading.traces[-1])
    if reading.error_messages:
        return reading.error_messages[0].replace("`", "'")
    return ""


def _describe_trace(trace: Trace) -> str:
    # Ruby and GNU tools quote `name': a lone backtick would open a code span.
    raised = ": ".join(part for part in (trace.exception, trace.message) if part).replace("`", "'") or "an error"
    if not trace.frames:
        return f"The issue shows {raised}."
    own = [frame for frame in trace.frames if not (frame.function or "").startswith(_RUNTIME_PREFIXES)]
    last = (own or trace.frames)[-1]
    where = f"{last.path}:{last.line}" if last.line else last.path
    return f"{raised}, raised in `{last.function}` ({where})." if last.function else f"{raised}, raised at {where}."
