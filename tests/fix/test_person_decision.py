from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.fix.person_decision import MAX_WORDS_CHARS, Decision, parse_decision


@pytest.mark.parametrize("answer", ["approve", " Approve\n", "APPROVE"])
def test_approve(answer: str) -> None:
    assert parse_decision(answer).decision is Decision.APPROVE


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
        "approve!",
        "аpprove",
        "revise",
        "revise:",
        "do not approve",
        "reject it",
        "Return zero.",
        "好的",
    ],
)
def test_few_words_may_have_meant_a_yes_or_a_no(answer: str) -> None:
    read = parse_decision(f"  {answer}\n")
    assert (read.decision, read.words) == (Decision.UNCLEAR, answer)


@each_row(
    ("answer", "words"),
    [
        ("revise: smaller", "smaller"),
        ("Revise the docstring", "the docstring"),
        ("improve the message of the error", "improve the message of the error"),
        ("Use Decimal.\r\nNot \u202efloat", "Use Decimal.\nNot float"),
        ("revise: " + "a" * 100_000, "a" * MAX_WORDS_CHARS),
    ],
)
def test_other_words_are_what_to_change(answer: str, words: str) -> None:
    read = parse_decision(answer)
    assert (read.decision, read.words) == (Decision.REVISE, words)


@given(st.text() | st.sampled_from(["ap prove", "approve", "reject"]) | st.none() | st.integers() | st.binary())
def test_only_one_word_is_a_yes(answer: Any) -> None:
    read = parse_decision(answer)
    is_yes = isinstance(answer, str) and answer.strip().lower() == "approve"
    assert (read.decision is Decision.APPROVE) == is_yes
    assert bool(read.words) or read.decision in (Decision.APPROVE, Decision.REJECT)
