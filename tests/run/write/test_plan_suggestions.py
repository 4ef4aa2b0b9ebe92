"""What is suggested in GitHub's panel, with which reason, and what never is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.say.sample_reports import FULL, change_report, missing
from triage.domain.effect import MAX_RATIONALE_CHARS, Suggestion, SuggestionOptions
from triage.domain.issue import AreaLabel
from triage.domain.past_issues import SimilarIssue
from triage.domain.report import RunReport, Ticket
from triage.run.write.plan_suggestions import (
    describe_suggestions,
    find_suggested_original,
    plan_suggestions,
)
from triage.safety.active_content import find_active_content
from triage.say.comment import withhold_details
from triage.say.hidden_state import CommentState

OPTIONS = SuggestionOptions(labels=["bug", "importer", "needs info"], types=["Task", "BUG", "Feature"])


def report(**changes: Any) -> RunReport:
    ticket = Ticket(title="t", labels=changes.pop("labels", ["bug"]), assignee="octocat")
    defaults: dict[str, Any] = {
        "ticket": ticket,
        "confidence": 0.5,
        "summary": "It loses rows.",
        "kind_probability": 0.8,
        "engine": "rules",
        "steps": [],
    }
    return change_report(**defaults | changes)


def names(suggestions: list[Suggestion]) -> str:
    return describe_suggestions(suggestions)


def test_labels_and_the_type_are_suggested():
    suggestions = plan_suggestions(report(), "suggest", OPTIONS)
    assert [(one.kind, one.name, one.rationale, one.confidence) for one in suggestions] == [
        ("label", "bug", "This reads as a bug report: It loses rows.", "MEDIUM"),
        ("type", "BUG", "This reads as a bug report: It loses rows.", "MEDIUM"),
    ]


def test_with_applied_labels_only_the_type_is_suggested():
    assert names(plan_suggestions(report(), "apply", OPTIONS)) == "type BUG"


def test_nothing_without_labels_or_where_github_has_no_suggestions():
    assert plan_suggestions(report(), "off", OPTIONS) == plan_suggestions(report(), "suggest", None) == []


def test_only_what_github_offers_is_suggested():
    assert plan_suggestions(report(), "suggest", SuggestionOptions()) == []
    other = SuggestionOptions(labels=["other"], types=["Task"])
    assert plan_suggestions(report(), "suggest", other) == []


def test_what_was_suggested_before_stays_declined():
    first = plan_suggestions(report(), "suggest", OPTIONS)
    posted = CommentState().with_suggestions(first[1:])
    assert names(plan_suggestions(report(), "suggest", OPTIONS, posted)) == "label bug"
    renamed = OPTIONS.model_copy(update={"types": ["bug"]})
    assert names(plan_suggestions(report(), "suggest", renamed, posted)) == "label bug"


@pytest.mark.parametrize(
    ("kind", "types", "expected"),
    [
        ("bug", ["Defect", "Feature"], "type Defect"),
        ("bug", ["Defect", "Bug"], "type Bug"),
        ("feature_request", ["Bug", "Enhancement"], "type Enhancement"),
        ("question", ["Bug", "Task"], ""),
    ],
)
def test_the_type_is_that_of_the_kind(kind: Any, types: list[str], expected: str):
    triaged = report(kind=kind, labels=[])
    assert names(plan_suggestions(triaged, "suggest", SuggestionOptions(types=types))) == expected


@pytest.mark.parametrize(
    ("probability", "engine", "levels"),
    [
        (0.95, "rules", {"HIGH"}),
        (0.9, "rules", {"HIGH"}),
        (0.7, "rules", {"MEDIUM"}),
        (None, "rules", set()),  # handled as a bug because nothing says what it is
        (None, "model", {"MEDIUM"}),
    ],
)
def test_label_and_type_are_as_sure_as_the_kind(probability: float | None, engine: str, levels: set[str]):
    steps = FULL.steps if engine == "model" else []
    triaged = report(kind_probability=probability, engine=engine, steps=steps, labels=["bug", "kind/bug"])
    suggestions = plan_suggestions(triaged, "suggest", OPTIONS)
    assert {one.confidence for one in suggestions} == levels
    other = plan_suggestions(report(kind_probability=None, engine="rules", labels=["importer"]), "suggest", OPTIONS)
    assert [(one.name, one.confidence) for one in other] == [("importer", "LOW")]


@each_row(
    ("changes", "label", "rationale"),
    [
        ({}, "kind/Bug", "This reads as a bug report: It loses rows."),
        ({"severity_reason": "It crashes."}, "importer", "It crashes."),
        ({"severity_reason": "As @mona says."}, "importer", "This reads as a bug report: It loses rows."),
        (
            {"missing_information": [missing("version", "Which version is it?", "It says which code ran.")], "why": ""},
            "needs info",
            "The reporter is asked for more: It says which code ran.",
        ),
        ({"summary": "@mona fixes #12"}, "bug", "This reads as a bug report."),
        ({"summary": "`a_b` is ![x](y) <b>"}, "bug", "This reads as a bug report: 'a_b' is !(x)(y) ‹b›"),
        ({"summary": ""}, "bug", "This reads as a bug report."),
    ],
)
def test_the_reason_of_a_label(changes: dict[str, Any], label: str, rationale: str):
    triaged = report(labels=[label], **changes)
    [suggestion] = plan_suggestions(triaged, "suggest", SuggestionOptions(labels=[label]))
    assert suggestion.rationale == rationale


@each_row(
    ("reason", "probability", "expected"),
    [
        ("The title says `cli`", 0.8, ("The title says 'cli'.", "MEDIUM")),
        ("The form's field Component says it", 1.0, ("The form's field Component says it.", "HIGH")),
        ("The form's field @mona says it", 1.0, ("The issue's own words say it.", "HIGH")),
    ],
)
def test_the_reason_of_what_it_is_about(reason: str, probability: float, expected: tuple[str, str]):
    area = AreaLabel(name="Importer", reason=reason, probability=probability)
    options = SuggestionOptions(labels=["importer"])
    [suggestion] = plan_suggestions(report(labels=["importer"], area_labels=[area]), "suggest", options)
    assert (suggestion.rationale, suggestion.confidence) == expected


@given(
    summary=st.text(max_size=400),
    question=st.text(max_size=400),
    path=st.text(min_size=1, max_size=400),
    confidence=st.floats(0, 1),
)
def test_every_reason_is_short_and_does_nothing(summary: str, question: str, path: str, confidence: float):
    suspect = FULL.suspects[0].model_copy(update={"path": path})
    triaged = report(
        labels=["bug", "importer", "needs info"],
        summary=summary,
        severity_reason=summary,
        missing_information=[missing("version", question, "")],
        suspects=[suspect],
        confidence=confidence,
    )
    for suggestion in plan_suggestions(triaged, "suggest", OPTIONS):
        assert 0 < len(suggestion.rationale) <= MAX_RATIONALE_CHARS
        assert suggestion.rationale.splitlines() == [suggestion.rationale]
        assert find_active_content(suggestion.rationale, []) == []
        assert "://" not in suggestion.rationale


def test_of_a_security_report_only_the_label_that_says_so_is_suggested():
    report = withhold_details(FULL.model_copy(update={"security": True}), ["bug", "type: security", "security-ok"])
    options = SuggestionOptions(labels=["bug", "type: security"], types=["Bug"])
    (only,) = plan_suggestions(report, "suggest", options)
    assert (only.kind, only.name, only.rationale) == ("label", "type: security", "It may be a security report.")


def past(**changes: Any) -> SimilarIssue:
    given: dict[str, Any] = {"number": 3, "title": "t", "score": 0.7, "named": True, "reasons": ["same stack trace"]}
    return SimilarIssue(**given | changes)


CLOSING = SuggestionOptions(can_close=True, original=3)


def test_closing_as_duplicate_names_why() -> None:
    triaged = report(possible_duplicate=past())
    [suggestion] = plan_suggestions(triaged, "suggest", CLOSING)
    assert describe_suggestions([suggestion]) == "close as duplicate of #3"
    assert (suggestion.rationale, suggestion.confidence) == ("Possibly the same: same stack trace.", "MEDIUM")
    assert find_suggested_original(triaged) == 3
    posted = CommentState().with_suggestions([suggestion])
    assert plan_suggestions(triaged, "suggest", CLOSING, posted) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"possible_duplicate": past(state="closed", ended="fixed in 1.4")},
        {"possible_duplicate": past(), "security": True},
        {"possible_duplicate": None},
    ],
)
def test_no_duplicate_of_what_was_completed(changes: dict[str, Any]) -> None:
    """A report of a bug that was fixed may say that it is back."""
    assert find_suggested_original(report(**changes)) == 0
