"""Renders what a report says: as text, as JSON, or its kind as one word."""

import json

from triage.domain.issue import Issue, Regression, Trace
from triage.issue.kind.issue_kind import read_kind
from triage.issue.read_issue import read_issue
from triage.issue.reading_summary import ReadingSummary, summarize_issue

_KIND_NAMES = {"bug": "bug", "feature_request": "feature request", "question": "question"}
_ONE_WORD = {"feature_request": "feature"}


def name_kind(issue: Issue) -> str:
    """One word: bug, feature or question."""
    kind = read_kind(read_issue(issue), issue.labels).kind
    return _ONE_WORD.get(kind, kind)


def dump_summary(issue: Issue, project: str = "", *, indent: int | None = None) -> str:
    """The fields as JSON. `missing` has the kinds of what would be asked. `project` is `owner/name`."""
    fields = summarize_issue(issue, project).model_dump(mode="json")
    fields["missing"] = [question["kind"] for question in fields["missing"]]
    return json.dumps(fields, indent=indent)


def format_summary(issue: Issue) -> str:
    """The fields that the report has, one per line."""
    summary = summarize_issue(issue)
    fields = {
        "kind": _describe_kind(summary),
        "language": None if summary.language == "en" else summary.language,
        "version": summary.version,
        "environment": ", ".join(summary.environment),
        "error": summary.error,
        "traces": "; ".join(map(_describe_trace, summary.traces)),
        "regression": _describe_regression(summary.regression) if summary.regression else None,
        "severity": summary.severity,
        "symptom": summary.symptom,
    }
    found = [f"{name + ':':12} {value}\n" for name, value in fields.items() if value]
    asked = [f"- {question.question}\n" for question in summary.missing]
    return "".join([*found, "\nWould be asked:\n" if asked else "", *asked])


def _describe_kind(summary: ReadingSummary) -> str:
    name = "support" if summary.support and summary.kind == "question" else _KIND_NAMES[summary.kind]
    doubt = "" if summary.certain else ", too uncertain to say"
    security = "; may report a vulnerability" if summary.security else ""
    return f"{name} ({summary.probability:.2f}{doubt}){security}"


def _describe_regression(regression: Regression) -> str:
    parts = [("worked in", regression.worked_in), ("broken in", regression.broken_in)]
    versions = ", ".join(f"{words} {version}" for words, version in parts if version)
    said = " ".join(regression.quote.text.split())
    return f"{versions} (“{said}”)" if versions else f"“{said}”"


def _describe_trace(trace: Trace) -> str:
    last = trace.frames[-1] if trace.frames else None
    end = f", ends in {last.path}" + (f":{last.line}" if last.line else "") if last else ""
    return f"{trace.language}, {len(trace.frames)} frame{'s' * (len(trace.frames) != 1)}{end}"
