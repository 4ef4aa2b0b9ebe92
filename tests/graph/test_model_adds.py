"""A model adds statements, and never takes one away: whatever it answers, and whatever fails."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from testing import factories
from testing.each_row import each_row
from testing.fakes import COMMIT, FakeCodebase, FakeModel, fake_services
from triage.agents.prompts import WANTED, is_question
from triage.base.errors import InvalidAnswer, ModelUnavailable
from triage.domain.code import CodeHistory, FileChange, LaterFix, Place, Span
from triage.domain.findings import (
    CitedPlace,
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    MissingInformation,
    TicketDraft,
)
from triage.domain.report import RunReport
from triage.domain.statement import Cause, OpenQuestions
from triage.graph.run_graph import run_graph

GONE = ModelUnavailable("no answer")
LEAD = Place(
    sign="trace", rule="frame", span=Span(path="src/parse.py", start=1, end=3), line=3, symbol="parse", probability=0.9
)
FIX = LaterFix(
    version="v1", commit=FileChange(commit=COMMIT, date="2026-10-05", subject="Fix leap days"), is_named_by_report=True
)
ISSUES = {
    "a trace": factories.issue(),
    "nothing to go by": factories.issue(title="It does not work", body="It fails since today."),
    "a wish": factories.issue(title="Please add a parse of weeks", body="Would be nice.", labels=["enhancement"]),
    "a question": factories.issue(title="How do I parse a day?", body="Is there a way?"),
    "a library": factories.issue(
        title="Crash", body=factories.TRACEBACK.replace("src/parse.py", "/usr/lib/python3/site-packages/dateutil/p.py")
    ),
    "a vulnerability": factories.issue(title="SQL injection in parse", body="CVE-2026-1: anybody can drop tables."),
}


async def run(name: str, model: FakeModel | None, history: CodeHistory, *places: Place) -> RunReport:
    codebase = FakeCodebase(factories.FILES, best_place=next(iter(places), None), history=history)
    services = fake_services(codebase=codebase, model=model, engine="model" if model else "rules")
    return await run_graph(ISSUES[name], factories.repository(), services, asyncio.Event())


words = st.sampled_from(
    [
        *("", "The cause is `parse` [1:2], which takes a day that the year does not have.", "`parse` `Store` [2] [9]"),
        *("SEMINAL for security hole", "Which version do you run?", "SKILL_SELECT:x", "x" * 300, "[1:1-9999]"),
    ]
)
numbers = st.sampled_from([0.0, 0.2, 0.35, 0.65, 0.9, 1.0])
explanations = words | st.just(factories.WHY)
errors = st.sampled_from([*[None] * 9, "I cannot."])
answers = st.fixed_dictionaries(
    {
        "InvestigatorFinding": st.just(GONE)
        | st.builds(
            InvestigatorFinding,
            reasoning=words,
            hypothesis=words,
            keywords_for_search=st.lists(words, max_size=3),
            kind=st.sampled_from([None, "bug", "feature_request", "question", "not_actionable", "ci"]),
            missing_information=st.lists(
                st.builds(MissingInformation, kind=st.sampled_from(["version", "other"]), question=words, reason=words),
                max_size=3,
            ),
            confidence=numbers,
            summary=words,
            error=errors,
        ),
        "CodebaseFinding": st.sampled_from([GONE, InvalidAnswer("no JSON object")])
        | st.builds(
            CodebaseFinding,
            reasoning=words,
            places=st.lists(
                st.builds(CitedPlace, cite=st.sampled_from(["1:1-3", "1:2", "2", "1:900", "7", "?"]), reason=words),
                max_size=4,
            ),
            why=explanations,
            fix_idea=words,
            check=words,
            severity=st.sampled_from([None, "LOW", "CRITICAL"]),
            severity_reason=words,
            confidence=numbers,
            summary=words,
            error=errors,
        ),
        "CritiqueFinding": st.just(GONE)
        | st.builds(
            CritiqueFinding,
            reasoning=words,
            verdict=st.sampled_from(["CONFIRMED", "UNCERTAIN", "CHALLENGED"]),
            gaps=st.lists(words, max_size=2),
            questions_for_reporter=st.lists(words, max_size=2),
            revised_hypothesis=st.none() | words,
            confidence=numbers,
            summary=words,
            error=errors,
        ),
        "TicketDraft": st.just(GONE)
        | st.builds(TicketDraft, labels=st.lists(words), assignee=st.none() | words, effort=words, title=words),
    }
)


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # each example is two whole runs: too slow to shrink
)
@given(
    answers,
    st.sampled_from(sorted(ISSUES)),
    st.sampled_from([CodeHistory(), CodeHistory(later_fix=FIX)]),
    st.sampled_from([(), (LEAD,)]),
)
def test_what_rules_say_is_said_whatever_a_model_answers(
    prepared: dict[str, Any], name: str, history: CodeHistory, places: tuple[Place, ...]
):
    model = FakeModel({name: [answer] * 9 for name, answer in prepared.items()})
    by_rules = asyncio.run(run(name, None, history, *places))
    by_model = asyncio.run(run(name, model, history, *places))
    said = by_model.statements
    is_explained = any(isinstance(one, Cause) and one.speaks for one in said)
    for one in by_rules.statements:
        if isinstance(one, OpenQuestions):
            asked = [question for other in said if isinstance(other, OpenQuestions) for question in other.questions]
            assert is_explained or [question for question in one.questions if question not in asked] == []
        elif one.speaks:
            assert one in said, "a fact stays"
    added = [one for one in said if one.speaks and one not in by_rules.statements]
    assert all(isinstance(one, Cause | OpenQuestions) for one in added)
    assert (by_model.security, by_model.best_place) == (by_rules.security, by_rules.best_place)
    if by_rules.kind is not None:
        assert by_model.kind == by_rules.kind
    search = prepared["CodebaseFinding"]
    critique = prepared["CritiqueFinding"]
    if isinstance(search, BaseException) or not any(one.cite in ("1:1-3", "1:2", "2") for one in search.places):
        assert (by_model.why, by_model.severity, by_model.kind) == ("", by_rules.severity, by_rules.kind)
        assert by_model.summary == by_rules.summary
        assert added == []
    if by_model.verdict == "CHALLENGED" and isinstance(critique, CritiqueFinding):
        assert (by_model.why, by_model.severity) == ("", by_rules.severity)


async def run_with(**changes: Any) -> tuple[RunReport, FakeModel]:
    model = FakeModel(factories.answers(**changes))
    services = fake_services(codebase=FakeCodebase(factories.FILES), model=model)
    return await run_graph(factories.issue(), factories.repository(), services, asyncio.Event()), model


async def test_rules_answer_where_a_model_cites_nothing_that_it_was_shown():
    invented = factories.codebase(places=[CitedPlace(cite="src/gone.py:3", reason="?")])
    report, model = await run_with(CodebaseFinding=invented)
    assert [name for name, _ in model.asked].count("CodebaseFinding") == 1
    assert (
        "Codebase search: no usable answer: none of the citations has a number of what was shown; answered by rules instead."
        in (report.notes)
    )


async def test_an_answer_without_places_says_nothing_and_rules_name_the_files():
    report, _ = await run_with(CodebaseFinding=factories.codebase(places=[], why=""))
    assert (report.suspects, report.why) == ([], "")
    assert [file.path for file in report.likely_files] == ["src/parse.py"]


@pytest.mark.parametrize("name", ["CodebaseFinding", "CritiqueFinding"])
async def test_without_a_search_there_is_no_cause_and_without_a_critic_there_is_one(name: str):
    report, _ = await run_with(**{name: GONE})
    causes = [one for one in report.statements if isinstance(one, Cause)]
    assert len(causes) == (name != "CodebaseFinding")


@each_row(
    ("search", "asked"),
    [
        ({}, 1),
        ({"confidence": 0.7}, 0),
        ({"confidence": 0.9, "places": [CitedPlace(cite="1:1-3", reason=""), CitedPlace(cite="9", reason="")]}, 1),
    ],
)
async def test_a_critic_is_paid_where_it_can_change_something(search: dict[str, Any], asked: int):
    report, model = await run_with(CodebaseFinding=factories.codebase(**search))
    assert [name for name, _ in model.asked].count("CritiqueFinding") == asked
    assert report.verdict == "CONFIRMED"


@pytest.mark.parametrize("search", [{"confidence": 0.39}, {"why": ""}, {"why": "Lorem ipsum dolor sit amet [1:2]."}])
async def test_nobody_is_paid_to_judge_what_is_not_said(search: dict[str, Any]):
    report, model = await run_with(CodebaseFinding=factories.codebase(**search))
    assert "CritiqueFinding" not in [name for name, _ in model.asked]
    assert not any(one.speaks for one in report.statements if isinstance(one, Cause))


async def test_a_critic_is_asked_where_the_issue_leads_to_another_file():
    lead = LEAD.model_copy(update={"span": Span(path="src/store.py", start=1, end=3)})
    model = FakeModel(factories.answers(CodebaseFinding=factories.codebase(confidence=0.9)))
    await run("a trace", model, CodeHistory(), lead)
    prompt = next(prompt for name, prompt in model.asked if name == "CritiqueFinding")
    assert "The issue leads to src/store.py (trace), which is not named." in prompt[1].text


async def test_without_labels_nobody_is_paid_for_a_ticket():
    model = FakeModel(factories.answers())
    services = fake_services(codebase=FakeCodebase(factories.FILES), model=model)
    repository = factories.repository(labels=[])
    report = await run_graph(factories.issue(), repository, services, asyncio.Event())
    assert "TicketDraft" not in [name for name, _ in model.asked]
    assert report.ticket.title == factories.issue().title


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


async def test_a_prompt_ends_with_what_is_wanted_and_later_ones_are_without_long_blocks():
    dump = "```\n" + "setting = value\n" * 200 + "```"
    model = FakeModel(factories.answers())
    services = fake_services(codebase=FakeCodebase(factories.FILES), model=model)
    issue = factories.issue(body=f"{factories.TRACEBACK}\n{dump}")
    await run_graph(issue, factories.repository(), services, asyncio.Event())
    prompts = {name: messages[-1].text for name, messages in model.asked}
    assert all(text.endswith(WANTED) for text in prompts.values())
    assert dump in prompts["InvestigatorFinding"]
    for name in ("CritiqueFinding", "TicketDraft"):
        assert "characters left out" in prompts[name]
        assert prompts[name].count("setting = value") < 100
    marks = {
        line.removesuffix(">>")[-16:] for text in prompts.values() for line in text.split("\n") if "<<issue" in line
    }
    assert len(marks) == 1, "the same text is the same in each prompt of a run"
