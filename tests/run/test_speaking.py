"""Whether the issue gets a comment, over fakes."""

import json
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeCodebase, fake_services
from tests.run.run_harness import OPENED, RunHarness, our_comment
from triage.domain.code import Place, Span
from triage.domain.effect import Policy
from triage.domain.issue import ParsedIssue
from triage.domain.run import Status
from triage.domain.skill import Skill, SkillConditions, Skills
from triage.domain.task import TriageTask, Trigger
from triage.find.files.project_files import ProjectFiles
from triage.say.decide import NOTHING_TO_SAY

EDITED = TriageTask(number=7, trigger=Trigger.EDITED, actor="reporter")
VAGUE = "It crashes when I save."
QUESTION = "How can I configure the parser so that it accepts both formats? I read the docs and could not find it."
PLACE = Place(sign="trace", rule="frame", span=Span(path="src/parse.py", start=1, end=2), line=1, probability=0.9)


class Finding(FakeCodebase):
    """It finds a place for every issue."""

    def find_places(self, parsed: ParsedIssue) -> list[Place]:
        return [PLACE]


def harness(codebase: FakeCodebase | None = None, **policy: Any) -> RunHarness:
    services = fake_services(codebase=codebase or FakeCodebase(factories.FILES))
    return RunHarness(policy=Policy(**policy), services=services)


def report(run: RunHarness) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(run.output.reports[-1])
    return written


def test_nothing_sure_is_no_comment_but_one_line_of_the_log_and_the_whole_summary():
    run = harness()
    assert run.run(OPENED) is Status.COMPLETE
    assert run.writes == 0
    assert run.progress.lines.count(NOTHING_TO_SAY) == 1
    assert any("Comment: none" in line for line in run.progress.lines)
    assert (report(run)["speaks"], report(run)["comment"]) == (None, None)
    assert "Nothing in this report leads to a place in the code." in run.output.summaries[0]
    assert "src/parse.py" in run.output.summaries[0]
    assert "No comment was written" in run.output.summaries[0]
    assert run.output.values["comment-url"] == ""


def test_a_place_that_is_found_is_told():
    run = harness(Finding(factories.FILES))
    run.run(OPENED)
    ((_, body),) = run.github.posted
    assert NOTHING_TO_SAY not in run.progress.lines
    assert report(run)["speaks"] == "found"
    assert body.rpartition("-->\n")[2] == report(run)["comment"] + "\n"
    assert "No comment was written" not in run.output.summaries[0]


@pytest.mark.parametrize("trigger", [Trigger.BY_NUMBER, Trigger.COMMAND])
@pytest.mark.parametrize("is_asked", [False, True])
def test_a_person_who_asks_is_answered(trigger: Trigger, is_asked: bool):
    run = harness()
    run.run(TriageTask(number=7, trigger=trigger, actor="reporter", is_asked=is_asked))
    assert len(run.github.posted) == is_asked
    assert report(run)["speaks"] == ("asked" if is_asked else None)


@pytest.mark.parametrize(("mode", "posted"), [("auto", 0), ("always", 1), ("never", 0)])
def test_who_asks_how_something_works_gets_no_questions_back(mode: Any, posted: int):
    run = harness(comment=mode)
    run.set_thread(title="How to configure the parser?", body=QUESTION)
    run.run(OPENED)
    assert (report(run)["kind"], report(run)["missing_information"]) == ("question", [])
    assert len(run.github.posted) == posted
    assert (NOTHING_TO_SAY in run.progress.lines) is (mode == "auto")


def test_a_comment_does_not_become_stale():
    run = harness()
    run.set_thread(title="Saving crashes", body=VAGUE)
    run.run(OPENED)
    run.set_thread(our_comment(run.github.posted[0][1]), title="How to configure the parser?", body=QUESTION)
    run.run(EDITED)
    ((comment, body),) = run.github.edited
    assert (comment, report(run)["speaks"]) == (55, "update")
    assert "This reads as a question" in body
    assert "Could you add this" not in body
    assert len(run.github.posted) == 1


REPORTED = {
    "title": "Path traversal in parse()",
    "body": "An attacker can read `/etc/passwd`.\n\n" + factories.TRACEBACK,
}


def test_a_comment_with_places_becomes_a_redirect():
    run = harness(Finding(factories.FILES, project=ProjectFiles(security_policy="SECURITY.md")))
    run.run(OPENED)
    assert "src/parse.py" in run.github.posted[0][1]
    run.set_thread(our_comment(run.github.posted[0][1]), **REPORTED)
    run.run(EDITED)
    ((_, body),) = run.github.edited
    visible = body.partition("\n")[2]
    assert visible.startswith("This may be a security report.")
    assert "src/parse.py" not in visible + run.output.summaries[-1] + run.output.reports[-1]
    assert "/blob/0123456789abcdef0123456789abcdef01234567/SECURITY.md)" in visible
    assert (report(run)["speaks"], report(run)["suspects"], report(run)["found"]) == ("security", [], None)
    run.set_thread(our_comment(body), **REPORTED)
    run.run(TriageTask(number=7, trigger=Trigger.BY_NUMBER, is_asked=True))
    assert len(run.github.edited) == 1, "the same again"


@pytest.mark.parametrize(
    ("trigger", "actor", "posted"),
    [
        (Trigger.OPENED, "reporter", 0),
        (Trigger.COMMAND, "reporter", 0),
        (Trigger.COMMAND, "mona", 1),
        (Trigger.BY_NUMBER, "mona", 1),
    ],
)
def test_a_skill_that_requires_approval_waits_for_somebody_with_write_access(
    trigger: Trigger, actor: str, posted: int
) -> None:
    skill = Skill(
        id="dates",
        name="Dates",
        path=".github/triage/skills/dates.md",
        description="d",
        requires_approval=True,
        when=SkillConditions(words=["parser", "crashes", "ValueError", "date"]),
    )
    run = harness(Finding(factories.FILES, project=ProjectFiles(skills=Skills(skills=[skill]))), labels="apply")
    run.github.roles = {"mona": "write", "reporter": "read"}
    run.run(TriageTask(number=7, trigger=trigger, actor=actor, is_asked=trigger is not Trigger.OPENED))
    assert len(run.github.posted) == posted
    assert posted or not run.github.labelled
    waits = "The skill `dates` requires approval"
    assert (waits in " ".join(report(run)["notes"])) == (not posted)
