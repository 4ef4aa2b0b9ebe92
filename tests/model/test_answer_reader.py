"""Answers as models write them: around the object, in it, cut, quoted, hostile."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from pydantic import BaseModel, ValidationError

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.fakes import FakeCodebase
from tests.model.answers import ANSWERS, BASE, CODEBASE, CRITIQUE, FILE, INVESTIGATION, REPORT, dump, make_reply, read
from triage.agents.code_tools import build_code_tools
from triage.agents.written_calls import parse_calls
from triage.base.errors import InvalidAnswer
from triage.domain.findings import CodebaseFinding, CritiqueFinding, InvestigatorFinding, TriageReport
from triage.model.answer_reader import Misfit, find_objects, fit_answer
from triage.model.model_errors import WrongFormat
from triage.model.output_formats import RequestedTool, to_model_reply, tools_or_answer_format

SCHEMAS = pytest.mark.parametrize(("schema", "answer"), ANSWERS, ids=[schema.__name__ for schema, _ in ANSWERS])

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
FITTED: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("a missing confidence", CODEBASE, {"confidence": ...}, {"confidence": 0.4}),
    ("an impossible confidence", CODEBASE, {"confidence": 85}, {"confidence": 0.4}),
    ("missing fields", CODEBASE, {"error": ..., "root_cause_location": ...}, {"root_cause_location": None}),
    ("null for a list", CRITIQUE, {"gaps": None}, {"gaps": []}),
    ("a number for a text of a list", INVESTIGATION, {"versions": ["1.2", 3]}, {"versions": ["1.2"]}),
    ("numbers as texts", CODEBASE, {"confidence": "0.85"}, {}),
    ("an unknown kind", INVESTIGATION, {"kind": "a novel"}, {"kind": None}),
    ("an adjustment of 30", CRITIQUE, {"confidence_adjustment": 30}, {"confidence_adjustment": 0.0}),
    ("a flag as a word", CRITIQUE, {"ready_for_report": "yes"}, {"ready_for_report": True}),
    ("a word for no text", CRITIQUE, {"revised_hypothesis": "N/A"}, {}),
    ("a word for no error", CRITIQUE, {"error": "No error"}, {}),
    ("files of which some cannot be read", CODEBASE, {"relevant_files": [FILE, {"line": 3}, 7, None]}, {}),
    (
        "a file with a line that is none",
        CODEBASE,
        {"relevant_files": [FILE | {"end_line": "x"}]},
        {"relevant_files": [FILE | {"end_line": None}]},
    ),
]
MISFITS = [
    (InvestigatorFinding, dump(INVESTIGATION | {"hypothesis": None}), "hypothesis missing"),
    (InvestigatorFinding, dump(INVESTIGATION | {"hypothesis": ""}), "hypothesis missing"),
    (InvestigatorFinding, '{"type": "object", "properties": {"hypothesis": {"type": "string"}}}', "hypothesis"),
    (CritiqueFinding, dump(CRITIQUE | {"verdict": "perhaps"}), "verdict missing"),
    (CodebaseFinding, dump(BASE), "relevant_files or root_cause_location missing"),
    (CodebaseFinding, dump(BASE | {"relevant_files": [{"line": 3}]}), "relevant_files or root_cause_location"),
    (TriageReport, dump(REPORT | {"root_cause": "N/A"}), "root_cause missing"),
    (TriageReport, dump(REPORT | {"summary": None} | {"root_cause": 7}), "summary, root_cause missing"),
    (TriageReport, "[]", "no JSON object"),
    (TriageReport, "Why. The error happens because the pattern is wrong.", "no JSON object"),
]


def list_answers() -> Iterator[tuple[str, type[BaseModel], str, dict[str, Any]]]:
    """Yield every form of a whole answer: name, schema, what is written, and what is understood."""
    for schema, answer in ANSWERS:
        for name, around in AROUND.items():
            yield f"{schema.__name__} {name}", schema, around(dump(answer)), answer
    for name, answer, change, expected in FITTED:
        schema = next(schema for schema, known in ANSWERS if known is answer)
        changed = {field: value for field, value in (answer | change).items() if value is not ...}
        yield name, schema, dump(changed), answer | expected


@pytest.mark.parametrize(
    ("schema", "written", "understood"), [row[1:] for row in list_answers()], ids=[row[0] for row in list_answers()]
)
def test_an_answer(schema: type[BaseModel], written: str, understood: dict[str, Any]):
    assert read(schema, written) == schema.model_validate(understood)


@SCHEMAS
@pytest.mark.parametrize("args", [json.loads, lambda text: f"```json\n{text}\n```"], ids=["object", "text"])
def test_a_call_is_read_whatever_it_is_named(args: Any, schema: type[BaseModel], answer: Any):
    message = AIMessage("I call it.", tool_calls=[], invalid_tool_calls=[])
    written = args(dump(answer))
    if isinstance(written, dict):
        message.tool_calls = [ToolCall(name="anything", args=written, id="1")]
    else:
        call = InvalidToolCall(name="anything", args=written, id="1", error=None, type="invalid_tool_call")
        message.invalid_tool_calls = [call]
    reply = to_model_reply(message)
    assert read(schema, reply.text, reply.tools) == schema.model_validate(answer)


@pytest.mark.parametrize(
    ("schema", "fields"),
    [(InvestigatorFinding, {"hypothesis": ""}), (CodebaseFinding, {}), (CritiqueFinding, {"verdict": "CHALLENGED"})],
)
def test_a_refusal_needs_its_reason_only(schema: Any, fields: dict[str, Any]):
    answer = read(schema, '{"error": "I see no code."}')
    assert (answer.error, answer.model_dump() | fields) == ("I see no code.", answer.model_dump())


@pytest.mark.parametrize(("schema", "written", "problem"), MISFITS)
def test_an_answer_without_its_content_is_a_misfit_that_says_why(schema: Any, written: str, problem: str):
    with pytest.raises(WrongFormat, match=problem):
        read(schema, written)


def test_an_answer_that_was_cut_is_used_as_far_as_it_goes():
    text = dump(CODEBASE | {"relevant_files": [FILE, FILE]})
    cut = text[: text.rindex('"symbol"') + 14]
    answer = read(CodebaseFinding, cut, finish="length")
    assert [file.model_dump() for file in answer.relevant_files] == [FILE, FILE | {"symbol": None, "quote": None}]


def test_half_a_number_is_no_number():
    assert read(CodebaseFinding, '{"relevant_files": [], "confidence": 0.1', finish="length").confidence == 0.4


def test_an_object_that_the_prompt_holds_is_no_answer():
    own, quoted = {"b": {"c": 2}}, '{ "a": {"x": 1} }'
    for text in (f"{json.dumps(own)} as in {quoted}", f"{quoted}: {json.dumps(own)}"):
        assert find_objects(text, f"> {quoted}") == [own]
    assert find_objects(quoted, f"> {json.dumps(json.loads(quoted), indent=2)}") == []


CALL = '{"name": "grep", "arguments": {"text": "x"}}'
GREP = ("grep", {"text": "x"})
TOOLS = build_code_tools(FakeCodebase())
CALLS: list[tuple[str, Any, Any]] = [
    ("grep", {"text": "x"}, GREP),
    ("functions.grep", {"pattern": "x"}, GREP),
    ("callers", {"query": "`x`"}, GREP),
    ("default_api:grep", '{"text": "x"', GREP),
    ("grep", '```json\n{"text": "x"}\n```', GREP),
    ("grep", "x", ("grep", "")),
    ("open_file", {"path": "a.py", "start": "717"}, ("read_lines", {"path": "a.py", "start": 717, "end": 816})),
    ("find_symbol", {"symbol": "x"}, ("find_symbol", {"name": "x"})),
    ("git_log", {"file": "a.py"}, ("git_log", {"path": "a.py"})),
]


@pytest.mark.parametrize(("name", "written", "understood"), CALLS)
def test_a_call(name: str, written: Any, understood: tuple[str, Any]):
    valid = [ToolCall(name=name, args=written, id="1")] if isinstance(written, dict) else []
    other = [] if valid else [InvalidToolCall(name=name, args=written, id="1", error=None, type="invalid_tool_call")]
    reply = to_model_reply(AIMessage("", tool_calls=valid, invalid_tool_calls=other))
    turn = tools_or_answer_format(TOOLS, CodebaseFinding).read(reply, "")
    assert isinstance(turn, AIMessage)
    assert [(call["name"], call["args"]) for call in parse_calls(turn, 0, TOOLS)] == [understood]


@pytest.mark.parametrize("written", [CALL, f"```json\n{CALL}\n```", f"<tool_call>\n{CALL}\n</tool_call>"])
def test_a_call_that_is_written_as_text(written: str):
    turn = tools_or_answer_format(TOOLS, CodebaseFinding).read(make_reply(written), "")
    assert isinstance(turn, AIMessage)
    assert [(call["name"], call["args"]) for call in parse_calls(turn, 0, TOOLS)] == [GREP]


# --- hostile text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=12,
)
MARKS = [*'{}[]:,\\"#', '{"', '"}', "```", "<think>", "</think>", "1e", "NaN", "-Infinity", "\\ud800", "true"]
NAMES = ['"error":', '"relevant_files":[', '"path":', "9" * 5_000, "\ud800", "\n", " "]
hostile = st.lists(st.sampled_from([*MARKS, *NAMES]) | st.text(max_size=4), max_size=30).map("".join)


@given(st.dictionaries(st.text(), json_values), st.booleans(), st.sampled_from([None, 1]))
def test_valid_json_in_prose_is_read_as_it_is(value: dict[str, Any], ascii_only: bool, indent: int | None):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert find_objects(f"Sure:\n{text}\nThat is all.") == [value]


@given(hostile)
def test_hostile_text_is_an_answer_or_a_misfit(text: str):
    for content in (text, "{" + text, f'{{"relevant_files": [{text}]}}'):
        with contextlib.suppress(InvalidAnswer):
            assert isinstance(read(CodebaseFinding, content), CodebaseFinding)


@given(st.dictionaries(st.sampled_from([*CODEBASE, *REPORT]), json_values), st.sampled_from(ANSWERS))
def test_any_object_is_fitted_or_a_misfit(value: dict[str, Any], known: tuple[type[BaseModel], dict[str, Any]]):
    schema, answer = known
    for changed in (value, answer | value):
        try:
            fitted = fit_answer(changed, schema)
        except Misfit:
            continue
        assert schema.model_validate_json(fitted.model_dump_json()) == fitted
        with contextlib.suppress(ValidationError):
            assert fitted == schema.model_validate(changed), "what the schema takes is taken as it is"


@pytest.mark.parametrize("piece", ["{", '{"', '{"a":', '{"a":[', '{"a":{"b":', '{"a":[{"b":1},', '{"a":"x" y', "{a:1}"])
def test_the_cost_of_hostile_text_is_linear(piece: str):
    assert_grows_linearly(repeat_to(piece), find_objects)


def test_deep_nesting_costs_no_stack():
    assert find_objects('{"a": ' * 100_000 + '{"b": 1}' + "}" * 100_000) == []
    nested: Any = "x"
    for _ in range(900):
        nested = {"a": nested}
    call = RequestedTool(id="1", name="x", args={"relevant_files": nested})
    with pytest.raises(WrongFormat):
        read(CodebaseFinding, "", [call])
