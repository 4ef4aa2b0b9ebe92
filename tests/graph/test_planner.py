"""A model as supervisor: its choice counts within the routing rules, and rules decide where it fails."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeProgressLog, FakeToolset, fake_services
from triage.base.errors import InvalidAnswer, ModelUnavailable
from triage.domain.findings import PlannerProposal
from triage.domain.report import RunReport
from triage.domain.run import Limits, Outcome, Status, Usage
from triage.graph.run_graph import run_graph
from triage.ports import ISSUE_SEARCH, Services

SEQUENCE = [["investigator"], ["codebase_search"], ["critic"], ["writer"]]
BOTH = ["codebase_search", "web_search"]
NOTHING_TO_SEARCH = {"tools": AIMessage("Nothing to search for.")}
NOT_ALLOWED = (
    "the model proposed a step that is not allowed here; allowed: codebase search + web search, or codebase search"
)


def proposals(*selected: list[Any]) -> list[PlannerProposal]:
    return [PlannerProposal(selected=names, reason="because", confidence=0.8) for names in selected]


def supervised(planned: Any, **changes: Any) -> Services:
    """Returns services with a model as supervisor, and a web search, which leaves it a choice."""
    answers = factories.answers(PlannerProposal=planned) | NOTHING_TO_SEARCH | changes.pop("answers", {})
    services = {"codebase": FakeCodebase(factories.FILES), "web_tools": FakeToolset(), "supervisor": "model"}
    return fake_services(**services | {"model": FakeModel(answers, changes.pop("cost", None))} | changes)


async def run(given: Services) -> RunReport:
    return await run_graph(factories.issue(), factories.repository(), given, asyncio.Event())


def selections(report: RunReport) -> list[list[str]]:
    return [decision.selected for decision in report.decisions]


def planner_prompts(given: Services) -> list[str]:
    assert isinstance(given.model, FakeModel)
    return ["".join(m.text for m in prompt) for name, prompt in given.model.asked if name == "PlannerProposal"]


async def test_an_allowed_proposal_is_taken_and_recorded():
    report = await run(supervised(proposals(["codebase_search"])))
    assert selections(report) == SEQUENCE
    assert [decision.origin for decision in report.decisions] == ["rules", "model", "rules", "rules"]
    assert (report.decisions[1].reason, report.decisions[1].confidence) == ("because", 0.8)
    assert report.status is Status.COMPLETE
    assert report.usage.calls == 4 + 1, "the decision is paid"
    assert [(s.iteration, s.answer_check) for s in report.steps if s.step == "supervisor"] == [(2, "passed")]


@pytest.mark.parametrize(("declared", "searches"), [(["numpy"], True), ([], False)])
async def test_issues_are_searched_only_where_a_package_raised_the_error(declared: list[str], searches: bool):
    trace = (
        'Traceback (most recent call last):\n  File "/home/me/run.py", line 1, in main\n'
        '  File "/v/site-packages/numpy/a.py", line 9, in go\nValueError: no day\n'
    )
    codebase = FakeCodebase(factories.FILES, dependencies=declared)
    given = fake_services(codebase=codebase, web_tools=FakeToolset(name=ISSUE_SEARCH))
    report = await run_graph(factories.issue(body=trace), factories.repository(), given, asyncio.Event())
    assert ("web_search" in selections(report)[1]) is searches


async def test_where_one_choice_is_allowed_nobody_is_asked():
    given = supervised(proposals(), web_tools=None)
    report = await run(given)
    assert selections(report) == SEQUENCE
    assert planner_prompts(given) == []
    assert {decision.origin for decision in report.decisions} == {"rules"}
    assert (report.status, report.usage.calls) == (Status.COMPLETE, 4)


async def test_a_proposal_that_is_not_allowed_gives_way_to_the_fixed_sequence():
    report = await run(supervised(proposals(["writer"])))
    assert selections(report) == [["investigator"], BOTH, ["critic"], ["writer"]]
    decision = report.decisions[1]
    assert (decision.origin, decision.proposed, decision.refused) == ("rules", ["writer"], NOT_ALLOWED)
    assert report.status is Status.COMPLETE
    assert f"The fixed sequence made 1 of 4 decisions in the model's place: {NOT_ALLOWED}." in report.notes


@pytest.mark.parametrize(
    "fault", [ModelUnavailable("rate limited (429)"), InvalidAnswer("empty answer"), ZeroDivisionError("outside words")]
)
async def test_a_failed_proposal_gives_way_to_the_fixed_sequence(fault: Exception):
    report = await run(supervised(fault))
    assert selections(report)[1] == BOTH
    assert {decision.origin for decision in report.decisions} == {"rules"}
    assert [bool(decision.refused) for decision in report.decisions] == [False, True, False, False]
    assert "outside words" not in report.model_dump_json()


async def test_a_late_proposal_is_not_waited_for_and_nothing_is_missing():
    async def late(_: Any) -> Any:
        await asyncio.sleep(60)

    given = replace(supervised(late), limits=Limits(agent_seconds=1))
    report = await asyncio.wait_for(run(given), 20)
    assert report.status is Status.COMPLETE, "the fixed sequence is good"
    assert selections(report)[1] == BOTH
    assert [s.outcome for s in report.steps if s.step == "supervisor"] == [Outcome.TIMED_OUT]


async def test_a_model_may_have_the_issue_read_again_in_a_later_round():
    unsure = [factories.critique("UNCERTAIN", gaps=["where is `leap_year` set?"]), factories.critique()]
    given = supervised(proposals(["investigator"]), answers={"CritiqueFinding": unsure}, web_tools=None)
    report = await run(given)
    assert selections(report)[3:] == [["investigator"], ["codebase_search"], ["critic"], ["writer"]]
    assert [s.round for s in report.steps if s.step == "investigator"] == [1, 2]
    assert report.verdict == "CONFIRMED"


async def test_a_limit_decides_without_asking():
    given = supervised(proposals(), limits=Limits(iterations=2))
    report = await run(given)
    assert selections(report) == [["investigator"], ["writer"]]
    assert [decision.forced for decision in report.decisions] == [False, True]
    assert planner_prompts(given) == []


async def test_the_choices_and_the_gaps_stand_in_the_prompt():
    unsure = [factories.critique("UNCERTAIN", gaps=["where is `leap_year` set?"]), factories.critique()]
    given = supervised(proposals(BOTH, ["codebase_search"]), answers={"CritiqueFinding": unsure})
    await run(given)
    first, second = planner_prompts(given)
    assert "- codebase_search + web_search: both searches need only the investigator's answer" in first
    assert "- codebase_search: the code has not been searched yet" in first
    assert "where is `leap_year` set?" in second
    assert "- codebase_search: round 2" in second


async def test_the_log_says_who_decided_and_no_word_of_a_model():
    given = supervised(proposals(BOTH))
    await run(given)
    assert isinstance(given.progress, FakeProgressLog)
    assert "Decision 2 by a model: codebase_search + web_search" in "\n".join(given.progress.lines)
    assert "because" not in "\n".join(given.progress.lines)


async def test_as_the_budget_runs_low_agents_ask_the_fast_model_and_then_rules():
    """Each call takes a fifth of the budget: search, critic and writer each find the next degradation level."""
    dear = Usage(input_tokens=21_000, calls=1, usd=0.0)
    given = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(factories.answers(), dear))
    report = await run(given)
    assert [decision.budget_level for decision in report.decisions] == ["whole", "whole", "whole", "no further rounds"]
    wasteful = Usage(input_tokens=41_000, calls=1, usd=0.0)
    given = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(factories.answers(), wasteful))
    report = await run(given)
    assert [decision.budget_level for decision in report.decisions] == ["whole", "whole", "fast model", "rules"]
    assert [(s.step, s.engine) for s in report.steps][-2:] == [("critic", "model"), ("writer", "rules")]
    assert isinstance(given.model, FakeModel)
    assert given.model.fast_model_views > 0
    assert report.status is Status.DEGRADED
    assert "The budget ran low: critic went to the fast model." in report.notes
    assert "The budget ran low: writer answered by rules." in report.notes
