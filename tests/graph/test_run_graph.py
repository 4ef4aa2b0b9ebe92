"""Whole runs of the graph over fakes: stories that all end in a report."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from testing import factories
from testing.fakes import FakeClock, FakeCodebase, FakeModel, FakeToolset, fake_services
from triage.agents.codebase_search import SHOWN_SECTIONS
from triage.agents.services import Services
from triage.domain.code import CodeHistory, ExecutedCode, IndexFacts, Place, QuotedLine, Span
from triage.domain.findings import CitedPlace
from triage.domain.issue import IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.domain.run import Limits, Outcome, Status
from triage.find.files.project_files import ProjectFiles
from triage.graph.run_graph import run_graph
from triage.safety.code_owners import CodeOwners

PAGES = '{"results": [{"title": "Dates", "url": "https://docs.test/date", "content": "day is out of range"}]}'


async def run(given: Services, **changes: Any) -> RunReport:
    return await run_graph(factories.issue(**changes), factories.repository(), given, asyncio.Event())


def with_model(prepared: dict[str, Any] | None = None, **changes: Any) -> Services:
    model = FakeModel(factories.answers() if prepared is None else prepared)
    return fake_services(**{"codebase": FakeCodebase(factories.FILES), "model": model, **changes})


def outcomes(report: RunReport) -> list[tuple[str, str, str]]:
    return [(step.step, step.engine, step.outcome.value) for step in report.steps]


async def test_by_rules_all_agents_answer_and_the_run_is_complete():
    report = await run(
        fake_services(codebase=FakeCodebase(factories.FILES, project=ProjectFiles(owners=CodeOwners("* @keeper"))))
    )

    assert outcomes(report) == [
        ("read_and_index", "rules", "SUCCESS"),
        ("investigator", "rules", "SUCCESS"),
        ("codebase_search", "rules", "SUCCESS"),
        ("critic", "rules", "SUCCESS"),
        ("writer", "rules", "SUCCESS"),
    ]
    assert report.status is Status.COMPLETE
    assert report.engine == "rules"
    assert report.suspects[0].path == "src/parse.py"
    assert report.ticket.assignee == "keeper"
    assert report.usage.tokens == 0
    assert any("No language model was used" in note for note in report.notes)
    assert any("tavily-api-key" in note for note in report.notes)


async def test_searches_run_in_one_superstep():
    both = asyncio.Barrier(2)

    async def meet(_: Any) -> Any:
        await asyncio.wait_for(both.wait(), 30)
        return factories.codebase()

    class Meeting(FakeToolset):
        async def run(self, message: Any) -> Any:
            await asyncio.wait_for(both.wait(), 30)
            return await super().run(message)

    call = {"name": "web_search", "args": {"query": "q"}, "id": "1", "type": "tool_call"}
    model = FakeModel(
        factories.answers(
            CodebaseFinding=meet, tools=AIMessage("", tool_calls=[call]), WebSearchFinding=factories.web()
        )
    )
    report = await run(fake_services(codebase=FakeCodebase(factories.FILES), model=model, web_tools=Meeting(PAGES)))
    assert report.status is Status.COMPLETE
    assert {step.iteration for step in report.steps if step.step in ("codebase_search", "web_search")} == {2}


async def test_where_a_model_declines_rules_answer():
    declined = factories.investigation(error="I cannot read this")
    report = await run(with_model(factories.answers(InvestigatorFinding=declined)))

    [step] = [step for step in report.steps if step.step == "investigator"]
    assert (step.engine, step.outcome, step.error) == (
        "rules",
        Outcome.SUCCESS,
        "no usable answer: the agent declined to answer",
    )
    assert [finding.agent_name for finding in report.findings].count("investigator") == 1
    assert "I cannot read this" not in report.model_dump_json(), "notes are annotated and logged"


async def test_rejection_opens_two_more_rounds_at_most():
    never = [factories.critique("CHALLENGED", gaps=[f"where is `word_{i}` set?"]) for i in range(5)]
    given = with_model(factories.answers(CritiqueFinding=never))
    report = await run(given)

    rounds = [step.round for step in report.steps if step.step == "codebase_search"]
    assert rounds == [1, 2, 3]
    assert report.verdict == "CHALLENGED"
    assert report.status is Status.COMPLETE
    assert isinstance(given.model, FakeModel)
    searches = [
        "\n".join(message.text for message in prompt) for name, prompt in given.model.asked if name == "CodebaseFinding"
    ]
    assert "word_0" not in searches[0]
    assert "word_0" in searches[1]
    assert report.verdict == "CHALLENGED"


async def test_of_a_long_thread_prompt_and_report_say_how_much_was_not_read():
    flood = [IssueComment(author="eve", body=f"c{number} ".ljust(60_000, "x")) for number in range(30)]
    command = IssueComment(author="kim", body="/triage the pear")
    given = with_model()
    report = await run(given, thread=[*flood, command])

    assert isinstance(given.model, FakeModel)
    prompt = next(message.text for name, messages in given.model.asked for message in messages[1:])
    assert "[... 26 older comments left out ...]" in prompt
    assert "kim:\n  /triage the pear" in prompt
    assert "eve: c25" not in prompt
    assert "The thread is long: 26 older comments of other people were not read." in report.notes


LEAD = Place(
    sign="trace", rule="frame", span=Span(path="src/parse.py", start=1, end=3), line=3, symbol="parse", probability=0.98
)


async def test_a_run_that_is_cut_before_any_answer_names_where_the_trace_leads():
    codebase = FakeCodebase(factories.FILES, best_place=LEAD)
    report = await run(fake_services(codebase=codebase, limits=Limits(iterations=0)))
    assert report.best_place == LEAD


@pytest.mark.parametrize("is_here", [True, False])
async def test_of_code_that_is_gone_nobody_asks_who_changed_its_lines(is_here: bool):
    asked: list[Span | None] = []

    class Asked(FakeCodebase):
        def look_up_history(self, *args: Any) -> CodeHistory:
            asked.append(args[3])
            return super().look_up_history(*args)

    place = LEAD.model_copy(update={"is_here": is_here, "function": "parse_all"})
    await run(fake_services(codebase=Asked(factories.FILES, best_place=place)))
    assert asked == [place.span if is_here else None]


def with_pages(*documented: str, kind: str = "question", why: str = "", **changes: Any) -> Services:
    found = factories.codebase(places=[], why=why, documented=[CitedPlace(cite=one, reason="") for one in documented])
    prepared = factories.answers(InvestigatorFinding=factories.investigation(kind=kind), CodebaseFinding=found)
    return with_model(prepared, codebase=FakeCodebase({**factories.FILES, "docs/parse.md": PAGE}), **changes)


PAGE = "# Parsing\n\nA date is read by `parse`.\nA time is read by `parse_time`.\n"
LINE = "1:3"  # the sections are shown first
ASKS = {"title": "How do I parse?", "body": "Which function reads a date?"}


@pytest.mark.parametrize("kind", ["question", "feature_request"])
async def test_a_model_that_quotes_the_documentation_answers(kind: str):
    given = with_pages(LINE, kind=kind)
    report = await run(given, **ASKS)
    assert [step.step for step in report.steps] == ["read_and_index", "investigator", "codebase_search", "writer"]
    assert report.status is Status.COMPLETE
    assert report.documented == QuotedLine(
        span=Span(path="docs/parse.md", start=3, end=3), quote="A date is read by `parse`."
    )
    assert [(one.rule, one.speaks) for one in report.statements] == [("documented", True)]
    assert [one.heading for one in report.documentation] == ["Parsing"]
    assert isinstance(given.model, FakeModel)
    prompt = next(prompt for name, prompt in given.model.asked if name == "CodebaseFinding")
    assert "[1] docs/parse.md 1-4 Parsing" in str(prompt)
    assert "3| A date is read by `parse`." in str(prompt)


@pytest.mark.parametrize(
    "documented",
    [[], ["1:90"], ["9:1"], ["2:1"], ["docs/parse.md:3"]],
)
async def test_nothing_is_said_without_a_line_that_stands_there(documented: list[str]):
    report = await run(with_pages(*documented), **ASKS)
    assert (report.documented, report.statements) == (None, [])
    assert report.status is Status.COMPLETE


async def test_of_many_pages_the_first_are_shown_and_the_headings_of_the_others():
    pages = {f"docs/{number}.md": PAGE.replace("Parsing", f"Part {number}") for number in range(9)}
    given = with_pages(LINE)
    given = replace(given, codebase=FakeCodebase({**factories.FILES, **pages}))
    await run(given, **ASKS)
    assert isinstance(given.model, FakeModel)
    prompt = str(next(prompt for name, prompt in given.model.asked if name == "CodebaseFinding"))
    documentation = prompt.partition("<<documentation")[2].partition("<</documentation")[0]
    assert documentation.count("A time is read by") == SHOWN_SECTIONS
    assert "(Further sections, not shown: docs/" in documentation
    assert all(f"Part {number}" in documentation for number in range(9))


CODE = "2:2"  # a passage


async def test_a_line_of_code_answers_with_the_words_for_it():
    silent = await run(with_pages(CODE), **ASKS)
    assert (silent.documented, silent.statements) == (None, [])
    report = await run(with_pages(CODE, why="No: `parse` reads one date [2:2], and nothing reads two of them."), **ASKS)
    assert [(one.rule, one.speaks) for one in report.statements] == [("documented", True)]
    assert report.documented is not None
    assert report.documented.span.path == "src/parse.py"
    assert report.why.startswith("No: `parse` reads one date (`parse.py:2`)")


async def test_a_project_may_wish_no_documentation():
    report = await run(with_pages(LINE, config=ProjectConfig(documentation=False)), **ASKS)
    assert [step.step for step in report.steps] == ["read_and_index", "investigator", "writer"]
    assert (report.documented, report.documentation) == (None, [])


async def test_a_bug_in_an_agent_is_a_failed_step():
    class Broken(FakeCodebase):
        def search(self, query: Any, limit: int) -> Any:
            raise ZeroDivisionError("words from outside")

    report = await run(fake_services(codebase=Broken(factories.FILES)))
    assert ("codebase_search", "rules", "FAILED") in outcomes(report)
    assert report.status is Status.DEGRADED
    assert report.verdict == "CHALLENGED"
    assert "words from outside" not in report.model_dump_json()


async def test_an_index_that_fails_leaves_a_triage_of_the_text():
    def explode() -> None:
        raise OSError("disk")

    report = await run(fake_services(codebase=FakeCodebase(factories.FILES, on_index=explode)))
    assert report.status is Status.DEGRADED
    assert any("was not indexed" in note for note in report.notes)
    assert report.summary


async def test_a_checkout_without_history_says_what_is_missing():
    class Shallow(FakeCodebase):
        def index(self, executed: ExecutedCode | None = None, named: Sequence[str] = ()) -> IndexFacts:
            return super().index(executed, named).model_copy(update={"shallow": True})

    report = await run(fake_services(codebase=Shallow(factories.FILES)))
    assert any("only a part of the history" in note for note in report.notes)
    assert report.status is Status.COMPLETE


async def test_files_that_a_trace_names_are_read_if_there_is_no_time_for_the_others():
    released, asked = threading.Event(), list[Sequence[str]]()

    class Large(FakeCodebase):
        def index(self, executed: ExecutedCode | None = None, named: Sequence[str] = ()) -> IndexFacts:
            asked.append(named)
            if not named:
                released.wait(30)
            return super().index(executed, named)

    place = Place(sign="trace", rule="frame", span=Span(path="src/parse.py", start=1, end=2), line=1, probability=0.9)
    limits = Limits(run_seconds=2.0)
    report = await run(fake_services(codebase=Large(factories.FILES, best_place=place), limits=limits))
    released.set()
    assert asked[0] == ()
    assert any(path.endswith("src/parse.py") for path in asked[1])
    assert outcomes(report)[0] == ("read_and_index", "rules", "SUCCESS")
    assert report.steps[0].error == "no answer within 1 seconds"
    assert report.best_place == place
    assert report.status is Status.DEGRADED


@pytest.mark.parametrize(
    ("run_url", "note"),
    [
        ("https://github.com/a/b/actions/runs/1", "Is there an `actions/checkout` step before this one?"),
        ("", "No source files were found in this folder."),
    ],
)
async def test_an_empty_checkout_is_named(run_url: str, note: str):
    services = fake_services(codebase=FakeCodebase({}))
    report = await run(replace(services, identity=services.identity.model_copy(update={"run_url": run_url})))
    assert report.status is Status.DEGRADED
    assert [one for one in report.notes if note in one]


async def test_a_hanging_agent_is_cut_at_its_timeout():
    async def hang(_: Any) -> Any:
        await asyncio.sleep(60)

    given = with_model(factories.answers(CritiqueFinding=hang), limits=Limits(agent_seconds=1.0))
    report = await run(given)
    assert ("critic", "rules", "SUCCESS") in outcomes(report)
    assert "Critic: no answer within 1 seconds; answered by rules instead." in report.notes


async def test_cancelled_run_reports_what_is_known():
    cancelled = asyncio.Event()

    async def stop(_: Any) -> Any:
        cancelled.set()
        await asyncio.sleep(60)

    given = with_model(factories.answers(CodebaseFinding=stop))
    report = await asyncio.wait_for(run_graph(factories.issue(), factories.repository(), given, cancelled), 5)
    assert report.status is Status.DEGRADED
    assert report.notes[0] == "The run was cancelled."
    cut = report.steps[-1]
    assert (cut.step, cut.outcome, cut.error) == ("codebase_search", Outcome.TIMED_OUT, "cut off with the run")
    assert report.summary == "ValueError: day is out of range for month"


async def test_a_bug_between_the_nodes_still_ends_in_a_report(monkeypatch: pytest.MonkeyPatch):
    def explode(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("words from outside")

    monkeypatch.setattr("triage.graph.nodes.choose_next", explode)
    report = await run(fake_services(codebase=FakeCodebase(factories.FILES)))
    assert report.status is Status.DEGRADED
    assert report.notes[0] == "The run ended early, by a bug of this action (ZeroDivisionError)."


async def test_a_state_that_cannot_be_reported_still_ends_in_a_report(monkeypatch: pytest.MonkeyPatch):
    def decide_nothing_found(report: RunReport) -> list[Any]:
        if report.suspects:
            raise ZeroDivisionError("words from outside")
        return []

    monkeypatch.setattr("triage.graph.build_report.decide", decide_nothing_found)
    report = await run(fake_services(codebase=FakeCodebase(factories.FILES)))
    assert (report.status, report.suspects, report.statements) == (Status.DEGRADED, [], [])
    assert report.issue.number == 7


async def test_a_node_that_ended_before_the_run_was_cut_is_kept():
    """The code was searched already when the run is cancelled during the web search beside it."""
    cancelled = asyncio.Event()

    class Slow(FakeToolset):
        async def run(self, message: Any) -> Any:
            await asyncio.sleep(0.2)
            cancelled.set()
            await asyncio.sleep(60)

    given = fake_services(codebase=FakeCodebase(factories.FILES), web_tools=Slow(PAGES))
    report = await asyncio.wait_for(run_graph(factories.issue(), factories.repository(), given, cancelled), 5)
    assert report.suspects[0].path == "src/parse.py"
    assert "codebase_search" in [step.step for step in report.steps]


async def test_without_time_for_a_model_every_agent_answers_by_rules():
    clock = FakeClock()
    given = with_model(clock=clock, limits=Limits(run_seconds=10))
    clock.seconds = 9.5
    report = await run(given)
    errors = {step.step: step.error for step in report.steps}
    assert errors["investigator"] == errors["codebase_search"] == "no time left for a model"
    assert {step.engine for step in report.steps} == {"rules"}
    assert report.suspects[0].path == "src/parse.py"
    assert report.status is Status.DEGRADED


async def test_the_writer_has_its_time_kept():
    clock = FakeClock()

    def slow(_: Any) -> Any:
        clock.seconds = 85.0
        return factories.investigation()

    report = await run(
        with_model(factories.answers(InvestigatorFinding=slow), clock=clock, limits=Limits(run_seconds=100))
    )
    errors = {step.step: step.error for step in report.steps}
    assert errors["codebase_search"] == "no time left for a model"
    assert ("writer", "model", "SUCCESS") in outcomes(report)


async def test_comments_of_the_issue_template_are_not_warned_of():
    codebase = FakeCodebase(
        factories.FILES, project=ProjectFiles(forms=["<!-- Please search first. -->\n## What happened?\n"])
    )
    body = f"<!-- Please search first. -->\n{factories.TRACEBACK}\n<!-- SECRET ORDER -->"
    report = await run(fake_services(codebase=codebase), body=body)
    assert report.hidden_fragments == 1


async def test_the_thread_reaches_a_model_as_people_see_it():
    thread = [
        IssueComment(author="helper", by_member=True, body="Same here <!-- SECRET ORDER --> on Windows\u200b"),
        IssueComment(author="robot[bot]", body="BOT WORDS", by_bot=True),
        IssueComment(author="reporter", body="I use 1.4"),
        IssueComment(author="maintainer", body="OUR OWN COMMENT", ours=True),
    ]
    given = with_model()
    report = await run(given, thread=thread)
    assert isinstance(given.model, FakeModel)
    prompt = "".join(message.text for message in given.model.asked[0][1])
    assert "\nhelper (maintainer):\n  Same here" in prompt
    assert prompt.count("I use 1.4") == 1
    for hidden in ("SECRET ORDER", "\u200b", "BOT WORDS", "OUR OWN COMMENT"):
        assert hidden not in prompt
    assert report.hidden_fragments == 2


@pytest.mark.parametrize(("is_cited", "verdict"), [(True, "CONFIRMED"), (False, "UNCERTAIN")])
async def test_a_verdict_is_confirmed_only_with_a_verified_citation(is_cited: bool, verdict: str):
    confirmed = factories.critique("CONFIRMED")
    cite = "1:1-3" if is_cited else "1:90-95"
    codebase = factories.codebase(places=[CitedPlace(cite=cite, reason="")])
    model = FakeModel(factories.answers(CodebaseFinding=codebase, CritiqueFinding=confirmed))
    report = await run(fake_services(codebase=FakeCodebase(factories.FILES), model=model))
    assert report.verdict == verdict
    assert report.critique is not None
    assert report.critique.ready_for_report is is_cited
    assert ("No reference into the code could be verified." in report.critique.gaps) is not is_cited


async def test_what_only_a_model_calls_a_question_is_searched_by_rules():
    asked = factories.investigation(kind="question")
    given = with_model(factories.answers(InvestigatorFinding=asked))
    report = await run(given, title="Dates", body="`parse` and leap days.")
    assert report.kind is None, "it has shown nothing for it"
    assert [(step.step, step.engine) for step in report.steps[1:]] == [
        ("investigator", "model"),
        ("codebase_search", "rules"),
        ("writer", "model"),
    ]
