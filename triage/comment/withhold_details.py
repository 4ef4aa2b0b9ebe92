"""Keeps what a security report says out of everything that is published."""

from collections.abc import Sequence

from triage.domain.report import RunReport, Ticket

TITLE = "Possible security report"
_LABELS = frozenset({"security", "vulnerability", "security report", "security issue"})
_PUBLISHED_FIELDS = (
    "schema_version",
    "triage_version",
    "request_id",
    "started_at",
    "seconds",
    "status",
    "engine",
    "repository",
    "server_url",
    "commit",
    "run_url",
    "cut",
    "kind",
    "language",
    "security",
    "security_policy",
    "usage",
    "reused",
    "limits",
    "index",
)
"""What says nothing about the issue. A field that is not listed is not published."""


def withhold_details(report: RunReport, labels: Sequence[str] = ()) -> RunReport:
    """Returns a report of the run alone: no place, severity, example or word of the issue, of a model or of the web.

    `labels` are those that the project allows; one that says security stays.
    """
    published = {name: getattr(report, name) for name in _PUBLISHED_FIELDS}
    steps = [step.model_copy(update={"shortfalls": [], "gate": None, "tools": []}) for step in report.steps]
    return RunReport(
        **published,
        issue=report.issue.model_copy(update={"title": TITLE}),
        verdict=None,
        severity=None,
        confidence=0.0,
        summary=TITLE,
        root_cause="",
        ticket=Ticket(title=TITLE, labels=[label for label in labels if is_security_label(label)]),
        steps=steps,
        decisions=[
            decision if decision.origin == "rules" else decision.model_copy(update={"reason": ""})
            for decision in report.decisions
        ],
    )


def is_security_label(label: str) -> bool:
    """Returns whether a label such as `security` or `type: security` only says what the issue is about."""
    return label.casefold().replace("/", ":").rpartition(":")[2].strip() in _LABELS
