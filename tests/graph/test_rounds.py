"""What a further round is opened for, and what it is given."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeToolset, fake_services
from triage.agents.services import Services
from triage.domain.past_issues import PastIssue, SimilarIssue
from triage.domain.report import RunReport
from triage.graph.run_graph import run_graph

PAGES = '{"results": [{"title": "Dates", "url": "https://docs.test/date", "content": "day is out of range"}]}'
GAP = "is `leap_year` checked?"
REASONING = "parse passes the day on unchecked, and date refuses it"


async def run(given: Services, **changes: Any) -> RunReport:
    return await run_graph(factories.issue(**changes), factories.repository(), given, asyncio.Event())


def with_model(**changes: Any) -> tuple[Services, FakeModel]:
    services = {name: changes.pop(name) for name in ("web_tools", "code_tools") if name in changes}
    model = FakeModel(factories.answers(**changes))
    return fake_services(codebase=FakeCodebase(factories.FILES), model=model, **services), model


def prompts(model: FakeModel, name: str) -> list[str]:
    return [
        prompt.to_string() if hasattr(prompt, "to_string") else "\n".join(message.text for message in prompt)
        for asked, prompt in model.asked
        if asked == name
    ]


async def test_the_critic_reads_the_cited_lines_and_the_reasoning():
    given, model = with_model(CodebaseFinding=factories.codebase(reasoning=REASONING))
    await run(given)
    [prompt] = prompts(model, "CritiqueFinding")
    assert "(cited: 1-3)" in prompt
    assert "3|     return date(*parts)" in prompt
    assert REASONING in prompt


async def test_a_further_round_continues_from_what_is_known():
    critiques = [factories.critique("UNCERTAIN", gaps=[GAP], reasoning="the caller is not shown"), factories.critique()]
    given, model = with_model(CritiqueFinding=critiques)
    report = await run(given)
    assert report.steps[-1].round == 2
    first, second = prompts(model, "CodebaseFinding")
    shared = first.partition("<</passages")[0]
    assert second.startswith(shared), "a provider has the begin in its cache"
    for known in ("<<earlier suspects", "<<earlier explanation", "the caller is not shown", GAP):
        assert known in second
        assert known not in first


async def test_what_was_looked_up_is_known_in_the_next_round():
    read = {"name": "read_lines", "args": {"path": "src/parse.py", "start": 1, "end": 3}, "id": "1"}
    turns = [AIMessage("", tool_calls=[read]), factories.codebase(), factories.codebase()]
    given, model = with_model(
        tools=turns,
        CritiqueFinding=[factories.critique("UNCERTAIN", gaps=[GAP]), factories.critique()],
        code_tools=FakeToolset("1| LINES OF THE FILE"),
    )
    await run(given)
    first, _, second = prompts(model, "tools")
    assert "LINES OF THE FILE" not in first
    assert "LINES OF THE FILE" in second
    assert prompts(model, "CodebaseFinding") == [], "the answer came in a turn, so nothing is asked again"


async def test_a_gap_that_only_the_reporter_can_close_is_a_question_and_opens_no_round():
    question = "Which day did you enter?"
    critique = factories.critique("UNCERTAIN", gaps=[], questions_for_reporter=[question])
    given, _ = with_model(CritiqueFinding=critique)
    report = await run(given)
    assert report.steps[-1].round == 1
    assert question in [missing.question for missing in report.missing_information]


async def test_a_gap_that_three_rounds_leave_open_is_a_question_to_a_person():
    gaps = ["where is `leap_year` set?", "`leap_year` of `calendar_of`?", "no `leap_year` in `day_count` either"]
    critiques = [factories.critique("UNCERTAIN", gaps=[gap]) for gap in gaps]
    given, _ = with_model(CritiqueFinding=critiques)
    report = await run(given)
    assert report.steps[-1].round == 3
    question = f"Three searches of the code did not answer this: {gaps[2]} Can you help with it?"
    assert report.missing_information[0].question == question
    assert report.decisions[-1].reason == "3 rounds left the same gap open: it stays open"


@pytest.mark.parametrize("second", [["where is `day_count` set?"], []])
async def test_another_gap_begins_to_count_anew(second: list[str]):
    gaps = [["where is `leap_year` set?"], second, ["`leap_year` of `calendar_of`?"]]
    critiques = [factories.critique("UNCERTAIN", gaps=one) for one in gaps]
    given, _ = with_model(CritiqueFinding=critiques)
    report = await run(given)
    assert not [missing for missing in report.missing_information if "Three searches" in missing.question]


async def test_a_confirmed_cause_asks_the_reporter_nothing():
    given, _ = with_model(
        CritiqueFinding=factories.critique("CONFIRMED", questions_for_reporter=["Which day?"]),
    )
    assert (await run(given)).missing_information == []


async def test_a_feature_request_gets_the_places_where_it_would_go():
    asked = factories.investigation(kind="feature_request")
    given, model = with_model(InvestigatorFinding=asked)
    report = await run(
        replace(given, searches_for_features=True), title="Allow other calendars in parse", body="It would be nice."
    )
    assert [step.step for step in report.steps] == ["read_and_index", "investigator", "codebase_search", "writer"]
    assert [suspect.path for suspect in report.suspects] == ["src/parse.py"]
    assert (report.verdict, report.evidence) == (None, [])
    assert [(one.rule, one.speaks) for one in report.statements] == [("analysis", False)]
    assert report.why, "what each place needs, for who asks"
    assert "<<kind of issue" in prompts(model, "CodebaseFinding")[0]


@pytest.mark.parametrize(
    ("label", "is_asked", "is_documented", "asked"),
    [
        ("enhancement", True, False, ["InvestigatorFinding", "CodebaseFinding"]),
        ("enhancement", False, True, ["InvestigatorFinding", "CodebaseFinding"]),
        ("enhancement", False, False, []),
        ("question", False, True, ["InvestigatorFinding", "CodebaseFinding"]),
        ("question", True, False, []),
        ("documentation", True, True, []),
    ],
)
async def test_nobody_pays_for_what_is_not_shown(label: str, is_asked: bool, is_documented: bool, asked: list[str]):
    given, model = with_model()
    pages = {"docs/parse.md": "# Parsing\n\n`parse` takes calendars.\n"} if is_documented else {}
    given = replace(given, searches_for_features=is_asked, codebase=FakeCodebase(factories.FILES | pages))
    await run(given, title="Other calendars in parse", body="`parse` and calendars.", labels=[label])
    assert [name for name, _ in model.asked if name != "TicketDraft"] == asked


@pytest.mark.parametrize(("run_url", "asked"), [("", True), ("https://github.com/octo/shop/actions/runs/1", False)])
async def test_nobody_pays_for_a_security_report_that_a_job_keeps_to_itself(run_url: str, asked: bool):
    given, model = with_model()
    given = replace(given, identity=given.identity.model_copy(update={"run_url": run_url}))
    report = await run(given, title="Security vulnerability in parse", body=factories.TRACEBACK)
    assert report.security
    assert bool(model.asked) is asked


@pytest.mark.parametrize(("state", "asked"), [("open", []), ("closed", ["InvestigatorFinding", "CodebaseFinding"])])
@pytest.mark.parametrize("label", ["enhancement", "question"])
async def test_nobody_pays_for_an_answer_beside_an_open_issue_that_is_the_same(
    label: str, state: str, asked: list[str]
):
    given, model = with_model()
    same = SimilarIssue(number=3, title="Other calendars", state=state, score=0.9, is_probably_same=True)
    files = factories.FILES | {"docs/parse.md": "# Parsing\n\n`parse` takes calendars.\n"}
    past = PastIssue(number=3, title="Other calendars", created_at=datetime(2026, 1, 3, tzinfo=UTC))
    codebase = FakeCodebase(files, similar=[same])
    await run(
        replace(given, codebase=codebase, iterate_past_issues=lambda _: iter([[past]])),
        title="Other calendars in parse",
        body="`parse` and calendars.",
        labels=[label],
    )
    assert [name for name, _ in model.asked if name != "TicketDraft"] == asked
