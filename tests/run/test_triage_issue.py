"""From a task to what is written, over fakes."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from testing import factories
from testing.fakes import NOW, FakeCodebase, FakeGitHub, FakeModel, fake_services
from tests.run.run_harness import BY_HAND, OPENED, RunHarness, our_comment
from triage.agents.services import Services
from triage.base.errors import CannotPublish, GitHubUnavailable, IssueMoved, NoSuchIssue, PermissionMissing
from triage.domain.code import Place, Span
from triage.domain.effect import COMMENT_MARKER, LabelsMode, Policy, SuggestionOptions
from triage.domain.issue import IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.run import Status
from triage.domain.task import IssueTask, QuietTask, TriageTask, Trigger
from triage.find.files.project_files import ProjectFiles
from triage.run.may_run.event import Event
from triage.run.triage_issue import run_task
from triage.say.hidden_state import parse_state


def test_an_opened_issue_gets_one_comment_a_summary_outputs_and_a_report():
    harness = RunHarness()
    ending = harness.run(OPENED)

    assert ending is Status.COMPLETE
    ((number, body),) = harness.github.posted
    assert number == 7
    assert body.startswith(COMMENT_MARKER)
    assert "src/parse.py" in body
    assert "blob/0123456789abcdef0123456789abcdef01234567/src/parse.py" in body, "pinned to the commit"
    assert "### What ran" in harness.output.summaries[0]
    assert harness.output.values["status"] == "complete"
    assert json.loads(harness.output.values["suspect-files"])[0] == "src/parse.py"
    assert harness.output.values["comment-url"].endswith("issuecomment-1001")
    assert harness.output.values["report-file"] == ".triage/report.json"
    assert json.loads(harness.output.reports[0])["schema_version"] == "2"


def test_a_second_run_edits_our_comment_when_something_changed():
    harness = RunHarness()
    harness.run(OPENED)
    harness.set_thread(
        our_comment(harness.github.posted[0][1]), body="It is Store.save that loses items", title="Store.save loses"
    )
    harness.run(BY_HAND)
    assert [comment for comment, _ in harness.github.edited] == [55]
    assert len(harness.github.posted) == 1


FORM = "name: Bug\nlabels: [from-form, bug]\nbody:\n- {type: dropdown, attributes: {label: Component}}\n"
PLACE = Place(sign="trace", rule="frame", span=Span(path="src/parse.py", start=1, end=2), line=1)
RULES = "dates: src/parse.py\nfrom-form: src/**\n"


@pytest.mark.parametrize("with_model", [False, True])
@pytest.mark.parametrize("labels", ["apply", "suggest", "off"])
def test_an_issue_is_routed_by_its_form_and_the_projects_rules(labels: LabelsMode, with_model: bool):
    codebase = FakeCodebase(factories.FILES, project=ProjectFiles(forms=[FORM], label_rules=RULES), best_place=PLACE)
    model = FakeModel(factories.answers(TicketDraft=factories.ticket(labels=["other"]))) if with_model else None
    names = ["area: cli", "bug", "dates", "from-form", "other"]
    harness = RunHarness(
        policy=Policy(comment="never", labels=labels), services=fake_services(codebase=codebase, model=model)
    )
    harness.github.existing_labels = [*names, "release-dates"]
    harness.github.suggestion_options = SuggestionOptions(labels=names)
    harness.set_thread(body=f"### Component\n\nCLI\n\n### Log\n\n{factories.TRACEBACK}")
    harness.run(OPENED)
    expected = ["area: cli", "dates", *(["other"] if with_model else [])]
    assert harness.github.labelled == ([(7, expected)] if labels == "apply" else [])
    reasons = {one.name: one.rationale for _, one in harness.github.suggested}
    assert list(reasons) == (expected if labels == "suggest" else [])
    if reasons:
        assert reasons["area: cli"] == "The form's field Component says it."
        assert reasons["dates"] == "'.github/labeler.yml' maps 'src/parse.py' to it."


SKIPPED: list[tuple[str, IssueTask, dict[str, Any], str]] = [
    ("locked", OPENED, {"locked": True}, "locked"),
    ("pull request by number", BY_HAND, {"is_pull_request": True}, "Pull requests"),
    ("bot", OPENED, {"author_is_bot": True}, "bot"),
    ("stranger's command", TriageTask(number=7, trigger=Trigger.COMMAND, actor="stranger"), {}, "write access"),
    ("answer to nothing", TriageTask(number=7, trigger=Trigger.REPORTER_ANSWER, actor="reporter"), {}, "No question"),
    ("quiet by a stranger", QuietTask(number=7, actor="stranger"), {}, "write access"),
]


@pytest.mark.parametrize(("task", "changes", "reason"), [c[1:] for c in SKIPPED], ids=[c[0] for c in SKIPPED])
def test_skips_say_why_and_write_nothing(task: IssueTask, changes: dict[str, Any], reason: str):
    harness = RunHarness()
    harness.set_thread(**changes)
    assert harness.run(task) is Status.SKIPPED
    assert harness.writes == 0
    assert reason in harness.output.summaries[0]
    assert harness.output.values["status"] == "skipped"


def test_a_moved_issue_is_skipped():
    harness = RunHarness(github=FakeGitHub(errors={"fetch_issue": IssueMoved("Issue #7 has moved.")}))
    assert harness.run(OPENED) is Status.SKIPPED


def test_an_issue_that_does_not_exist_is_the_roots_to_tell():
    with pytest.raises(NoSuchIssue):
        RunHarness(github=FakeGitHub()).run(OPENED)


def test_a_read_only_token_leaves_the_report_in_the_summary_and_fails():
    denied = PermissionMissing("The token may not comment: add `issues: write` to `permissions:`.")
    harness = RunHarness()
    harness.github.errors = {"post_comment": denied}
    ending = harness.run(OPENED)
    assert ending is Status.FAILED
    assert harness.output.values["status"] == "failed"
    assert ("error", str(denied)) in harness.output.annotations
    assert "src/parse.py" in harness.output.summaries[0]


@pytest.mark.parametrize("error", [None, CannotPublish("A label could not be written: GitHub answered 422.")])
def test_the_comment_says_and_remembers_only_labels_that_were_written(error: Exception | None):
    harness = RunHarness(policy=Policy(comment="always", labels="apply"))
    harness.use_model()
    harness.github.errors = {"add_labels": error} if error else {}
    assert harness.run(OPENED) is (Status.DEGRADED if error else Status.COMPLETE)
    ((_, body),) = harness.github.posted
    state = parse_state(body)
    assert state is not None
    assert ("Labels chosen: `bug`" in body, bool(state.label_hashes)) == (not error, not error)
    assert harness.output.annotations.count(("warning", f"Not everything could be written: {error}")) == bool(error)


def test_labels_that_cannot_be_read_are_no_reason_to_stop():
    harness = RunHarness()
    harness.github.errors = {"list_labels": CannotPublish("GitHub answered 500.")}
    assert harness.run(OPENED) is Status.COMPLETE


def test_github_down_is_a_triage_of_what_the_event_told():
    harness = RunHarness(
        github=FakeGitHub(errors={"fetch_issue": GitHubUnavailable("Issue #7 could not be read: GitHub answered 502.")})
    )
    harness.event = Event(issue=factories.issue())
    ending = harness.run(OPENED)
    assert ending is Status.DEGRADED
    assert harness.writes == 0, "whether we commented already is not known"
    assert "src/parse.py" in harness.output.summaries[0]
    assert "GitHub answered 502" in harness.output.summaries[0]
    assert harness.output.values["status"] == "degraded"


@pytest.mark.parametrize("task", [BY_HAND, TriageTask(number=7, trigger=Trigger.COMMAND, actor="x")])
def test_github_down_without_a_text_or_a_right_to_ask_says_so(task: IssueTask):
    harness = RunHarness(github=FakeGitHub(errors={"fetch_issue": GitHubUnavailable("GitHub answered 502.")}))
    harness.event = Event(issue=factories.issue()) if task is not BY_HAND else None
    assert harness.run(task) is Status.DEGRADED
    assert "GitHub answered 502" in harness.output.summaries[0]
    assert "src/parse.py" not in harness.output.summaries[0]


def test_quiet_silences_until_somebody_asks():
    harness = RunHarness(github=FakeGitHub(issues={7: factories.issue()}, roles={"keeper": "write"}))
    harness.run(OPENED)
    harness.set_thread(our_comment(harness.github.posted[0][1]))
    harness.run(QuietTask(number=7, actor="keeper"))
    quiet = harness.github.edited[0][1]

    harness.set_thread(our_comment(quiet), body="Quite another text")
    assert harness.run(TriageTask(number=7, trigger=Trigger.EDITED)) is Status.SKIPPED

    command = IssueComment(author="keeper", body="/triage", created_at=NOW, comment_id=60)
    harness.set_thread(our_comment(quiet), command, body="Quite another text")
    assert harness.run(TriageTask(number=7, trigger=Trigger.COMMAND, actor="keeper")) is Status.COMPLETE
    assert "quiet" not in harness.github.edited[-1][1].partition("-->")[2]


def test_what_is_wrong_goes_and_is_not_said_again():
    harness = RunHarness(github=FakeGitHub(issues={7: factories.issue()}, roles={"keeper": "triage"}))
    harness.run(OPENED)
    said = harness.github.posted[0][1]
    assert "Files that fit the report" in said
    harness.set_thread(our_comment(said))
    harness.run(QuietTask(number=7, actor="keeper", wrong=["place"]))
    withdrawn = harness.github.edited[-1][1]
    assert "_Withdrawn, as somebody called it wrong: place._" in withdrawn
    assert "Files" not in withdrawn
    harness.set_thread(our_comment(withdrawn), body=f"{factories.issue().body}\n\nMore text.")
    assert harness.run(TriageTask(number=7, trigger=Trigger.EDITED)) is Status.COMPLETE
    assert harness.github.edited[-1][1].partition("-->")[2].startswith("\n_Withdrawn")


def test_wrong_without_a_comment_writes_none():
    harness = RunHarness(github=FakeGitHub(issues={7: factories.issue()}, roles={"keeper": "triage"}))
    assert harness.run(QuietTask(number=7, actor="keeper", wrong=["place"])) is Status.SKIPPED
    assert harness.writes == 0


def test_services_are_made_only_for_work():
    def never(**_: bool) -> Services:
        raise AssertionError("nothing is to be done")

    harness = RunHarness(github=FakeGitHub(issues={7: factories.issue(locked=True)}))
    asyncio.run(run_task(BY_HAND, replace(harness.build_context(), open_services=never)))


def run_with(harness: RunHarness, **settings: str) -> Status:
    context = replace(harness.build_context(), config=ProjectConfig(**settings))
    return asyncio.run(run_task(OPENED, context))


@pytest.mark.parametrize(("labels", "status"), [(["no-triage"], Status.SKIPPED), (["triage"], Status.DEGRADED)])
def test_the_events_labels_decide_where_github_cannot_be_asked(labels: list[str], status: Status):
    github = FakeGitHub(errors={"fetch_issue": GitHubUnavailable("GitHub is down.")})
    harness = RunHarness(github=github, event=Event(issue=factories.issue(labels=labels)))
    assert run_with(harness, opt_in_label="triage", opt_out_label="no-triage") is status
