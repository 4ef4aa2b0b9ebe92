"""What a run without a comment leaves, and what the next run on the issue makes of it."""

import json
from datetime import timedelta
from typing import Any

import pytest

from testing import factories
from testing.fakes import NOW, FakeCodebase, FakeGitHub, FakeModel, fake_services
from tests.jobs.run_harness import OPENED, RunHarness, our_comment
from triage.comment.hidden_state import CommentState, render_state
from triage.domain.effect import Policy, SuggestionOptions
from triage.domain.run import Status
from triage.domain.task import QuietTask, TriageTask, Trigger

EDITED = TriageTask(number=7, trigger=Trigger.EDITED, actor="reporter")
LATER = NOW + timedelta(hours=1)


def make_harness(memory: str = "", policy: Any = "auto", at: Any = LATER, **issue: Any) -> RunHarness:
    """A run of an event; `issue` are changes of the issue since the first one."""
    fields = {"snapshot_time": at} | issue
    harness = RunHarness(
        github=FakeGitHub(issues={7: factories.issue(**fields)}),
        policy=Policy(comment=policy),
        memory=memory,
        max_model_runs=50,
    )
    harness.event_issue = factories.issue(**fields)
    return harness


@pytest.fixture
def memory() -> str:
    """Of the run on the issue when it was opened, which had nothing to say."""
    first = make_harness(at=NOW)
    assert first.run(OPENED).status is Status.COMPLETE
    assert first.writes == 0
    return first.output.memory


def test_an_edit_that_changes_no_word_needs_no_run(memory: str):
    assert make_harness(memory).run(EDITED).status is Status.SKIPPED
    assert make_harness(memory, body="It has other words now.").run(EDITED).status is Status.COMPLETE


def test_agents_know_what_was_suspected(memory: str):
    harness = make_harness(memory, body="It has other words now.")
    model = harness.use_model()
    harness.run(EDITED)
    assert suspected(model) == json.loads(memory)["state"]["suspects"] != []


def suspected(model: FakeModel) -> list[str]:
    text = model.asked[0][1][-1].text
    found = text.partition("Suspected in the earlier report on this issue:\n")[2].partition("\n<<")[0]
    return [line.removeprefix("- ") for line in found.splitlines() if line]


def test_a_model_answers_edits_that_are_counted(memory: str):
    engines = []
    for number in range(6):
        harness = make_harness(memory, at=LATER + timedelta(minutes=number), body=f"It has {number} words now.")
        harness.use_model()
        assert harness.run(EDITED).status is Status.COMPLETE
        engines.append(harness.output.values["engine"])
        memory = harness.output.memory
    assert engines == [*["model"] * 4, "rules", "rules"], "the first one was when the issue was opened"


def test_what_nobody_has_read_is_not_remembered(memory: str):
    state = json.loads(memory)["state"]
    assert not state["asked"]
    assert not state["content"]
    assert state["named"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"issue": 8},
        {"at": int(LATER.timestamp())},
        {"at": "yesterday"},
        {"more": 1},
        {"state": {"suspects": ["../../etc/passwd"]}},
    ],
)
def test_what_is_forged_or_of_this_very_event_does_not_count(memory: str, change: dict[str, Any]):
    harness = make_harness(json.dumps(json.loads(memory) | change))
    assert harness.run(EDITED).status is Status.COMPLETE


def test_a_comment_knows_better(memory: str):
    harness = make_harness(memory)
    harness.set_thread(our_comment(render_state(CommentState(text_hash="0" * 16))), snapshot_time=LATER)
    assert harness.run(EDITED).status is Status.COMPLETE
    assert harness.output.memory == ""


def test_what_was_suggested_is_not_suggested_again():
    first, second = make_harness(policy="never", at=NOW), make_harness(policy="never", body="It has other words now.")
    for harness, task in ((first, OPENED), (second, EDITED)):
        answers = factories.answers()
        harness.services = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(answers))
        harness.github.suggestion_options = SuggestionOptions(types=["Bug"])
        if task is EDITED:
            harness.memory = first.output.memory
        harness.run(task)
    assert [suggestion.name for _, suggestion in first.github.suggested] == ["Bug"]
    assert second.github.suggested == []
    assert second.github.asked_options, "it did ask"


def test_quiet_is_remembered_where_no_comment_may_say_it(memory: str):
    command = make_harness(memory, policy="never")
    command.github.roles["octocat"] = "write"
    assert command.run(QuietTask(number=7, actor="octocat")).status is Status.SKIPPED
    assert command.writes == 0
    state = json.loads(command.output.memory)["state"]
    assert state["quiet"]
    assert state["suspects"] == json.loads(memory)["state"]["suspects"]
    hour = timedelta(hours=1)
    edit = make_harness(command.output.memory, policy="never", at=LATER + hour, body="It has other words now.")
    assert edit.run(EDITED).status is Status.SKIPPED
    woken = make_harness(command.output.memory, policy="never", at=LATER + hour)
    assert woken.run(TriageTask(number=7, trigger=Trigger.REQUESTED, actor="octocat")).status is Status.COMPLETE
    assert not json.loads(woken.output.memory)["state"]["quiet"]


def test_a_dry_run_leaves_nothing():
    harness = make_harness(at=NOW)
    harness.policy = Policy(dry_run=True)
    harness.run(OPENED)
    assert harness.output.memory == ""
