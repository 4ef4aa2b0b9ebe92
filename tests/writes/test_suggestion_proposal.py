"""What the comment hides for `/triage apply` is read as it was written, whatever a label is called."""

import re
from datetime import UTC, datetime

import html5lib  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing import factories
from tests.comment.sample_reports import FULL
from triage.comment.comment import FROZEN_CLOSE, FROZEN_OPEN, CommentParts, join_comment, render_quiet_comment
from triage.comment.hidden_state import CommentState, render_state
from triage.domain.effect import Suggestion
from triage.domain.proposal import SuggestionProposal
from triage.writes.suggestion_proposal import (
    build_proposal,
    find_proposal,
    freeze_suggestions,
    render_suggestions,
)

HOSTILE = st.text(st.sampled_from('<>-!"\\&`{}[] \n\r\t/@#\u202e\u200bß'), max_size=30)
NAMES = st.one_of(HOSTILE, st.text(max_size=30), st.sampled_from(["-->", "--!>", "<!--", "</details>", "\\u002d->"]))
PROPOSALS = st.builds(
    SuggestionProposal,
    repository=NAMES,
    issue=st.integers(1, 10**6),
    issue_text=st.just("0" * 16),
    created_at=st.just(datetime(2026, 11, 23, tzinfo=UTC)),
    labels=st.lists(NAMES, max_size=5),
    issue_type=NAMES,
    assignee=NAMES,
)


def make_body(proposal: SuggestionProposal) -> str:
    report = f"It fails here.\n\n{render_suggestions(proposal)}\n\nfooter"
    return join_comment(CommentParts(render_state(CommentState()), report, frozen=freeze_suggestions(proposal)))


@given(PROPOSALS)
def test_what_is_read_is_what_was_written(proposal: SuggestionProposal) -> None:
    assert find_proposal(make_body(proposal)) == proposal


@given(PROPOSALS)
def test_no_name_ends_the_hidden_comment(proposal: SuggestionProposal) -> None:
    line = freeze_suggestions(proposal)
    assert "\n" not in line
    assert line.isascii()
    assert not re.search("[<>]|--", line.removeprefix(FROZEN_OPEN).removesuffix(FROZEN_CLOSE))
    body = html5lib.parse(f"{line}rest", namespaceHTMLElements=False).find("body")
    assert "".join(body.itertext()) == "rest"


def test_a_quiet_comment_keeps_what_it_proposes() -> None:
    proposal = build_proposal(FULL, factories.issue(), [suggest("bug")])
    assert proposal is not None
    assert find_proposal(render_quiet_comment(make_body(proposal), CommentState())) == proposal


@pytest.mark.parametrize("name", ["bug\u200b", "a  b", "\u202egub", "\u3164"])
def test_a_name_that_cannot_be_shown_as_it_is_is_not_proposed(name: str) -> None:
    assert build_proposal(FULL, factories.issue(), [suggest(name)]) is None


def suggest(name: str) -> Suggestion:
    return Suggestion(kind="label", name=name, rationale="", confidence="HIGH")
