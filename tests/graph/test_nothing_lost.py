"""What a sloppy model found is used, and what nobody found is not in the report."""

import asyncio
import time
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, fake_services
from triage.agents.agent import to_agent_finding
from triage.agents.prompts import WANTED, format_findings, is_question
from triage.base.errors import InvalidAnswer, ModelUnavailable
from triage.domain.code import Span
from triage.domain.findings import CritiqueFinding, TriageReport
from triage.domain.issue import Attachment, Issue
from triage.domain.report import RunReport
from triage.domain.run import Limits, Status
from triage.graph.run_graph import run_graph
from triage.model.output_formats import structured_format

TWO = {
    "src/parse.py": "def parse(text):\n    return text\n",
    "src/a/util.py": "def load(path):\n    return open(path)\n",
    "src/b/util.py": "def store(path):\n    return path.write()\n",
}
GONE = ModelUnavailable("no answer")


TRACE = 'Traceback (most recent call last):\n  File "src/a/util.py", line 2, in load\n    open(path)\nOSError: gone\n'


async def test_what_is_attached_is_read_and_what_is_not_is_said():
    attached = [Attachment(text=TRACE), Attachment(problem="GitHub answered 404")]
    asked: list[Issue] = []

    def read(issue: Issue) -> list[Attachment]:
        asked.append(issue)
        return attached

    issue = factories.issue()
    services = fake_services(codebase=FakeCodebase(TWO), read_attachments=read)
    report = await run_graph(issue, factories.repository(), services, asyncio.Event())
    assert asked == [issue]
    assert "An attachment was not read: GitHub answered 404." in report.notes
    assert "src/a/util.py" in [one.path for one in report.suspects]
    assert report.status is Status.COMPLETE


async def test_attachments_that_take_too_long_cost_only_themselves():
    def read(issue: Issue) -> list[Attachment]:
        time.sleep(5)
        return []

    limits = Limits(run_seconds=10)
    services = fake_services(codebase=FakeCodebase(TWO), read_attachments=read, limits=limits)
    report = await run_graph(factories.issue(), factories.repository(), services, asyncio.Event())
    assert "An attachment was not read: GitHub took too long." in report.notes
    assert report.suspects


async def run(files: dict[str, str] | None = None, **answers: Any) -> tuple[RunReport, FakeModel]:
    model = FakeModel(factories.answers(**answers))
    services = fake_services(codebase=FakeCodebase(files or TWO), model=model)
    return await run_graph(factories.issue(), factories.repository(), services, asyncio.Event()), model


def found(path: str, **changes: Any) -> Any:
    given = {"start_line": None, "end_line": None, "symbol": None, "quote": None} | changes
    return factories.codebase(relevant_files=[factories.relevant(path, **given)])


def asked(model: FakeModel, name: str) -> int:
    return sum(one == name for one, _ in model.asked)


@pytest.mark.parametrize(
    "cited",
    [
        found("util.py", symbol="store"),
        found("util.py", quote="return path.write()"),
        factories.codebase(relevant_files=[], root_cause_location="src/b/util.py: `store` writes to a text"),
    ],
    ids=["by its symbol", "by its quote", "by the root cause"],
)
async def test_a_bare_name_of_a_file_is_resolved(cited: Any):
    report, model = await run(CodebaseFinding=cited)
    assert report.suspects[0].path == "src/b/util.py"
    assert asked(model, "CodebaseFinding") == 1


async def test_a_bare_name_is_that_of_the_file_that_was_shown():
    files = {"src/a/util.py": TWO["src/a/util.py"]}
    codebase = FakeCodebase(TWO)
    codebase.get_retriever = FakeCodebase(files).get_retriever  # type: ignore[method-assign]
    model = FakeModel(factories.answers(CodebaseFinding=found("util.py")))
    services = fake_services(codebase=codebase, model=model)
    report = await run_graph(factories.issue(), factories.repository(), services, asyncio.Event())
    assert report.suspects[0].path == "src/a/util.py"


async def test_a_file_that_does_not_exist_is_asked_about_once():
    report, model = await run(CodebaseFinding=[found("gone.py"), found("src/b/util.py")])
    assert report.suspects[0].path == "src/b/util.py"
    second = [prompt for name, prompt in model.asked if name == "CodebaseFinding"][1]
    assert "none of the cited files exists" in second[-1].text
    _, model = await run(CodebaseFinding=[found("gone.py"), found("gone.py"), found("src/b/util.py")])
    assert asked(model, "CodebaseFinding") == 2, "then rules answer"


async def test_an_answer_without_files_is_declined_and_rules_name_the_frame():
    report, _ = await run(
        factories.FILES, CodebaseFinding=factories.codebase(relevant_files=[], root_cause_location=None)
    )
    assert report.suspects[0].path == "src/parse.py"
    assert [one.agent_name for one in report.declined] == ["codebase_search"]


async def test_files_that_a_model_names_in_prose_are_taken():
    prose = "I read it.\nThe fault is in util.py, no: src/b/util.py:2 writes to a text.\nsrc/parse.py only calls it."
    report, _ = await run(CodebaseFinding=InvalidAnswer("no JSON object", prose))
    assert [suspect.path for suspect in report.suspects] == ["src/b/util.py", "src/parse.py"]
    assert report.suspects[0].span == Span(path="src/b/util.py", start=2, end=2)
    assert report.suspects[1].reason == "src/parse.py only calls it."
    assert any("the files that its text names were taken" in note for note in report.notes)
    report, _ = await run(factories.FILES, CodebaseFinding=InvalidAnswer("no JSON object", "I cannot say."))
    assert any("answered by rules" in note for note in report.notes)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ({}, "`parse` passes it on."),
        ({"CodebaseFinding": GONE}, "`parse` passes it on."),
        ({"CodebaseFinding": GONE, "CritiqueFinding": GONE}, ""),
        ({"why": "Lorem ipsum dolor sit amet.", "CodebaseFinding": GONE}, ""),
    ],
    ids=["by models", "by the critic", "by nobody", "prose of noise"],
)
async def test_only_what_a_model_found_says_why(answers: dict[str, Any], why: str):
    report, model = await run(factories.FILES, **{"why": "`parse` passes it on."} | answers)
    assert report.why == why
    if "CritiqueFinding" in answers:
        assert asked(model, "TriageReport") == 1


async def test_wrong_lines_in_prose_are_left_out():
    text = (
        "Why: `parse` at src/parse.py:2 passes it on, and `Store.save` (src/store.py:2) loses it at src/store.py:700."
    )
    report, _ = await run(factories.FILES, why=text)
    assert report.why == text.removeprefix("Why: ").replace(":700", "")
    assert [place.text for place in report.named_places] == ["src/parse.py:2", "src/store.py:2", "src/store.py"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("`parse` is wrong.", "Check: the day first.", "Enter 31 April."), "Check: the day first."),
        (("`parse` is wrong. Fix idea: Count the days.", "", "Enter 31 April."), "Count the days."),
    ],
    ids=["a label in a field", "a field inside of another"],
)
async def test_a_paragraph_of_the_writer_is_that_of_its_field(fields: tuple[str, str, str], expected: str):
    named = dict(zip(("why", "fix_idea", "check"), fields, strict=True))
    report, _ = await run(factories.FILES, TriageReport=factories.report(**named))
    assert report.why == "`parse` is wrong."
    assert report.fix_idea in (expected, expected.removeprefix("Check: "))
    assert report.check == "Enter 31 April."


async def test_the_writer_asks_the_reporter_nothing():
    question = {"kind": "version", "question": "Which version?", "reason": ""}
    steps = ["Fix it", "Check. Add tests", "Test the callers: `load` and `save`"]
    report, _ = await run(TriageReport=factories.report(missing_information=[question], next_steps=steps))
    assert report.missing_information == []
    assert report.next_steps == steps[2:]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Which version?", True),
        ("Please attach the log.", True),
        ("Please escape the backslash.", False),
        ("The version is missing.", False),
        ("Why?", False),
    ],
)
def test_what_is_put_to_the_reporter_asks_something(text: str, asks: bool):
    assert is_question(text) is asks


def test_a_model_is_asked_only_for_what_nobody_else_knows():
    sent = {one: structured_format(one).build_arguments(set()) for one in (TriageReport, CritiqueFinding)}
    schemas = {one: arguments["response_format"]["json_schema"]["schema"] for one, arguments in sent.items()}
    assert set(schemas[TriageReport]["required"]) == {
        *("severity", "severity_reason", "summary", "why", "fix_idea", "check", "root_cause", "next_steps"),
        *("title", "labels", "assignee", "effort"),
    }
    assert "AffectedFile" not in schemas[TriageReport]["$defs"]
    assert not {"agent_name", "skills"} & schemas[CritiqueFinding]["properties"].keys()


async def test_a_prompt_ends_with_what_is_wanted_and_later_ones_are_without_long_blocks():
    dump = "```\n" + "setting = value\n" * 200 + "```"
    model = FakeModel(factories.answers())
    services = fake_services(codebase=FakeCodebase(factories.FILES), model=model)
    issue = factories.issue(body=f"{factories.TRACEBACK}\n{dump}")
    await run_graph(issue, factories.repository(), services, asyncio.Event())
    asked = ((name, prompt if isinstance(prompt, list) else prompt.to_messages()) for name, prompt in model.asked)
    prompts = {name: messages[-1].text for name, messages in asked}
    assert all(text.endswith(WANTED) for text in prompts.values())
    assert dump in prompts["InvestigatorFinding"]
    for name in ("CritiqueFinding", "TriageReport"):
        assert "characters left out" in prompts[name]
        assert prompts[name].count("setting = value") < 100


def test_a_second_answer_of_an_agent_has_its_number():
    finding = to_agent_finding(factories.codebase(), "in parse", [])
    assert "codebase_search, answer 2 (" in format_findings([finding, finding])
