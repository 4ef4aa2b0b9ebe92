"""Answers as models write them: around the object, in it, cut, quoted, hostile."""

import contextlib
import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from pydantic import Field, ValidationError

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.fakes import FakeCodebase
from triage.agents.code_lookup import list_calls
from triage.agents.code_tools import build_code_tools
from triage.base.errors import InvalidAnswer
from triage.domain.findings import (
    Answer,
    Confidence,
    ErrorText,
    IfMissing,
    Kind,
    NullableText,
    OptionalText,
    Texts,
    Verdict,
)
from triage.outside.model.answer_reader import Misfit, find_objects, fit_answer
from triage.outside.model.model_errors import WrongFormat
from triage.outside.model.output_formats import (
    structured_format,
    to_reply,
    tools_or_answer_format,
)


class Place(Answer):
    path: str
    reason: OptionalText
    line: int | None


class Sketch(Answer):
    """Has a field of each sort that the agents' answers have."""

    at_least_one_of = ("places", "cause")
    summary: str
    verdict: Verdict
    kind: Kind | None
    places: list[Place]
    cause: NullableText
    gaps: Texts
    confidence: Confidence
    is_sure: Annotated[bool, IfMissing(False)]
    change: float = Field(0.0, ge=-1, le=1)
    error: ErrorText


PLACE = {"path": "a/b.py", "reason": 'saves "a"', "line": 12}
SKETCH = {
    "summary": "S.",
    "verdict": "CONFIRMED",
    "kind": "feature_request",
    "places": [PLACE],
    "cause": "a/b.py",
    "gaps": ["Which caller?"],
    "confidence": 0.85,
    "is_sure": True,
    "change": -0.1,
    "error": None,
}


def read(text: str, finish: str = "stop", schema: Any = Sketch) -> Any:
    return structured_format(schema).read(make_reply(text, finish), "")


def make_reply(text: str, finish: str = "stop") -> AIMessage:
    return AIMessage(text, response_metadata={"finish_reason": finish})


def dump(answer: dict[str, Any]) -> str:
    return json.dumps(answer, indent=1)


AROUND: dict[str, Callable[[str], str]] = {
    "as asked": lambda text: text,
    "prose around": lambda text: f'Here it is ("as JSON"):\n{text}\nLet me know if {{you}} need more.',
    "fence": lambda text: f"```json\n{text}\n```\nI hope this helps.",
    "thinking with a draft": lambda text: f'<think>Draft: {{"summary": "wrong"}}</think>{text}',
    "another object before": lambda text: f'Given {{"file": 1}}, I answer {text}',
    "braces before": lambda text: f"Of {{Store, save}} and f(x) {{ return }}: {text}",
    "under a name": lambda text: f'{{"answer": {text}}}',
    "as a call": lambda text: f'{{"name": "Finding", "arguments": {text}}}',
    "in a list": lambda text: f"[{text}]",
    "without its end": lambda text: text.removesuffix("}"),
    "unknown fields": lambda text: text[:-2] + ',\n "extra": {"a": [1]}\n}',
}
FITTED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"confidence": ...}, {"confidence": 0.4}),
    ({"confidence": 85}, {"confidence": 0.4}),
    ({"confidence": "0.85"}, {}),
    ({"error": ..., "cause": ..., "change": ...}, {"cause": None, "change": 0.0}),
    ({"change": 30}, {"change": 0.0}),
    ({"gaps": None}, {"gaps": []}),
    ({"gaps": ["Which?", 3, "N/A"]}, {"gaps": ["Which?"]}),
    ({"kind": "a novel"}, {"kind": None}),
    ({"is_sure": "yes"}, {}),
    ({"cause": "N/A"}, {"cause": None}),
    ({"error": "No error"}, {}),
    ({"places": [PLACE, {"line": 3}, 7, None]}, {}),
    ({"places": [PLACE | {"line": "x"}]}, {"places": [PLACE | {"line": None}]}),
    ({"places": [{"path": "c.py"}]}, {"places": [{"path": "c.py", "reason": "", "line": None}]}),
]
MISFITS = [
    (dump(SKETCH | {"summary": None}), "summary missing"),
    (dump(SKETCH | {"summary": ""}), "summary missing"),
    (dump(SKETCH | {"summary": "N/A", "verdict": "perhaps"}), "summary, verdict missing"),
    ('{"type": "object", "properties": {"summary": {"type": "string"}}}', "summary, verdict missing"),
    (dump(SKETCH | {"places": [{"line": 3}], "cause": None}), "places or cause missing"),
    ("[]", "no JSON object"),
    ("Why. The error happens because the pattern is wrong.", "no JSON object"),
]


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_an_answer(around: Callable[[str], str]):
    assert read(around(dump(SKETCH))) == Sketch.model_validate(SKETCH)


@pytest.mark.parametrize(("change", "expected"), FITTED)
def test_what_cannot_be_read_is_left_out(change: dict[str, Any], expected: dict[str, Any]):
    written = {name: value for name, value in (SKETCH | change).items() if value is not ...}
    assert read(dump(written)) == Sketch.model_validate(SKETCH | expected)


@pytest.mark.parametrize("args", [json.loads, lambda text: f"```json\n{text}\n```"], ids=["object", "text"])
def test_a_call_is_read_whatever_it_is_named(args: Any):
    written = args(dump(SKETCH))
    valid = [ToolCall(name="anything", args=written, id="1")] if isinstance(written, dict) else []
    other = [] if valid else [InvalidToolCall(name="x", args=written, id="1", error=None, type="invalid_tool_call")]
    reply = to_reply(AIMessage("I call it.", tool_calls=valid, invalid_tool_calls=other))
    assert structured_format(Sketch).read(reply, "") == Sketch.model_validate(SKETCH)


def test_a_refusal_needs_its_reason_only():
    answer = read('{"error": "I see no code."}')
    assert (answer.error, answer.summary, answer.verdict, answer.places) == ("I see no code.", "", "CHALLENGED", [])


def test_an_empty_list_is_an_answer():
    assert read(dump(SKETCH | {"places": [], "cause": None})).places == []


@pytest.mark.parametrize(("written", "problem"), MISFITS)
def test_an_answer_without_its_content_is_a_misfit_that_says_why(written: str, problem: str):
    with pytest.raises(WrongFormat, match=problem):
        read(written)


def test_an_answer_that_was_cut_is_used_as_far_as_it_goes():
    text = dump(SKETCH | {"places": [PLACE, PLACE]})
    cut = text[: text.rindex('"line"')]
    assert read(cut, finish="length").places == [Place(**PLACE), Place(**PLACE | {"line": None})]


def test_half_a_number_is_no_number():
    cut = dump({name: SKETCH[name] for name in ("summary", "verdict", "cause")})[:-2] + ', "confidence": 0.1'
    assert read(cut, finish="length").confidence == 0.4


GREP = ("grep", {"text": "x"})
TOOLS = build_code_tools(FakeCodebase())
CALLS: list[tuple[str, Any, Any]] = [
    ("grep", {"text": "x"}, GREP),
    ("functions.grep", {"text": "x"}, GREP),
    ("default_api:grep", '{"text": "x"', GREP),
    ("grep", '```json\n{"text": "x"}\n```', GREP),
    ("grep", {"pattern": "x"}, ("grep", {"pattern": "x"})),
]


@pytest.mark.parametrize(("name", "written", "understood"), CALLS)
def test_a_call(name: str, written: Any, understood: tuple[str, Any]):
    valid = [ToolCall(name=name, args=written, id="1")] if isinstance(written, dict) else []
    other = [] if valid else [InvalidToolCall(name=name, args=written, id="1", error=None, type="invalid_tool_call")]
    reply = to_reply(AIMessage("", tool_calls=valid, invalid_tool_calls=other))
    turn = tools_or_answer_format(TOOLS, Sketch).read(reply, "")
    assert isinstance(turn, AIMessage)
    assert [(call["name"], call["args"]) for call in list_calls(turn, 0)] == [understood]


# --- hostile text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=12,
)
MARKS = [*'{}[]:,\\"#', '{"', '"}', "```", "<think>", "</think>", "1e", "NaN", "-Infinity", "\\ud800", "true"]
NAMES = ['"error":', '"places":[', '"path":', "9" * 5_000, "\ud800", "\n", " "]
hostile = st.lists(st.sampled_from([*MARKS, *NAMES]) | st.text(max_size=4), max_size=30).map("".join)


@given(hostile)
def test_hostile_text_is_an_answer_or_a_misfit(text: str):
    for content in (text, "{" + text, f'{{"places": [{text}]}}'):
        with contextlib.suppress(InvalidAnswer):
            assert isinstance(read(content), Sketch)


@given(st.dictionaries(st.sampled_from([*SKETCH]), json_values))
def test_any_object_is_fitted_or_a_misfit(value: dict[str, Any]):
    for changed in (value, SKETCH | value):
        try:
            fitted = fit_answer(changed, Sketch)
        except Misfit:
            continue
        assert Sketch.model_validate_json(fitted.model_dump_json()) == fitted
        with contextlib.suppress(ValidationError):
            assert fitted == Sketch.model_validate(changed), "what the schema takes is taken as it is"


@pytest.mark.parametrize("piece", ["{", '{"', '{"a":', '{"a":[', '{"a":{"b":', '{"a":[{"b":1},', '{"a":"x" y', "{a:1}"])
def test_the_cost_of_hostile_text_is_linear(piece: str):
    assert_grows_linearly(repeat_to(piece), find_objects)


def test_deep_nesting_costs_no_stack():
    assert find_objects('{"a": ' * 100_000 + '{"b": 1}' + "}" * 100_000) == []
    nested: Any = "x"
    for _ in range(900):
        nested = {"a": nested}
    reply = AIMessage("", tool_calls=[ToolCall(id="1", name="x", args={"places": nested})])
    with pytest.raises(WrongFormat):
        structured_format(Sketch).read(reply, "")
