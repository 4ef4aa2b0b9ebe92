from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.approval.person_answer import MAX_FEEDBACK_CHARS, Decision, parse_answer


@pytest.mark.parametrize("answer", ["approve", " Approve\n", "APPROVE"])
def test_approve(answer: str) -> None:
    assert parse_answer(answer).decision is Decision.APPROVE


@each_row(
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
    read = parse_answer(answer)
    assert (read.decision, read.feedback) == (Decision.REJECT, "")


@pytest.mark.parametrize("answer", ["approved", "approve!", "yes", "do not approve", "аpprove", "approve reject"])
def test_other_words_are_feedback(answer: str) -> None:
    read = parse_answer(f"  {answer}\n")
    assert (read.decision, read.feedback) == (Decision.FEEDBACK, answer)


def test_feedback_is_as_it_was_written_without_what_nobody_sees() -> None:
    assert parse_answer("Use Decimal.\r\nNot \u202efloat").feedback == "Use Decimal.\nNot float"
    assert len(parse_answer("a" * 100_000).feedback) == MAX_FEEDBACK_CHARS


@given(st.text() | st.sampled_from(["ap prove", "approve", "reject"]) | st.none() | st.integers() | st.binary())
def test_only_one_word_is_a_yes(answer: Any) -> None:
    read = parse_answer(answer)
    is_yes = isinstance(answer, str) and answer.strip().lower() == "approve"
    assert (read.decision is Decision.APPROVE) == is_yes
    assert bool(read.feedback) == (read.decision is Decision.FEEDBACK)
