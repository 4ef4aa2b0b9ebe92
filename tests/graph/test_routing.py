"""The supervisor's law as a table: what has been answered, and who is next."""

from typing import Any

import pytest

from tests.cases import critique, investigation, state
from tests.fakes import NOW
from triage.agents.critic import map_critique_to_verdict
from triage.agents.registry import AGENTS
from triage.domain.run import Limits, Outcome, StepRecord, Usage
from triage.graph.routing import decide, opens_round

ALL = frozenset(AGENTS)
OFFLINE = ALL - {"web_search"}
BUG = {"investigation": investigation()}
SEARCHED = {"investigator": 1, "codebase_search": 1, "web_search": 1}
JUDGED = {**SEARCHED, "critic": 1}
REJECTED = {"critique": critique("UNCERTAIN"), "critic_feedback": map_critique_to_verdict(critique("UNCERTAIN"))}
APPROVED = {"critique": critique(), "critic_feedback": map_critique_to_verdict(critique())}

LAW: list[tuple[str, dict[str, Any], frozenset[Any], list[str]]] = [
    ("first of all", {}, ALL, ["investigator"]),
    ("both searches at once", BUG | {"answered_in_round": {"investigator": 1}}, ALL, ["codebase_search", "web_search"]),
    ("web search is off", BUG | {"answered_in_round": {"investigator": 1}}, OFFLINE, ["codebase_search"]),
    ("critic after the searches", BUG | {"answered_in_round": SEARCHED}, ALL, ["critic"]),
    ("writer after approval", BUG | APPROVED | {"answered_in_round": JUDGED}, ALL, ["writer"]),
    ("rejected with nothing new", BUG | REJECTED | {"answered_in_round": JUDGED}, ALL, ["writer"]),
    (
        "second round: web not again",
        BUG | REJECTED | {"answered_in_round": JUDGED, "round": 2},
        ALL,
        ["codebase_search"],
    ),
    (
        "critic again in the second round",
        BUG | REJECTED | {"answered_in_round": {**JUDGED, "codebase_search": 2}, "round": 2},
        ALL,
        ["critic"],
    ),
    (
        "a feature request goes straight to the writer",
        {"investigation": investigation(kind="feature_request"), "answered_in_round": {"investigator": 1}},
        ALL,
        ["writer"],
    ),
    ("the investigator failed for good", {"answered_in_round": {"investigator": 1}}, OFFLINE, ["codebase_search"]),
    ("the critic failed for good", BUG | {"answered_in_round": JUDGED}, ALL, ["writer"]),
]


@pytest.mark.parametrize(("given", "available", "expected"), [c[1:] for c in LAW], ids=[c[0] for c in LAW])
def test_law(given: dict[str, Any], available: frozenset[Any], expected: list[str]):
    decision = decide(state(**given), Limits(), 300, available, NOW)
    assert decision.selected == expected
    assert decision.reason
    assert not decision.forced


@pytest.mark.parametrize(
    ("limits", "seconds_left", "iterations", "words"),
    [
        (Limits(iterations=3), 300, 2, "iteration limit (3)"),
        (Limits(iterations=1), 300, 0, "iteration limit (1)"),
    ],
)
def test_limits_force_the_writer(limits: Limits, seconds_left: float, iterations: int, words: str):
    decision = decide(state(iterations=iterations), limits, seconds_left, ALL, NOW)
    assert decision.selected == ["writer"]
    assert decision.forced
    assert words in decision.reason


@pytest.mark.parametrize(
    ("given", "opens"),
    [
        (REJECTED | {"gaps": ["leap_year"]}, True),
        (REJECTED | {"gaps": []}, False),
        (REJECTED | {"gaps": ["leap_year"], "round": 3, "answered_in_round": {**JUDGED, "critic": 3}}, False),
        (APPROVED | {"gaps": ["leap_year"]}, False),
        (REJECTED | {"gaps": ["leap_year"], "answered_in_round": SEARCHED}, False),
    ],
)
def test_a_round_opens_on_rejection_with_new_words_only(given: dict[str, Any], opens: bool):
    assert opens_round(state(**BUG | {"answered_in_round": JUDGED} | given), Limits(), 300) is opens


@pytest.mark.parametrize(
    ("usage", "limits", "seconds_left", "why"),
    [
        (Usage(input_tokens=90_000, calls=1), Limits(tokens=100_000), 300, "token budget"),
        (Usage(input_tokens=1, calls=1, usd=0.9), Limits(), 300, "dollar budget"),
        (Usage(), Limits(), 30, "time"),
        (Usage(input_tokens=90_000, calls=1), Limits(tokens=200_000), 300, ""),
        (Usage(input_tokens=1, calls=1, usd=None), Limits(), 300, ""),
    ],
)
def test_no_round_opens_when_the_rest_would_not_do_for_the_writer(
    usage: Usage, limits: Limits, seconds_left: float, why: str
):
    spent = StepRecord(
        step="critic", engine="model", started_at=NOW, offset_seconds=0, seconds=1, usage=usage, outcome=Outcome.SUCCESS
    )
    rejected = state(**BUG, **REJECTED, answered_in_round=JUDGED, gaps=["leap_year"], steps=[spent])
    assert opens_round(rejected, limits, seconds_left) is (not why)
    decision = decide(rejected, limits, seconds_left, ALL, NOW)
    assert decision.selected == ["writer"]
    assert why in decision.reason
    assert decision.forced is bool(why), "a cap that struck is told"


def test_a_stale_rejection_opens_no_round():
    """The critic answered in the first round and failed in the second."""
    failed = state(**BUG, answered_in_round={**JUDGED, "codebase_search": 2, "critic": 2}, round=2)
    assert not opens_round(failed, Limits(), 300)
    assert decide(failed, Limits(), 300, ALL, NOW).reason == "the critic gave no answer"
