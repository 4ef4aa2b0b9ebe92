"""The task of each event, or the reason for skipping it."""

from typing import Any

import pytest

from testing.each_row import each_row
from testing.webhooks.example_payloads import NAMES, comment, event_of, load_payload
from triage.base.errors import BadInput
from triage.domain.effect import COMMENT_MARKER
from triage.domain.task import QuietTask, Skip, TriageTask, Trigger
from triage.run.may_run.event import parse_event
from triage.run.may_run.route import route_event

KNOWN = "there are `/triage`, `/triage quiet` and `/triage wrong`."

BOT_WORDS = "Issues that a bot opens or changes are not triaged on their own."


def reason(event: str, raw: dict[str, Any], issue_number: int | None = None) -> str:
    task = route_event(event, raw, issue_number)
    assert isinstance(task, Skip)
    return task.reason


TASKS = {
    "issues.opened": TriageTask(number=1, trigger=Trigger.OPENED, actor="Codertocat"),
    "issues.opened.after-transfer": TriageTask(number=1, trigger=Trigger.OPENED, actor="Codertocat"),
    "issues.reopened": TriageTask(number=1, trigger=Trigger.REOPENED, actor="Codertocat"),
    "issues.edited": Skip(reason="Neither title nor body of the issue was changed."),
    "issues.labeled": TriageTask(number=1, trigger=Trigger.LABELED, actor="Codertocat", added_label="bug"),
    "issues.locked": Skip(reason="The issue is locked."),
    "issues.milestoned.pull-request": Skip(reason="Pull requests and comments on them are not triaged."),
    "issues.transferred": Skip(reason="The issue was transferred to another repository."),
    "issues.deleted": Skip(reason="This change of an issue (deleted) does not start a triage."),
    "issues.pinned": Skip(reason="This change of an issue (pinned) does not start a triage."),
    "issue_comment.created": TriageTask(number=1, trigger=Trigger.REPORTER_ANSWER, actor="Codertocat"),
    "issue_comment.edited": Skip(reason="Only a new comment counts, not one that was edited or deleted."),
    "issue_comment.deleted": Skip(reason="Only a new comment counts, not one that was edited or deleted."),
    "workflow_dispatch": TriageTask(number=1, trigger=Trigger.BY_NUMBER, actor="octocat", is_asked=True),
    "repository_dispatch": TriageTask(number=1, trigger=Trigger.BY_NUMBER, actor="Codertocat"),
}


class TestExamples:
    def test_each_has_its_expectation(self) -> None:
        assert sorted(TASKS) == NAMES

    @each_row("name", NAMES)
    def test_task(self, name: str) -> None:
        assert route_event(event_of(name), load_payload(name), 1) == TASKS[name]

    def test_an_event_of_a_pull_request(self) -> None:
        assert reason("pull_request_review", {}) == "Pull requests are not triaged."


class TestIssues:
    @pytest.mark.parametrize("field", ["title", "body"])
    def test_an_edit_of_the_text_counts(self, field: str) -> None:
        task = route_event("issues", load_payload("issues.edited", changes={field: {"from": "before"}}))
        assert task == TriageTask(number=1, trigger=Trigger.EDITED, actor="Codertocat")

    def test_a_transfer_is_recognised_by_its_changes(self) -> None:
        raw = load_payload("issues.edited", changes={"new_issue": {"number": 3}, "body": {"from": "x"}})
        assert reason("issues", raw) == "The issue was transferred to another repository."

    @each_row(
        "changes",
        [
            {"sender__type": "Bot"},
            {"issue__user__type": "Bot"},
            {"sender__login": "dependabot[bot]"},
            {"issue__user__login": "renovate[bot]", "issue__user__type": None},
        ],
    )
    @each_row("name", ["issues.opened", "issues.reopened"])
    def test_bots_do_not_start_anything(self, name: str, changes: dict[str, Any]) -> None:
        assert reason("issues", load_payload(name, **changes)) == BOT_WORDS

    def test_a_deleted_account(self) -> None:
        raw = load_payload("issues.opened", issue__user=None, sender=None)
        assert route_event("issues", raw) == TriageTask(number=1, trigger=Trigger.OPENED, actor="")

    def test_the_input_may_not_contradict(self) -> None:
        with pytest.raises(BadInput, match=r"^issue-number: 2 is not the issue of this event, which is 1; "):
            route_event("issues", load_payload("issues.opened"), 2)

    def test_an_invalid_action_is_not_repeated(self) -> None:
        raw = load_payload("issues.opened", action="::error::\x1b[31m")
        assert reason("issues", raw) == "This change of an issue does not start a triage."


class TestAddedLabel:
    """Whether it is the opt-in label, `check_added_label` says once the project's settings are read."""

    @pytest.mark.parametrize(("sender", "is_asked"), [("codertocat", False), ("mona", True)])
    def test_a_label_asks_unless_the_form_has_set_it_for_the_reporter(self, sender: str, is_asked: bool) -> None:
        raw = load_payload("issues.labeled", label={"name": "bug"}, sender__login=sender)
        assert route_event("issues", raw) == TriageTask(
            number=1, trigger=Trigger.LABELED, actor=sender, is_asked=is_asked, added_label="bug"
        )


class TestComments:
    @pytest.mark.parametrize("by", ["Codertocat", "stranger"])
    def test_the_command(self, by: str) -> None:
        task = route_event("issue_comment", comment("/triage", by))
        assert task == TriageTask(number=1, trigger=Trigger.COMMAND, actor=by, is_asked=True)

    def test_quiet(self) -> None:
        assert route_event("issue_comment", comment("/triage quiet", "mona")) == QuietTask(number=1, actor="mona")

    def test_wrong(self) -> None:
        task = QuietTask(number=1, actor="mona", wrong=["place"])
        assert route_event("issue_comment", comment("/triage wrong place", "mona")) == task

    @pytest.mark.parametrize("word", ["close", "merge", "approved", "apply"])
    def test_unknown_commands_are_named(self, word: str) -> None:
        message = reason("issue_comment", comment(f"/triage {word} x"))
        assert message == f"`/triage {word}` is not a known command; {KNOWN}"

    @pytest.mark.parametrize("word", ["fix", "approve", "revise", "reject"])
    def test_commands_of_the_fix_flow_are_for_another_workflow(self, word: str) -> None:
        message = reason("issue_comment", comment(f"/triage {word} 0123456789ab x"))
        assert message == f"`/triage {word}` needs the workflow examples/workflows/fix.yml (docs/fix.md)."

    def test_invalid_words_are_not_repeated(self) -> None:
        message = reason("issue_comment", comment("/triage @everyone<script>"))
        assert message == "What follows `/triage` is not a known command; " + KNOWN

    def test_comments_of_others(self) -> None:
        message = reason("issue_comment", comment("me too", "stranger"))
        assert message == "The comment holds no command and is not by the issue's author."

    def test_the_author_answers(self) -> None:
        task = route_event("issue_comment", comment("It is version 3."))
        assert task == TriageTask(number=1, trigger=Trigger.REPORTER_ANSWER, actor="Codertocat")

    def test_our_own_comment(self) -> None:
        assert reason("issue_comment", comment(f"{COMMENT_MARKER} x -->")) == "The comment is this action's own."

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"comment__user__type": "Bot"}, "Comments by bots are not answered."),
            ({"sender__type": "Bot"}, "Comments by bots are not answered."),
            ({"comment__user": None, "sender": None}, "The comment's author is unknown."),
            ({"sender__login": "other"}, "The comment was not sent by its author."),
            ({"issue__locked": True}, "The issue is locked."),
            ({"issue__pull_request": {"url": "x"}}, "Pull requests and comments on them are not triaged."),
        ],
    )
    def test_comments_that_never_count(self, changes: dict[str, Any], message: str) -> None:
        assert (
            reason("issue_comment", load_payload("issue_comment.created", comment__body="/triage", **changes))
            == message
        )

    def test_a_person_may_command_on_a_bots_issue_but_the_bot_may_not_answer(self) -> None:
        assert isinstance(route_event("issue_comment", comment("/triage", "mona", issue__user__type="Bot")), TriageTask)
        assert reason("issue_comment", comment("hm", issue__user__type="Bot")) == BOT_WORDS

    def test_commands_must_match_the_input(self) -> None:
        with pytest.raises(BadInput, match=r"^issue-number: 9"):
            route_event("issue_comment", comment("/triage quiet"), 9)


class TestEventsWithoutIssue:
    @pytest.mark.parametrize("event", ["workflow_dispatch", "repository_dispatch", "schedule"])
    def test_the_input_names_the_issue(self, event: str) -> None:
        is_asked = event == "workflow_dispatch"  # the others may have no person behind them
        assert route_event(event, {}, 12) == TriageTask(number=12, trigger=Trigger.BY_NUMBER, is_asked=is_asked)
        with pytest.raises(BadInput, match=rf"^issue-number: needed under {event}"):
            route_event(event, {})

    def test_a_bot_may_request_by_number(self) -> None:
        task = route_event("workflow_dispatch", load_payload("workflow_dispatch", sender__type="Bot"), 3)
        assert isinstance(task, TriageTask)


class TestBadPayloads:
    @each_row(
        ("changes", "field"),
        [
            ({"issue": None}, "issue"),
            ({"issue": []}, "issue"),
            ({"issue__number": "1"}, "issue.number"),
            ({"issue__number": True}, "issue.number"),
            ({"issue__number": 0}, "issue.number"),
            ({"issue__number": 10**30}, "issue.number"),
            ({"issue__locked": "yes"}, "issue.locked"),
            ({"issue__user": "mona"}, "issue.user"),
            ({"issue__user__login": 5}, "issue.user.login"),
            ({"sender": 1}, "sender"),
            ({"label": "bug"}, "label"),
            ({"action": ["opened"]}, "action"),
            ({"changes": "x"}, "changes"),
        ],
    )
    def test_a_wrong_type_is_reported_by_field_on_one_line(self, changes: dict[str, Any], field: str) -> None:
        with pytest.raises(BadInput) as caught:
            route_event("issues", load_payload("issues.opened", **changes))
        message = str(caught.value)
        assert message.startswith(f"The event payload cannot be read: {field} is missing")
        assert "\n" not in message

    def test_a_comment_event_without_comment(self) -> None:
        with pytest.raises(BadInput, match="comment is missing"):
            route_event("issue_comment", load_payload("issues.opened", action="created"))


def test_the_issue_of_the_event_has_its_labels() -> None:
    parsed = parse_event(load_payload("issues.labeled", issue__labels=[{"name": "bug"}, "odd", {"name": 5}, None]))
    assert parsed is not None
    assert parsed.issue.labels == ["bug"]
    bare = parse_event(load_payload("issues.opened", issue__labels="odd"))
    assert bare is not None
    assert bare.issue.labels == []
