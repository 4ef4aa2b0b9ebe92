"""A model as supervisor: its choice counts within the routing rules, and rules decide where it fails."""

import asyncio
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeProgressLog, FakeToolset, fake_services
from triage.domain.findings import PlannerProposal
from triage.domain.report import RunReport
from triage.domain.run import Limits, Outcome, Status, Usage
from triage.errors import InvalidAnswer, ModelUnavailable
from triage.graph import planner
from triage.graph.run_graph import run_graph
from triage.ports import Services

SEQUENCE = [["investigator"], ["codebase_search"], ["critic"], ["writer"]]


def proposals(*selected: list[Any]) -> list[PlannerProposal]:
    return [PlannerProposal(selected=names, reason="because", confidence=0.8) for names in selected]


def supervised(planned: Any, **changes: Any) -> Services:
    model = FakeModel(
        factories.answers(PlannerProposal=planned) | changes.pop("answers", {}), changes.pop("cost", None)
    )
    return fake_services(codebase=FakeCodebase(factories.FILES), model=model, supervisor="model", **changes)


async def run(given: Services) -> RunReport:
    return await run_graph(factories.issue(), factories.repository(), given, asyncio.Event())


def selections(report: RunReport) -> list[list[str]]:
    return [decision.selected for decision in report.decisions]


async def test_a_lawful_proposal_is_taken_and_recorded():
    report = await run(supervised(proposals(*SEQUENCE)))
    assert selections(report) == SEQUENCE
    assert {decision.origin for decision in report.decisions} == {"model"}
    assert [(d.reason, d.confidence) for d in report.decisions] == [("because", 0.8)] * 4
    assert report.status is Status.COMPLETE
    assert report.usage.calls == 6 + 4, "every decision is paid"
    assert [s.iteration for s in report.steps if s.step == "supervisor"] == [1, 2, 3, 4]
    assert {s.gate for s in report.steps if s.step == "supervisor"} == {"passed"}


async def test_an_unlawful_proposal_gives_way_to_the_fixed_sequence():
    report = await run(supervised(proposals(["writer"], ["codebase_search", "web_search"], ["critic"], ["writer"])))
    assert selections(report) == SEQUENCE
    first, second = report.decisions[:2]
    assert (first.origin, first.proposed) == ("rules", ["writer"])
    assert first.refused == "unlawful proposal: only investigator may run now"
    assert second.proposed == ["codebase_search", "web_search"], "without a search there is no web search"
    assert report.status is Status.DEGRADED
    assert (
        "The fixed sequence made 2 of 4 decisions in the model's place: unlawful proposal: only investigator may run now."
        in report.notes
    )


@pytest.mark.parametrize(
    "fault", [ModelUnavailable("rate limited (429)"), InvalidAnswer("empty answer"), ZeroDivisionError("outside words")]
)
async def test_a_failed_proposal_gives_way_to_the_fixed_sequence(fault: Exception):
    report = await run(supervised(fault))
    assert selections(report) == SEQUENCE
    assert {decision.origin for decision in report.decisions} == {"rules"}
    assert all(decision.refused for decision in report.decisions)
    assert "outside words" not in report.model_dump_json()


async def test_a_late_proposal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    async def late(_: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(planner, "MAX_SECONDS", 1.0)
    report = await asyncio.wait_for(run(supervised(late)), 20)
    assert selections(report) == SEQUENCE
    assert {s.outcome for s in report.steps if s.step == "supervisor"} == {Outcome.TIMED_OUT}


async def test_a_model_may_leave_the_web_search_out():
    report = await run(supervised(proposals(*SEQUENCE), web_tools=FakeToolset()))
    assert selections(report) == SEQUENCE
    assert report.status is Status.COMPLETE


async def test_a_model_may_have_the_issue_read_again_in_a_later_round():
    unsure = [factories.critique("UNCERTAIN", gaps=["where is `leap_year` set?"]), factories.critique()]
    planned = proposals(*SEQUENCE[:3], ["investigator"], ["codebase_search"], ["critic"], ["writer"])
    given = supervised(planned, answers={"CritiqueFinding": unsure})
    report = await run(given)
    assert selections(report)[3:] == [["investigator"], ["codebase_search"], ["critic"], ["writer"]]
    assert [s.round for s in report.steps if s.step == "investigator"] == [1, 2]
    assert report.verdict == "CONFIRMED"


async def test_a_limit_decides_without_asking():
    report = await run(supervised(proposals(["investigator"]), limits=Limits(iterations=2)))
    assert selections(report) == [["investigator"], ["writer"]]
    assert [decision.forced for decision in report.decisions] == [False, True]


async def test_by_rules_nobody_is_asked():
    given = fake_services(codebase=FakeCodebase(factories.FILES), supervisor="model")
    assert {decision.origin for decision in (await run(given)).decisions} == {"rules"}


async def test_the_choices_and_the_gaps_stand_in_the_prompt():
    unsure = [factories.critique("UNCERTAIN", gaps=["where is `leap_year` set?"]), factories.critique()]
    planned = proposals(*SEQUENCE[:3], *SEQUENCE[1:])
    given = supervised(planned, answers={"CritiqueFinding": unsure})
    await run(given)
    assert isinstance(given.model, FakeModel)
    asked = ["".join(m.text for m in prompt) for name, prompt in given.model.asked if name == "PlannerProposal"]
    assert "- investigator: nobody has read the issue yet" in asked[0]
    assert "where is `leap_year` set?" in asked[3]
    assert "- codebase_search: round 2" in asked[3]


async def test_the_journal_hears_who_decided_and_no_word_of_a_model():
    given = supervised(proposals(*SEQUENCE))
    await run(given)
    assert isinstance(given.progress, FakeProgressLog)
    assert "Decision 1 by a model: investigator" in "\n".join(given.progress.lines)
    assert "because" not in "\n".join(given.progress.lines)


async def test_as_the_budget_runs_low_agents_ask_the_fast_model_and_then_rules():
    """Each call takes a fifth of the budget: search, critic and writer each find the next degradation level."""
    dear = Usage(input_tokens=21_000, calls=1, usd=0.0)
    given = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(factories.answers(), dear))
    report = await run(given)
    assert [decision.rung for decision in report.decisions] == ["whole", "whole", "whole", "no further rounds"]
    wasteful = Usage(input_tokens=41_000, calls=1, usd=0.0)
    given = fake_services(codebase=FakeCodebase(factories.FILES), model=FakeModel(factories.answers(), wasteful))
    report = await run(given)
    assert [decision.rung for decision in report.decisions] == ["whole", "whole", "fast model", "rules"]
    assert [(s.step, s.engine) for s in report.steps][-2:] == [("critic", "model"), ("writer", "rules")]
    assert isinstance(given.model, FakeModel)
    assert given.model.fast_model_views > 0
    assert report.status is Status.DEGRADED
    assert "The budget ran low: critic went to the fast model." in report.notes
    assert "The budget ran low: writer answered by rules." in report.notes
