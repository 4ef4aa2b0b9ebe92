from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.approval.verdict import MAX_FEEDBACK_CHARS, Decision, parse_verdict


@pytest.mark.parametrize("answer", ["approve", " Approve\n", "APPROVE"])
def test_approve(answer: str) -> None:
    assert parse_verdict(answer).decision is Decision.APPROVE


@pytest.mark.parametrize(
    "answer",
    [
        "reject",
        " REJECT ",
        "",
        " \n",
        "\u200b",
        "appr\u200bove",
        "approve\u202e",
        None,
        True,
        1,
        ["approve"],
        {"decision": "approve"},
        b"approve",
    ],
)
def test_no(answer: object) -> None:
    verdict = parse_verdict(answer)
    assert (verdict.decision, verdict.feedback) == (Decision.REJECT, "")


@pytest.mark.parametrize("answer", ["approved", "approve!", "yes", "do not approve", "аpprove", "approve reject"])
def test_other_words_are_feedback(answer: str) -> None:
    verdict = parse_verdict(f"  {answer}\n")
    assert (verdict.decision, verdict.feedback) == (Decision.FEEDBACK, answer)


def test_feedback_is_as_it_was_written_without_what_nobody_sees() -> None:
    assert parse_verdict("Use Decimal.\r\nNot \u202efloat").feedback == "Use Decimal.\nNot float"
    assert len(parse_verdict("a" * 100_000).feedback) == MAX_FEEDBACK_CHARS


@given(st.text() | st.sampled_from(["ap prove", "approve", "reject"]) | st.none() | st.integers() | st.binary())
def test_only_one_word_is_a_yes(answer: Any) -> None:
    verdict = parse_verdict(answer)
    is_yes = isinstance(answer, str) and answer.strip().lower() == "approve"
    assert (verdict.decision is Decision.APPROVE) == is_yes
    assert bool(verdict.feedback) == (verdict.decision is Decision.FEEDBACK)
