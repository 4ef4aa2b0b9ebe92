"""The picture's text. That Mermaid draws it was looked at; that nothing foreign gets into it is tested here."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.comment import sample_runs
from tests.comment.sample_reports import EVIL, FULL, RULES, change_report, decision, step
from tests.comment.sample_runs import (
    CUT,
    DEGRADATION,
    HOSTILE_RUN,
    PLANNED,
    REFUSED,
    ROUNDS,
    RULES_FALLBACKS,
    SILENT,
    tool,
    with_details,
)
from triage.domain.report import RunReport
from triage.domain.run import Outcome, PlannerDecision, Status, StepRecord
from triage.job_page.diagram import MAX_STAGES, render_diagram

NAME = r"<b>[A-Z][a-z ]+</b>"
SECONDS = r"(under )?[0-9.]+ (min [0-9]+ )?s"
TRY = rf"([A-Za-z0-9._:-]{{1,24}}…? )?(✓ {SECONDS}|✗ (failed|timed out|refused), {SECONDS}|✗ not asked)"
AGENT = r"([A-Z][a-z ]+|an unknown agent)"
PILL = (
    rf"(<br/>✗ ({AGENT} refused|no proposal|\d+ agents refused))?"
    r"(<br/>(budget: [a-z ]+|a limit decided))?"
)
LINE = re.compile(
    r"```mermaid|```|flowchart (LR|TB)|direction LR|end|%%\{init: [A-Za-z0-9 \":,{}]+\}%%"
    r'|subgraph r\d+\["(Round \d+| )"\]|style r\d+ [a-z:#0-9,]+|r\d+ --> r\d+'
    rf'|a\d+_\d\["{NAME}(<br/>{TRY})+(<br/>✗ \d+ parts? not as planned)?(<br/>\d+ tool calls?(, \d+ failed)?)?"\]:::[a-z]+'
    rf'|a\d+_\d\["<b>{AGENT}</b><br/>did not end"\]:::none'
    rf'|d\d+\(\["<b>\d+</b> (rules|model){PILL}"\]\):::[a-z]+'
    rf'|status\(\["(\d+ more decisions?<br/>)?<b>[a-z]+</b><br/>{SECONDS}"\]\):::[a-z]+'
    r"|\w+( & \w+)* --> \w+( & \w+)*"
    r"|classDef [a-z]+ [a-z:#0-9, -]+"
)


def lines(report: RunReport) -> list[str]:
    return [line.strip() for line in render_diagram(report).splitlines()]


def arrows(report: RunReport) -> list[str]:
    return [line for line in lines(report) if "-->" in line]


def only(steps: list[StepRecord], decisions: list[PlannerDecision] | None = None) -> RunReport:
    return change_report(steps=steps, decisions=decisions or [], faults=[])


def test_each_decision_is_left_of_its_agents():
    drawn = lines(PLANNED)
    assert 'd2(["<b>2</b> model"]):::model' in drawn
    assert 'a2_0["<b>Codebase search</b><br/>gpt-4o ✓ 9.4 s<br/>4 tool calls"]:::good' in drawn
    assert 'status(["<b>complete</b><br/>31.4 s"]):::good' in drawn
    assert arrows(PLANNED) == [
        "a0_0 --> d1",
        "d1 --> a1_0",
        "a1_0 --> d2",
        "d2 --> a2_0 & a2_1",
        "d3 --> a3_0",
        "a3_0 --> d4",
        "d4 --> a4_0",
        "a4_0 --> status",
        "r1 --> r2",
    ]


def test_the_supervisor_has_no_box():
    assert "Supervisor" not in render_diagram(PLANNED)
    assert 'd1(["<b>1</b> rules"]):::rules' in lines(RULES)


def test_refused_and_missing_proposals_are_marked():
    drawn = lines(REFUSED)
    assert 'd3(["<b>3</b> rules<br/>✗ Writer refused"]):::overruled' in drawn
    assert 'd4(["<b>4</b> rules<br/>✗ no proposal"]):::overruled' in drawn
    assert 'a2_1["<b>Web search</b><br/>gpt-4o-mini ✓ 6.2 s<br/>1 tool call, 1 failed"]:::warn' in drawn
    assert 'status(["<b>degraded</b><br/>40.6 s"]):::warn' in drawn


def test_many_refused_agents_are_counted():
    refused = decision(1, ["critic"], "").model_copy(update={"proposed": ["writer", "web_search"], "refused": "no"})
    assert 'd1(["<b>1</b> rules<br/>✗ 2 agents refused"]):::overruled' in lines(only([], [refused]))


def test_a_new_degradation_level_is_shown_once_at_its_decision():
    drawn = lines(DEGRADATION)
    assert 'd2(["<b>2</b> rules<br/>budget: no web search"]):::overruled' in drawn
    assert 'd3(["<b>3</b> rules"]):::rules' in drawn
    assert 'd4(["<b>4</b> rules<br/>budget: fast model"]):::overruled' in drawn


def test_a_level_that_was_reached_before_is_not_shown_again():
    rungs = ["no further rounds", "whole", "no further rounds"]
    decisions = [
        decision(number, ["critic"], "").model_copy(update={"budget_level": budget_level})
        for number, budget_level in enumerate(rungs, start=1)
    ]
    assert render_diagram(only([], decisions)).count("budget:") == 1


def test_other_limits_are_shown_too():
    forced = decision(1, ["writer"], "iteration limit (1) reached").model_copy(update={"forced": True})
    assert 'd1(["<b>1</b> rules<br/>a limit decided"]):::overruled' in lines(only([], [forced]))


def test_the_rules_fallback_is_in_the_box_of_the_failed_model():
    drawn = lines(RULES_FALLBACKS)
    assert 'a1_0["<b>Investigator</b><br/>gpt-4o-mini ✗ timed out, 1 min 0 s<br/>rules ✓ under 0.1 s"]:::warn' in drawn
    assert 'a2_0["<b>Codebase search</b><br/>gpt-4o-mini ✗ failed, 6.1 s<br/>rules ✓ 0.3 s"]:::warn' in drawn
    assert 'a3_0["<b>Critic</b><br/>gpt-4o ✗ refused, 3.8 s<br/>rules ✓ under 0.1 s"]:::warn' in drawn
    assert 'a4_0["<b>Writer</b><br/>gpt-4o ✓ 7.7 s<br/>✗ 1 part not as planned"]:::warn' in drawn


def test_failed_agents_are_red_and_skipped_ones_say_so():
    lost = step("critic", 1, 0.0, 0.0, "gpt-4o", outcome=Outcome.SKIPPED, error="no time left for a model")
    assert 'a1_0["<b>Critic</b><br/>gpt-4o ✗ not asked"]:::bad' in lines(only([lost]))


def test_each_round_is_a_row_and_a_long_one_takes_two():
    assert [line for line in lines(ROUNDS) if line.startswith("subgraph")] == [
        'subgraph r1["Round 1"]',
        'subgraph r2[" "]',
        'subgraph r3["Round 2"]',
        'subgraph r4["Round 3"]',
        'subgraph r5[" "]',
    ]


def test_a_short_round_does_not_share_its_row():
    short = only([step("codebase_search", number, 0.0, 1.0, number=number) for number in (1, 2)])
    assert [line for line in lines(short) if line.startswith("subgraph")] == [
        'subgraph r1["Round 1"]',
        'subgraph r2["Round 2"]',
    ]


def test_agents_of_a_cancelled_run_did_not_end():
    drawn = lines(CUT)
    assert 'a2_0["<b>Codebase search</b><br/>did not end"]:::none' in drawn
    assert 'a2_1["<b>Web search</b><br/>did not end"]:::none' in drawn
    assert "a2_0 & a2_1 --> status" in arrows(CUT)


def test_a_run_without_steps_has_no_picture():
    assert render_diagram(only([])) == ""


@pytest.mark.parametrize("status", Status)
def test_every_status_has_its_colour(status):
    assert f"<b>{status.value}</b>" in render_diagram(change_report(status=status))


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        ("gpt-4o, gpt-4o-mini", "gpt-4o"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "Llama-3.3-70B-Instruct-…"),
        ("vendor/", "model"),
        ('x"]\nclick s0 "https://evil.example"', "model"),
    ],
)
def test_only_plain_model_names_are_shown(model, shown):
    drawn = render_diagram(only([step("critic", 1, 0.0, 1.0, model)]))
    assert f"<br/>{shown} ✓ 1.0 s" in drawn
    assert "evil" not in drawn


def test_invented_agent_names_are_not_repeated():
    made_up = decision(1, [EVIL], EVIL, "model").model_copy(update={"proposed": [EVIL, EVIL], "refused": EVIL})
    drawn = lines(only([], [made_up]))
    assert 'd1(["<b>1</b> model<br/>✗ an unknown agent refused"]):::overruled' in drawn
    assert [line for line in drawn if not LINE.fullmatch(line)] == []


def test_a_very_long_run_stays_within_the_limits_of_github():
    model = "m" * 40
    tools = [tool("find_symbol", 0.0, 1, "", "", Outcome.FAILED)] * 9
    endless = [
        with_details(step(name, number, 0.0, 3600.0, model, outcome=Outcome.TIMED_OUT), round=number, tools=tools)
        for number in range(1, 500)
        for name in (*sample_runs.AGENTS, *sample_runs.AGENTS, *sample_runs.AGENTS)
    ]
    drawn = render_diagram(only(endless, [decision(number, ["critic"], "") for number in range(1, 500)]))
    assert "469 more decisions" in drawn
    assert drawn.count('</b> rules"])') == MAX_STAGES
    assert len(drawn) < 50_000
    assert drawn.count("-->") < 500


RECORDS = st.builds(
    lambda name, iteration, seconds, model, outcome, number, gate: with_details(
        step(name, iteration, 0.0, seconds, model, outcome=outcome, number=number), answer_check=gate
    ),
    st.sampled_from([item.step for item in FULL.steps] + ["supervisor"]),
    st.integers(0, 4),
    st.floats(0, 1e6),
    st.none() | st.text(max_size=30),
    st.sampled_from(Outcome),
    st.integers(1, 3),
    st.none() | st.text(max_size=5),
)
DECISIONS = st.builds(
    lambda number, selected, origin, proposed, refused, budget_level, forced: PlannerDecision.model_validate(
        dict(decision(number, selected, refused, origin))
        | {"proposed": proposed, "refused": refused, "budget_level": budget_level, "forced": forced}
    ),
    st.integers(1, 5),
    st.lists(st.sampled_from(["critic", "writer"]) | st.text(max_size=9), max_size=3),
    st.sampled_from(["model", "rules"]),
    st.lists(st.sampled_from(["critic", "writer"]) | st.text(max_size=9), max_size=2),
    st.text(max_size=5),
    st.sampled_from(["whole", "no further rounds", "no web search", "fast model", "rules"]),
    st.booleans(),
)


@given(st.lists(RECORDS, max_size=12), st.lists(DECISIONS, max_size=6))
def test_every_line_has_a_known_form(steps, decisions):
    assert [line for line in lines(only(steps, decisions)) if not LINE.fullmatch(line)] == []


@each_row("report", [PLANNED, REFUSED, RULES_FALLBACKS, SILENT, DEGRADATION, ROUNDS, CUT, FULL, RULES, HOSTILE_RUN])
def test_every_sample_run_has_only_known_lines(report):
    assert [line for line in lines(report) if not LINE.fullmatch(line)] == []
