"""The routing rules as a table: what was answered, and which agent is next."""

from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from testing.factories import critique, investigation, state
from testing.fakes import FakeClock, FakeModel, FakeToolset, fake_services
from triage.agents.critic import map_critique_to_verdict
from triage.agents.services import Services
from triage.domain.code import Section, Span
from triage.domain.issue import KindReading
from triage.domain.run import Limits, Usage
from triage.graph.capabilities import AGENTS
from triage.graph.routing import Choice, choose_next
from triage.graph.triage_state import BugTriageState

ONLINE, OFFLINE = True, False
"""With and without a web search."""
BUG = {"investigation": investigation()}
SEARCHED = {"investigator": 1, "codebase_search": 1, "web_search": 1}
JUDGED = {**SEARCHED, "critic": 1}
REJECTED = {"critique": critique("UNCERTAIN"), "critic_feedback": map_critique_to_verdict(critique("UNCERTAIN"))}
APPROVED = {"critique": critique(), "critic_feedback": map_critique_to_verdict(critique())}

PAGES = {"documentation": [Section(span=Span(path="README.md", start=1, end=9), heading="Use")]}


LAW: list[tuple[str, dict[str, Any], bool, list[str]]] = [
    ("first of all", {}, ONLINE, ["investigator"]),
    (
        "both searches at once",
        BUG | {"ran_in_round": {"investigator": 1}},
        ONLINE,
        ["codebase_search", "web_search"],
    ),
    ("web search is off", BUG | {"ran_in_round": {"investigator": 1}}, OFFLINE, ["codebase_search"]),
    ("critic after the searches", BUG | {"ran_in_round": SEARCHED}, ONLINE, ["critic"]),
    ("writer after approval", BUG | APPROVED | {"ran_in_round": JUDGED}, ONLINE, ["writer"]),
    ("rejected with nothing new", BUG | REJECTED | {"ran_in_round": JUDGED}, ONLINE, ["writer"]),
    (
        "second round: web not again",
        BUG | REJECTED | {"ran_in_round": JUDGED, "round": 2},
        ONLINE,
        ["codebase_search"],
    ),
    (
        "critic again in the second round",
        BUG | REJECTED | {"ran_in_round": {**JUDGED, "codebase_search": 2}, "round": 2},
        ONLINE,
        ["critic"],
    ),
    (
        "where a feature request would go is searched for",
        {"investigation": investigation(kind="feature_request"), "ran_in_round": {"investigator": 1}},
        ONLINE,
        ["codebase_search"],
    ),
    (
        "a feature request is not challenged",
        {"investigation": investigation(kind="feature_request"), "ran_in_round": SEARCHED},
        ONLINE,
        ["writer"],
    ),
    (
        "a question goes straight to the writer",
        {
            "kind_reading": KindReading(kind="question", likeliest="question", probability=0.9),
            "ran_in_round": {"investigator": 1},
            **PAGES,
        },
        ONLINE,
        ["writer"],
    ),
    ("the investigator failed for good", {"ran_in_round": {"investigator": 1}}, OFFLINE, ["codebase_search"]),
    ("the critic failed for good", BUG | {"ran_in_round": JUDGED}, ONLINE, ["writer"]),
]


def make_services(
    limits: Limits | None = None, seconds_left: float = 300, spent: Usage | None = None, *, online: bool = True
) -> Services:
    """With a model that has spent so much, if it is said."""
    limits = limits or Limits()
    model = FakeModel({}) if spent else None
    if model and spent:
        model.spent = spent
    clock = FakeClock(limits.run_seconds - seconds_left)
    return fake_services(model=model, limits=limits, clock=clock, web_tools=FakeToolset("") if online else None)


def choose(
    given: BugTriageState,
    limits: Limits | None = None,
    *,
    seconds_left: float = 300,
    online: bool = True,
    spent: Usage | None = None,
) -> Choice:
    return choose_next(given, make_services(limits, seconds_left, spent, online=online))


@pytest.mark.parametrize(("given", "online", "expected"), [c[1:] for c in LAW], ids=[c[0] for c in LAW])
def test_law(given: dict[str, Any], online: bool, expected: list[str]):
    choice = choose(state(**given), online=online)
    assert list(choice.selected) == expected
    assert choice.reason
    assert not choice.forced


@pytest.mark.parametrize(
    ("changes", "spent", "agent"),
    [
        ({}, Usage(), "codebase_search"),
        ({}, None, "writer"),
        ({}, Usage(input_tokens=99_000, calls=1), "writer"),
        ({"documentation": []}, Usage(), "writer"),
        ({"ran_in_round": {"investigator": 1, "codebase_search": 1}}, Usage(), "writer"),
    ],
)
def test_a_model_reads_the_documentation_once_for_a_question(changes: dict[str, Any], spent: Usage | None, agent: str):
    question = {
        "kind_reading": KindReading(kind="question", likeliest="question", probability=0.9),
        "investigation": investigation(kind="question"),
        "ran_in_round": {"investigator": 1},
        **PAGES,
    }
    choice = choose(state(**question | changes), Limits(tokens=100_000), spent=spent)
    assert choice.selected == (agent,)


@pytest.mark.parametrize(
    ("limits", "iterations", "words"),
    [
        (Limits(iterations=3), 2, "iteration limit (3)"),
        (Limits(iterations=1), 0, "iteration limit (1)"),
    ],
)
def test_limits_force_the_writer(limits: Limits, iterations: int, words: str):
    choice = choose(state(iterations=iterations), limits)
    assert choice.selected == ("writer",)
    assert choice.forced
    assert words in choice.reason


@pytest.mark.parametrize(
    ("given", "opens"),
    [
        (REJECTED | {"search_terms": ["leap_year"]}, True),
        (REJECTED | {"search_terms": []}, False),
        (REJECTED | {"search_terms": ["leap_year"], "round": 3, "ran_in_round": {**JUDGED, "critic": 3}}, False),
        (APPROVED | {"search_terms": ["leap_year"]}, False),
        (REJECTED | {"search_terms": ["leap_year"], "ran_in_round": SEARCHED}, False),
    ],
)
def test_a_round_opens_on_rejection_with_new_words_only(given: dict[str, Any], opens: bool):
    assert choose(state(**BUG | {"ran_in_round": JUDGED} | given)).opens_round is opens


@pytest.mark.parametrize(
    ("spent", "limits", "seconds_left", "why"),
    [
        (Usage(input_tokens=90_000, calls=1), Limits(tokens=100_000), 300, "budget"),
        (Usage(input_tokens=1, calls=1, usd=0.9), Limits(), 300, "budget"),
        (Usage(input_tokens=40_000), Limits(), 30, "time"),
        (Usage(input_tokens=40_000, calls=1), Limits(tokens=100_000), 300, ""),
        (Usage(input_tokens=1, calls=1, usd=None), Limits(), 300, ""),
    ],
)
def test_no_round_opens_when_the_rest_is_for_the_writer(spent: Usage, limits: Limits, seconds_left: float, why: str):
    rejected = state(**BUG, **REJECTED, ran_in_round=JUDGED, search_terms=["leap_year"])
    choice = choose(rejected, limits, seconds_left=seconds_left, spent=spent)
    assert choice.opens_round is (not why)
    assert choice.selected == ("writer" if why else "codebase_search",)
    assert why in choice.reason
    assert choice.forced is bool(why), "a cap that struck is told"


NAMES = st.sampled_from(sorted(AGENTS))


@hypothesis.given(
    answered=st.dictionaries(NAMES, st.integers(1, 3)),
    round_=st.integers(1, 3),
    iterations=st.integers(0, 12),
    tokens=st.integers(0, 120_000),
    seconds_left=st.floats(-10, 300),
    critique=st.sampled_from([{}, APPROVED, REJECTED, REJECTED | {"search_terms": ["leap_year"]}]),
    online=st.sampled_from([ONLINE, OFFLINE]),
)
def test_whatever_happened_the_law_leaves_a_way_and_is_kept(
    answered: dict[Any, int],
    round_: int,
    iterations: int,
    tokens: int,
    seconds_left: float,
    critique: dict[str, Any],
    online: bool,
):
    given_state = state(**BUG, **critique, ran_in_round=answered, round=round_, iterations=iterations)
    spent = Usage(input_tokens=tokens, calls=1)
    one = choose(given_state, seconds_left=seconds_left, online=online, spent=spent)
    names = set(one.selected)
    assert online or "web_search" not in names
    assert names == {"investigator"} or "investigator" in answered or one.forced
    assert one.opens_round <= (answered.get("critic", 0) >= round_)
    assert "critic" not in names or answered.get("codebase_search", 0) >= round_
    assert "web_search" not in names or "web_search" not in answered
    assert len(names) == 1 or names == {"codebase_search", "web_search"}
    assert names != {"web_search"}
