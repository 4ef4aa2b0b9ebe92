"""Every fault of a run by name, with what was done instead."""

from tests.say.sample_reports import step
from tests.say.sample_runs import (
    DEGRADATION,
    MAIN,
    PLANNED,
    ROUNDS,
    RULES_FALLBACKS,
    SILENT,
    call,
    tool,
    with_details,
)
from triage.domain.run import Fault, Outcome, StepRecord
from triage.graph.report_notes import collect_faults

RULED = step("critic", 3, 2.0, 0.1)


def summarize(faults: list[Fault]) -> list[tuple[str, str, str, str, str]]:
    return [(fault.step, fault.part, fault.name, fault.error, fault.replacement) for fault in faults]


def failed(error: str | None = "rate limited", **fields: object) -> StepRecord:
    record = step("critic", 3, 0.0, 2.0, MAIN, outcome=Outcome.FAILED, error=error)
    return with_details(record, **fields)


def test_a_run_without_a_fault_has_none():
    assert PLANNED.faults == []
    assert DEGRADATION.faults == [], "a limit is a decision, not a fault"


def test_the_fixtures_hold_what_is_derived_from_their_steps():
    assert RULES_FALLBACKS.faults == collect_faults(RULES_FALLBACKS.steps)


def test_a_step_names_who_answered_in_its_place():
    assert summarize(collect_faults([failed(), RULED])) == [
        ("critic", "step", "critic", "rate limited", "rules answered")
    ]
    frugal = step("critic", 3, 2.0, 0.1, "gpt-4o-mini")
    assert collect_faults([failed(), frugal])[0].replacement == "another model answered"
    assert collect_faults([failed()])[0].replacement == "nothing"


def test_a_later_round_is_no_answer_to_a_fault():
    later = with_details(RULED, round=2, iteration=5)
    assert collect_faults([failed(), later])[0].replacement == "nothing"


def test_an_agent_that_declined_was_answered_for_under_the_next_decision():
    assert summarize(ROUNDS.faults)[0] == (
        "investigator",
        "gate",
        "investigator",
        "the agent declined to answer",
        "rules answered",
    )


def test_a_request_that_was_repeated_with_success_says_so():
    asked_again = [call(MAIN, 0.0, 100, error="rate limited"), call(MAIN, 1.0, 100)]
    record = with_details(step("critic", 3, 0.0, 2.0, MAIN), calls=asked_again)
    assert summarize(collect_faults([record])) == [
        ("critic", "model call", MAIN, "rate limited", "another request was answered")
    ]


def test_requests_stand_before_the_step_that_they_failed():
    parts = [(fault.part, fault.replacement) for fault in SILENT.faults[:2]]
    assert parts == [("model call", "rules answered"), ("step", "rules answered")]
    assert SILENT.faults[0].at == SILENT.steps[1].calls[0].started_at


def test_a_tool_that_failed_did_not_stop_the_agent():
    broken = [tool("find_symbol", 0.5, 30000, "", "", Outcome.TIMED_OUT)]
    record = with_details(step("critic", 3, 0.0, 2.0, MAIN), tools=broken)
    assert summarize(collect_faults([record])) == [
        ("critic", "tool", "find_symbol", "no answer within 30 seconds", "the agent went on without it")
    ]
    assert [fault.replacement for fault in collect_faults([failed(tools=broken), RULED])] == ["rules answered"] * 2


def test_a_part_that_fell_short_says_what_stood_in():
    assert summarize(RULES_FALLBACKS.faults)[-1] == (
        "writer",
        "shortfall",
        "writer",
        "ticket: rate limited",
        "written by rules",
    )
    whole = step("writer", 4, 0.0, 2.0, MAIN)
    unexplained = with_details(whole, shortfalls=["cut short"])
    assert summarize(collect_faults([unexplained])) == [("writer", "shortfall", "writer", "cut short", "nothing")]


def test_a_fault_without_a_name_is_called_by_its_outcome():
    lost = failed(None).model_copy(update={"outcome": Outcome.TIMED_OUT})
    assert collect_faults([lost])[0].error == "timed out"
