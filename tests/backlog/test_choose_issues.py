"""Which issues are triaged, and in which batches."""

from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backlog.backlog_values import list_issue
from triage.backlog.choose_issues import (
    BY_BOT,
    MAX_BODY_CHARS,
    QUIET,
    UP_TO_DATE,
    find_skip_reason,
    merge_past_issues,
    split_batches,
    to_past_issue,
)
from triage.comment.hidden_state import CommentState, hash_text, render_state
from triage.domain.issue import IssueComment
from triage.domain.past_issues import PastFix, PastIssue
from triage.domain.project_config import ProjectConfig


def comment(state: CommentState, *, ours: bool = True) -> IssueComment:
    return IssueComment(author="bot", body=f"{render_state(state)}\n\nText", ours=ours, comment_id=5)


SAME = CommentState(text_hash=hash_text("Issue 1", ""), content_hash="0" * 16)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"author_is_bot": True}, BY_BOT),
        ({"labels": ["No-Triage"]}, "The issue carries the project's opt-out label."),
        ({"thread": [comment(SAME)]}, UP_TO_DATE),
        ({"thread": [comment(SAME)], "body": "edited"}, ""),
        ({"thread": [comment(SAME, ours=False)]}, ""),
        ({"thread": [comment(SAME.model_copy(update={"content_hash": ""}))]}, ""),
        ({"thread": [comment(CommentState(quiet=True))]}, QUIET),
    ],
)
def test_why_an_issue_is_left_out(fields: dict[str, Any], reason: str) -> None:
    config = ProjectConfig(opt_out_label="no-triage", opt_in_label="triage-me")
    assert find_skip_reason(list_issue(1, **fields).issue, config, again=False) == reason


def test_again_triages_what_has_a_comment_but_not_what_is_quiet() -> None:
    config = ProjectConfig()
    assert not find_skip_reason(list_issue(1, thread=[comment(SAME)]).issue, config, again=True)
    quiet = list_issue(1, thread=[comment(CommentState(quiet=True))]).issue
    assert find_skip_reason(quiet, config, again=True) == QUIET


@given(st.integers(0, 2_000), st.integers(1, 50))
def test_batches_have_every_issue_once_in_order(count: int, size: int) -> None:
    batches = split_batches(list(range(count)), size)
    assert list(chain.from_iterable(batches)) == list(range(count))
    assert len(batches) == -(-count // size)
    assert not batches or max(map(len, batches)) - min(map(len, batches)) <= 1
    assert all(0 < len(batch) <= size for batch in batches)


def test_issues_are_compared_with_past_ones_and_with_each_other() -> None:
    listed = [list_issue(3, title="Crash", body="<!-- hidden -->" + "x" * 10_000), list_issue(2)]
    known = PastIssue(number=2, title="Known", created_at=listed[0].created_at, fixes=[PastFix(number=9)])
    newest, older = merge_past_issues([known], [to_past_issue(one) for one in listed])
    assert (newest.number, newest.body) == (3, "x" * (MAX_BODY_CHARS - len("<!-- hidden -->")))
    assert older == known, "it has fixes, which the list does not read"
