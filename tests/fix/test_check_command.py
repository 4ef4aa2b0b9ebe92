"""Everything that is not a clear yes is a no."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.domain.project_config import ProjectConfig
from triage.domain.proposal import Proposal
from triage.fix.check_command import (
    MAX_WORDS_CHARS,
    Decision,
    check_owners,
    check_proposal,
    check_role,
    parse_decision,
)
from triage.run.may_run.admission import WRITE_ROLES
from triage.safety.code_owners import CodeOwners

CONFIG = ProjectConfig(owners={"acme/core": "mona"})


@each_row(
    ("rules", "reason"),
    [
        ("", ""),
        ("* @hubot\na.py\nb.py", ""),
        ("* @Mona", ""),
        ("* @hubot @mona", ""),
        ("* ops@example.com @mona", ""),
        ("[ab].py\n* @mona", ""),
        ("* @hubot", "a.py has other owners"),
        ("* @mona\nb.py @hubot", "b.py has other owners"),
        ("* @acme/web", "owned by a team"),
        ("* mona@example.com", "owned by an e-mail address, which the token cannot resolve. Write the login"),
        ("* mona", "a.py may have owners by line 1 of CODEOWNERS, which cannot be read"),
        ("* @mona\n[bc].py @hubot", "a.py may have owners by line 2"),
    ],
)
def test_an_owner_of_every_file_with_owners(rules: str, reason: str) -> None:
    problem = check_owners("mona", ["a.py", "b.py"], CodeOwners(rules), CONFIG)
    assert reason in problem
    assert bool(reason) is bool(problem)


NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
PROPOSAL = Proposal(
    issue=7,
    issue_text_hash="a" * 16,
    created_at=NOW,
    base="1" * 40,
    commit="2" * 40,
)


@each_row(
    ("age", "issue_text_hash", "reason"),
    [
        (timedelta(), "a", ""),
        (timedelta(days=7), "a", ""),
        (timedelta(minutes=-14), "a", ""),  # a clock that is a little behind
        (timedelta(), "b", "was edited"),
        (timedelta(days=7, seconds=1), "a", "older than 7 days"),
        (timedelta(minutes=-16), "a", "still to come"),
    ],
)
def test_time_and_text(age: timedelta, issue_text_hash: str, reason: str) -> None:
    problem = check_proposal(PROPOSAL, issue_text_hash * 16, NOW + age)
    assert reason in problem
    assert bool(reason) is bool(problem)


@given(st.text(max_size=12))
def test_only_known_roles_may_decide(role: str) -> None:
    assert bool(check_role(role)) is (role not in WRITE_ROLES)


@pytest.mark.parametrize("answer", ["approve", " Approve\n", "APPROVE"])
def test_approve(answer: str) -> None:
    assert parse_decision(answer).decision is Decision.APPROVE


@each_row(
    "answer",
    [
        "reject",
        "",
        "appr\u200bove",
        "approve\u202e",
        None,
        1,
        ["approve"],
        {"decision": "approve"},
        b"approve",
    ],
)
def test_no(answer: object) -> None:
    read = parse_decision(answer)
    assert (read.decision, read.words) == (Decision.REJECT, "")


@each_row(
    ("answer", "why"),
    [("reject: it hides\nthe cause", "it hides\nthe cause"), ("Reject - too large", "too large"), ("reject.", "")],
)
def test_a_no_with_its_reason(answer: str, why: str) -> None:
    read = parse_decision(answer)
    assert (read.decision, read.words) == (Decision.REJECT, why)


@each_row(
    "answer",
    [
        "yes",
        "aprove",
        "аpprove",
        "revise",
        "reject it",
        "revise:",
        "reject the second file",
        "improve the message of the error",
    ],
)
def test_what_is_no_command_may_have_meant_a_yes_or_a_no(answer: str) -> None:
    read = parse_decision(f"  {answer}\n")
    assert (read.decision, read.words) == (Decision.UNCLEAR, answer)


@each_row(
    ("answer", "words"),
    [
        ("revise: smaller", "smaller"),
        ("Revise the docstring", "the docstring"),
        ("revise - Use Decimal.\r\nNot \u202efloat", "Use Decimal.\nNot float"),
        ("revise: " + "a" * 100_000, "a" * MAX_WORDS_CHARS),
    ],
)
def test_words_after_revise_are_what_to_change(answer: str, words: str) -> None:
    read = parse_decision(answer)
    assert (read.decision, read.words) == (Decision.REVISE, words)


@given(st.text() | st.sampled_from(["ap prove", "approve", "reject"]) | st.none() | st.integers() | st.binary())
def test_only_one_word_is_a_yes(answer: Any) -> None:
    read = parse_decision(answer)
    is_yes = isinstance(answer, str) and answer.strip().lower() == "approve"
    assert (read.decision is Decision.APPROVE) == is_yes
    assert bool(read.words) or read.decision in (Decision.APPROVE, Decision.REJECT)
