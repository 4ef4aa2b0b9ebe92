"""The picture's text. That Mermaid draws it was looked at; that nothing foreign gets into it is tested here."""

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.publish.reports import DEGRADED, FULL, MODEL_STEPS, step
from triage.domain.run import Outcome, StepRecord
from triage.publish.diagram import MAX_STEPS, diagram

LINE = re.compile(
    r"```mermaid|```|flowchart (LR|TB)|direction LR|end"
    r'|subgraph r\d+\["Round \d+"\]|style r\d+ [a-z:#0-9,]+|r\d+ --> r\d+'
    r'|s\d+\["<b>[A-Z][a-z ]+</b>(<br/>[A-Za-z0-9._:/-]{1,40})?<br/>(✓|skipped,|✗ failed,|✗ timed out,) [a-z0-9. ]+"\]:::[a-z]+'
    r"|s\d+( & s\d+)* --> s\d+( & s\d+)*|s\d+ -\. rules \.-> s\d+"
    r"|classDef [a-z]+ [a-z:#0-9,]+"
)


def lines(steps: Sequence[StepRecord]) -> list[str]:
    return [line.strip() for line in diagram(steps).splitlines()]


def test_steps_of_one_decision_stand_side_by_side():
    drawn = lines(MODEL_STEPS)
    assert drawn[:2] == ["```mermaid", "flowchart LR"]
    assert 's2["<b>Codebase search</b><br/>gpt-4o<br/>✓ 9.4 s"]:::good' in drawn
    assert [line for line in drawn if "-->" in line] == [
        "s0 --> s1",
        "s1 --> s2 & s3",
        "s2 & s3 --> s4",
        "s4 --> s5",
    ]


def test_each_round_is_a_row_and_a_twin_stands_behind_its_model():
    drawn = lines(DEGRADED.steps)
    assert "flowchart TB" in drawn
    assert 'subgraph r1["Round 1"]' in drawn
    assert 'subgraph r2["Round 2"]' in drawn
    assert 's3["<b>Web search</b><br/>gpt-4o-mini<br/>✗ timed out, 30.0 s"]:::late' in drawn
    assert [line for line in drawn if "->" in line] == [
        "s4 -. rules .-> s5",
        "s0 --> s1",
        "s1 --> s2 & s3",
        "s2 & s3 --> s4",
        "s6 --> s7",
        "s7 --> s8",
        "r1 --> r2",
    ]


def test_parts_of_the_writer_are_no_twins():
    parts = [
        step("writer", 4, 0.0, 1.0, "gpt-4o"),
        step("writer", 4, 0.0, 1.0, "gpt-4o", outcome=Outcome.FAILED),
        step("writer", 4, 1.0, 0.0),
    ]
    assert [line for line in lines(parts) if "->" in line] == ["s1 -. rules .-> s2"]


def test_nothing_ran_and_nothing_is_drawn():
    assert diagram([]) == ""


def test_a_model_that_is_no_plain_name_is_called_a_model():
    drawn = diagram([step("critic", 1, 0.0, 1.0, 'x"]\nclick s0 "https://evil.example"')])
    assert "<br/>model<br/>" in drawn
    assert "evil" not in drawn


def test_a_run_without_end_stays_within_githubs_limit():
    endless = [step("critic", number, 0.0, 1.0, "m" * 40, number=number) for number in range(1, 500)]
    assert diagram(endless).count("<b>Critic</b>") == MAX_STEPS
    assert len(diagram(endless)) < 50_000


@given(
    st.lists(
        st.builds(
            lambda name, iteration, seconds, model, outcome, number: step(
                name, iteration, 0.0, seconds, model, outcome=outcome, number=number
            ),
            st.sampled_from([item.step for item in FULL.steps]),
            st.integers(0, 4),
            st.floats(0, 1e6),
            st.none() | st.text(max_size=30),
            st.sampled_from(Outcome),
            st.integers(1, 3),
        ),
        max_size=12,
    )
)
def test_every_line_is_one_of_ours(steps):
    assert [line for line in lines(steps) if not LINE.fullmatch(line)] == []
