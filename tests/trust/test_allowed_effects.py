"""The judge of GraphQL requests."""

from typing import Any

import pytest

from testing.servers.github_api import SLUG
from trust.allowed_effects import find_wrong_graphql
from trust.permissive_github import NUMBER, open_tracker

OWNER, NAME = SLUG.split("/")
QUERY = "query($number: Int!) { repository { issue(number: $number) { id } } }"
ADD_LABELS = "mutation($issue: ID!) { addLabelsToLabelable(input: {labelableId: $issue, labels: $labels}) { x } }"
ABOUT = {"owner": OWNER, "name": NAME, "number": NUMBER}
ITEM = {"labelId": "LA_bug", "rationale": "It crashes.", "confidence": "LOW", "suggest": True}


def judge(query: str, variables: dict[str, Any], *, offers_suggestions: bool = True) -> list[str]:
    tracker = open_tracker("t", "b", labels=["bug"], offers_suggestions=offers_suggestions)
    return [found.partition(":")[0] for found in find_wrong_graphql({"query": query, "variables": variables}, tracker)]


def suggest(*items: dict[str, Any], **changes: Any) -> list[str]:
    return judge(ADD_LABELS, {"issue": f"I_{NUMBER}", "labels": list(items)} | changes)


def test_what_a_run_sends_is_allowed():
    assert judge("{ viewer { login } }", {}) == judge(QUERY, ABOUT) == suggest(ITEM) == []


@pytest.mark.parametrize(
    ("query", "variables", "found"),
    [
        (QUERY, ABOUT | {"number": NUMBER + 1}, "a question about another issue"),
        (QUERY, ABOUT | {"name": "other"}, "a question about another issue"),
        (QUERY + " mutation { x }", ABOUT, "more than a question"),
        (
            "mutation($issue: ID!) { deleteIssue(input: {issueId: $issue}) { x } }",
            {"issue": f"I_{NUMBER}"},
            "a mutation",
        ),
        ("{ viewer { email } }", {}, "a mutation that no run makes"),
    ],
)
def test_other_questions_and_mutations_are_found(query: str, variables: dict[str, Any], found: str):
    assert judge(query, variables)[0].startswith(found)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"suggest": False}, "applied, not suggested"),
        ({"labelId": "LA_deploy"}, "not a label of the repository"),
        ({"rationale": "x" * 281}, "a long reason"),
        ({"rationale": "See @mona"}, "live in a reason"),
        ({"rationale": "![x](https://evil.example)"}, "live in a reason"),
    ],
)
def test_a_wrong_suggestion_is_found(change: dict[str, Any], found: str):
    assert found in suggest(ITEM | change)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"suggest": False}, ["applied, not suggested"]),
        ({"value": "OPEN"}, ["closed as no duplicate"]),
        ({"stateReason": "COMPLETED"}, ["closed as no duplicate"]),
    ],
)
def test_closing_is_only_suggested_and_for_a_reason_of_ours(change: dict[str, Any], found: list[str]):
    close = {"value": "CLOSED", "stateReason": "DUPLICATE", "rationale": "It is one.", "confidence": "HIGH"}
    query = "mutation($issue: ID!) { updateIssue(input: {id: $issue, stateInput: $input0}) { x } }"
    assert judge(query, {"issue": f"I_{NUMBER}", "input0": {"suggest": True} | close | change}) == found


def test_a_suggestion_on_another_issue_or_another_server_is_found():
    assert suggest(ITEM, issue="I_8") == ["a mutation that no run makes"]
    violations = judge(ADD_LABELS, {"issue": f"I_{NUMBER}", "labels": [ITEM]}, offers_suggestions=False)
    assert violations == ["a mutation that no run makes"]
    assert suggest(*[ITEM] * 11) == ["11 suggestions at once"]
