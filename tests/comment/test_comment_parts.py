"""The parts of our comment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.comment.comment_parts import CommentParts, join_comment, split_comment

TEXT = st.text(alphabet="ab \n<>-!", max_size=30).map(lambda text: text.strip("\n"))


@given(TEXT, TEXT, TEXT)
def test_what_is_joined_is_split_again(report: str, proposal: str, answer: str) -> None:
    parts = CommentParts("<!-- bug-triage: v2 {} -->", report, proposal, answer)
    assert split_comment(join_comment(parts)) == parts


@pytest.mark.parametrize("body", ["", "one line", "state\nreport\n"])
def test_a_comment_without_a_proposal(body: str) -> None:
    assert split_comment(body).proposal == ""
    assert split_comment(body.replace("\n", "\r\n")) == split_comment(body)
