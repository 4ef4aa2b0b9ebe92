"""`/triage apply` and `/triage reject` of the suggestions in our comment."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from testing import factories
from testing.fakes import NOW
from tests.jobs.run_harness import RunHarness, our_comment
from triage.approval.proposal_id import compute_proposal_id
from triage.base.errors import CannotPublish, GitHubUnavailable
from triage.comment.comment import split_comment
from triage.comment.hidden_state import CommentState, hash_text, parse_state, render_state
from triage.domain.effect import Policy
from triage.domain.issue import IssueComment
from triage.domain.proposal import CommentRecord, SuggestionProposal
from triage.domain.run import Status
from triage.domain.task import SuggestionDecision
from triage.writes.suggestion_proposal import freeze_suggestions, render_suggestions

ISSUE = factories.issue()
SLUG = factories.repository().slug
COMMAND_ID = 77


def make_proposal(**changes: Any) -> SuggestionProposal:
    return SuggestionProposal(
        **{
            "repository": SLUG,
            "issue": 7,
            "issue_text": hash_text(ISSUE.title, ISSUE.body),
            "created_at": NOW,
            "labels": ["bug"],
            "issue_type": "Bug",
            "assignee": "mona",
        }
        | changes
    )


def make_comment(proposal: SuggestionProposal, state: CommentState | None = None) -> str:
    hidden = f"{render_state(state or CommentState())}\n{freeze_suggestions(proposal)}"
    return f"{hidden}\nIt fails here.\n\n{render_suggestions(proposal)}\n\nfooter\n"


@dataclass
class Answering(RunHarness):
    """A person answers the suggestions of our comment."""

    proposal: SuggestionProposal = field(default_factory=make_proposal)
    actor: str = "maintainer"

    def __post_init__(self) -> None:
        self.github.roles["maintainer"] = "write"
        self.set_up(make_comment(self.proposal))

    def set_up(self, ours: str, /, *, is_ours_alone: bool = True, **command: Any) -> None:
        """Our comment, what GitHub says about its edits, and the command below it."""
        said = IssueComment(
            **{"author": self.actor, "body": "/triage apply", "comment_id": COMMAND_ID, "created_at": NOW} | command
        )
        self.set_thread(our_comment(ours), said)
        self.event_issue = factories.issue(thread=[said])
        record = CommentRecord(comment_id=55, body=ours, is_ours_alone=is_ours_alone)
        self.approvals.records[55] = record

    def answer(self, proposal_id: str | None = None, *, is_apply: bool = True, words: str = "") -> Status:
        named = compute_proposal_id(self.proposal) if proposal_id is None else proposal_id
        task = SuggestionDecision(number=7, actor=self.actor, is_apply=is_apply, proposal_id=named, words=words)
        return self.run(task).status

    @property
    def changed(self) -> dict[str, Any]:
        """What was changed on the issue."""
        return {
            "labels": self.github.labelled,
            "types": self.approvals.types,
            "assignees": self.approvals.assignees,
        }

    @property
    def answered(self) -> str:
        """The line that our comment ends with."""
        return split_comment(self.github.edited[-1][2]).answer

    def assert_refused(self, reason: str) -> None:
        assert self.changed == {"labels": [], "types": {}, "assignees": {}}
        assert reason in self.answered
        assert self.approvals.reactions == [(COMMAND_ID, "confused")]


def test_what_the_comment_shows_is_applied() -> None:
    harness = Answering()
    assert harness.answer() is Status.COMPLETE
    assert harness.changed == {"labels": [(7, ["bug"])], "types": {7: "Bug"}, "assignees": {7: ["mona"]}}
    assert harness.approvals.reactions == [(COMMAND_ID, "+1")]
    assert harness.answered == (
        f"`/triage apply {compute_proposal_id(harness.proposal)}` by `maintainer`: "
        "applied label `bug`; type `Bug`; assignee `mona`."
    )


def test_the_suggestions_leave_the_comment_and_the_rest_stays() -> None:
    harness = Answering()
    harness.answer()
    body = harness.github.edited[-1][2]
    assert "It fails here." in body
    assert "footer" in body
    assert "Suggested" not in body
    assert "bug-triage-suggestions" not in body
    state = parse_state(body)
    assert state is not None
    assert state.applied == [compute_proposal_id(harness.proposal)]
    assert len(state.suggested) == 3


def test_a_second_approval_says_what_exists() -> None:
    harness = Answering()
    harness.answer()
    harness.set_up(harness.github.edited[-1][2])
    harness.github.labelled.clear()
    harness.approvals.types.clear()
    harness.approvals.assignees.clear()
    harness.approvals.reactions.clear()
    harness.answer()
    harness.assert_refused("applied already")


def test_after_a_kill_between_two_steps_the_same_command_ends_the_same() -> None:
    whole, killed = Answering(), Answering()
    whole.answer()
    killed.github.errors["edit_comment"] = CannotPublish("lost")
    killed.answer()
    del killed.github.errors["edit_comment"]
    killed.answer()
    assert killed.github.edited[-1] == whole.github.edited[-1]
    assert killed.approvals.types == whole.approvals.types


def test_rejected_suggestions_are_dropped_and_not_made_again() -> None:
    harness = Answering()
    assert harness.answer(is_apply=False) is Status.COMPLETE
    assert harness.changed == {"labels": [], "types": {}, "assignees": {}}
    state = parse_state(harness.github.edited[-1][2])
    assert state is not None
    assert (state.applied, len(state.suggested)) == ([], 3)


def test_the_rejection_of_a_patch_is_left_to_the_workflow_for_fixes() -> None:
    harness = Answering()
    assert harness.answer("0" * 12, is_apply=False) is Status.SKIPPED
    assert not harness.github.edited
    assert not harness.approvals.reactions


@pytest.mark.parametrize("role", ["triage", "read", "none"])
def test_write_access_is_needed(role: str) -> None:
    harness = Answering()
    harness.github.roles["maintainer"] = role
    harness.answer()
    harness.assert_refused("write access")


@pytest.mark.parametrize("method", ["fetch_role"])
def test_a_question_without_answer_is_a_no(method: str) -> None:
    harness = Answering()
    harness.github.errors[method] = GitHubUnavailable("GitHub did not answer.")
    harness.answer()
    harness.assert_refused("did not confirm")


def test_a_comment_that_somebody_else_edited_counts_for_nothing() -> None:
    harness = Answering()
    harness.set_up(make_comment(harness.proposal), is_ours_alone=False)
    harness.answer()
    harness.assert_refused("somebody else has edited")


def test_the_comment_is_read_together_with_its_edits() -> None:
    """What the list of comments shows may be older or newer than what GitHub says of the edits."""
    harness = Answering()
    other = make_proposal(labels=["wontfix"])
    harness.set_up(make_comment(other))
    harness.approvals.records[55] = CommentRecord(
        comment_id=55, body=make_comment(harness.proposal), is_ours_alone=True
    )
    harness.answer(compute_proposal_id(other))
    harness.assert_refused("no such proposal")


def test_nobody_knows_who_edited() -> None:
    harness = Answering()
    harness.approvals.errors["read_comment_record"] = GitHubUnavailable("GitHub did not answer.")
    harness.answer()
    harness.assert_refused("did not confirm")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"created_at": NOW - timedelta(days=7, seconds=1)}, "older than 7 days"),
        ({"created_at": NOW + timedelta(days=8)}, "its time is still to come"),
        ({"issue_text": "0" * 16}, "the issue was edited"),
        ({"issue": 8}, "another issue"),
        ({"repository": "evil/shop"}, "another issue"),
    ],
)
def test_a_proposal_that_does_not_fit_is_not_applied(changes: dict[str, Any], reason: str) -> None:
    harness = Answering(proposal=make_proposal(**changes))
    harness.answer()
    harness.assert_refused(reason)


@pytest.mark.parametrize(
    ("proposal_id", "words", "reason"),
    [("0" * 12, "", "no such proposal"), ("", "", "name the proposal"), (None, "but not the label", "stands alone")],
)
def test_an_approval_is_exact(proposal_id: str | None, words: str, reason: str) -> None:
    harness = Answering()
    harness.answer(proposal_id, words=words)
    harness.assert_refused(reason)


@pytest.mark.parametrize(
    "command",
    [
        {"edited_at": NOW + timedelta(seconds=5)},
        {"body": "/triage apply 123456789012"},
        {"comment_id": 78},
        {"author": "somebody-else"},
    ],
)
def test_a_command_counts_as_it_was_first_written(command: dict[str, Any]) -> None:
    harness = Answering()
    said = IssueComment(author="maintainer", body="/triage apply", comment_id=COMMAND_ID, created_at=NOW)
    harness.set_up(make_comment(harness.proposal), **command)
    harness.event_issue = factories.issue(thread=[said])
    harness.answer()
    harness.assert_refused("command")


def test_json_that_is_not_as_we_write_it_is_no_proposal() -> None:
    harness = Answering()
    harness.set_up(make_comment(harness.proposal).replace('"labels":["bug"]', '"labels": ["bug"]'))
    harness.answer()
    harness.assert_refused("no such proposal")


def test_a_proposal_that_is_not_shown_is_not_applied() -> None:
    harness = Answering()
    shown = render_suggestions(harness.proposal)
    harness.set_up(make_comment(harness.proposal).replace(shown, shown.replace("`bug`", "`docs`")))
    harness.answer()
    harness.assert_refused("no such proposal")


def test_a_frozen_line_further_down_counts_for_nothing() -> None:
    harness = Answering()
    line = freeze_suggestions(harness.proposal)
    harness.set_up(make_comment(harness.proposal).replace(f"{line}\n", "") + f"```\n{line}\n```\n")
    harness.answer()
    harness.assert_refused("no such proposal")


def test_a_failed_write_is_said_and_the_suggestions_stay() -> None:
    harness = Answering()
    harness.approvals.errors["set_issue_type"] = CannotPublish("The type could not be set.")
    harness.answer()
    assert "not everything could be applied" in harness.answered
    assert freeze_suggestions(harness.proposal) in harness.github.edited[-1][2]
    assert render_suggestions(harness.proposal) in harness.github.edited[-1][2]
    assert harness.approvals.reactions == [(COMMAND_ID, "confused")]


def test_a_dry_run_changes_nothing() -> None:
    harness = Answering(policy=Policy(dry_run=True))
    harness.answer()
    assert harness.changed == {"labels": [], "types": {}, "assignees": {}}
    assert not harness.github.edited
    assert not harness.approvals.reactions
