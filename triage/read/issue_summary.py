"""What a report says, in a few fields, as text or as JSON. It needs no checkout."""

import json
import re

import yaml

from triage.domain.findings import Kind, MissingInformation, Severity
from triage.domain.issue import Issue, Quote, Regression, Trace
from triage.domain.value import Value
from triage.read.issue_facts import find_facts
from triage.read.kind.issue_kind import read_kind
from triage.read.questions import find_missing_information
from triage.read.read_issue import read_issue


class ReadingSummary(Value):
    kind: Kind | None
    """None if it is uncertain."""
    likeliest: Kind
    probability: float
    language: str
    """ISO 639-1, for Chinese with its script (`zh-Hans`, `zh-Hant`); English where unsure."""
    security: bool
    version: str | None
    """The project's."""
    error: str | None
    traces: list[Trace]
    regression: Regression | None
    severity: Severity | None
    missing: list[MissingInformation]


def summarize_issue(issue: Issue, project: str = "") -> ReadingSummary:
    """Return what an issue says. `project` is `owner/name`, else that of the issue's URL. Raises nothing."""
    url = re.match(r"https?://[^/]+/([\w.-]{1,100}/[\w.-]{1,100})(?:/|$)", issue.url)
    project = project or (url[1] if url else "")
    parsed = read_issue(issue)
    kind = read_kind(parsed, issue.labels)
    facts = find_facts(parsed, project)
    may_be_bug = kind.kind in ("bug", None)
    severity = facts.severity if may_be_bug else None
    return ReadingSummary(
        kind=kind.kind,
        likeliest=kind.kind or kind.likeliest,
        probability=round(kind.probability, 3),
        language=parsed.language,
        security=kind.security,
        version=_text(facts.version),
        error=_text(facts.error),
        traces=parsed.stack_traces,
        regression=facts.regression,
        severity=severity.severity if severity else None,
        missing=find_missing_information(parsed, [], project) if may_be_bug else [],
    )


def _text(quote: Quote | None) -> str | None:
    return quote.text if quote else None


def name_kind(issue: Issue) -> str:
    """Return one word, the likeliest of bug, feature and question."""
    kind = read_kind(read_issue(issue), issue.labels).likeliest
    return {"feature_request": "feature"}.get(kind, kind)


def dump_summary(issue: Issue, project: str = "", *, indent: int | None = None) -> str:
    """Return the fields as JSON. `missing` has the kinds of what would be asked. `project` is `owner/name`."""
    fields = summarize_issue(issue, project).model_dump(mode="json")
    fields["missing"] = [question["kind"] for question in fields["missing"]]
    return json.dumps(fields, indent=indent)


def format_summary(issue: Issue) -> str:
    """Return the fields that the report has as YAML, which people read."""
    fields = summarize_issue(issue).model_dump(mode="json", exclude_defaults=True)
    found = {name: value for name, value in fields.items() if value}
    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=120)
