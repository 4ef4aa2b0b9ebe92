"""More issues in a day than a model is asked for."""

from typing import Any

import pytest

from testing import factories
from testing.fakes import NOW, FakeGitHub
from tests.run.run_harness import BY_HAND, OPENED, RunHarness
from triage.base.errors import CannotPublish, GitHubUnavailable, PermissionMissing, RateLimited
from triage.domain.effect import Policy
from triage.domain.issue import IssueComment
from triage.domain.run import Status
from triage.domain.task import IssueTask, TriageTask, Trigger
from triage.run.may_run.event import Event

COMMAND = TriageTask(number=7, trigger=Trigger.COMMAND, actor="keeper")
EDITED = TriageTask(number=7, trigger=Trigger.EDITED, actor="reporter")
WORDS = "`max-model-runs-per-day`"


def make_harness(opened: int, most: int | None = 50, **github: Any) -> RunHarness:
    """This issue is number 7 and among those that were opened."""
    known = FakeGitHub(issues={7: factories.issue()}, recent_issues=range(7, 7 + opened), **github)
    there = RunHarness(github=known, max_model_runs=most)
    there.use_model()
    return there


def engine(harness: RunHarness, task: IssueTask = OPENED) -> str:
    assert harness.run(task) is Status.COMPLETE
    return harness.output.values["engine"]


@pytest.mark.parametrize(
    ("opened", "most", "answers"),
    [(1, 50, "model"), (50, 50, "model"), (51, 50, "rules"), (500, 50, "rules"), (1, 0, "rules"), (0, 0, "rules")],
)
def test_beyond_the_count_rules_answer_and_say_so(opened: int, most: int, answers: str):
    harness = make_harness(opened, most)
    assert engine(harness) == answers
    assert len(harness.github.posted) == 1
    for text in (harness.output.summaries[0], "\n".join(harness.progress.lines)):
        assert (WORDS in text) is (answers == "rules")
    assert harness.output.values["status"] == "complete", "the workflow's author chose that"


@pytest.mark.parametrize(("role", "answers"), [("write", "model"), ("admin", "model"), ("read", "rules")])
def test_who_has_write_access_and_asks_in_words_is_not_held_back(role: str, answers: str):
    harness = make_harness(99, roles={"keeper": role})
    keeper = IssueComment(author="keeper", body="/triage", created_at=NOW, edited_at=NOW, comment_id=60)
    harness.set_thread(keeper, author="keeper")
    harness.event = Event(issue=factories.issue(snapshot_time=NOW), comment=keeper)
    assert engine(harness, COMMAND) == answers


def test_a_request_by_number_is_not_held_back_and_not_counted():
    assert engine(make_harness(99, errors={"list_recent_issues": AssertionError("asked")}), BY_HAND) == "model"


@pytest.mark.parametrize(
    ("error", "answers"),
    [
        (RateLimited("It could not be read: the token's rate limit is used up."), "rules"),
        (GitHubUnavailable("It could not be read: GitHub answered 502."), "model"),
        (PermissionMissing("The token may not read it."), "model"),
        (CannotPublish("What is this?"), "model"),
    ],
)
def test_what_cannot_be_counted(error: Exception, answers: str):
    harness = make_harness(99, errors={"list_recent_issues": error})
    assert engine(harness) == answers
    assert WORDS in "\n".join(harness.progress.lines)
    assert (WORDS in harness.output.summaries[0]) is (answers == "rules")


@pytest.mark.parametrize(
    ("error", "answers"),
    [(RateLimited("the rate limit is used up."), "rules"), (GitHubUnavailable("GitHub answered 502."), "model")],
)
def test_a_limit_that_lets_nothing_be_read_is_no_way_around(error: Exception, answers: str):
    harness = make_harness(1, errors={"fetch_issue": error})
    harness.event = Event(issue=factories.issue(snapshot_time=NOW))
    assert harness.run(OPENED) is Status.DEGRADED
    assert harness.output.values["engine"] == answers
    assert harness.writes == 0


@pytest.mark.parametrize(
    ("mode", "task", "answers"),
    [
        ("auto", OPENED, "model"),
        ("auto", EDITED, "rules"),
        ("auto", TriageTask(number=7, trigger=Trigger.REOPENED), "rules"),
        ("auto", BY_HAND, "model"),
        ("never", EDITED, "rules"),
        ("always", EDITED, "model"),
    ],
)
def test_edits_that_no_comment_counts_ask_no_model(mode: Any, task: IssueTask, answers: str):
    harness = make_harness(1)
    harness.policy = Policy(comment=mode)
    assert engine(harness, task) == answers
    assert ("counts the runs on this issue" in harness.output.summaries[0]) is (answers == "rules")
