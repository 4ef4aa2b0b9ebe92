"""Sloppy answers, by name: each is read as the strict one would be, or loses only what cannot be read."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from testing.cost_growth import assert_grows_linearly, repeat_to
from triage.base.errors import InvalidAnswer
from triage.domain.findings import (
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    PlannerProposal,
    TriageReport,
    WebSearchFinding,
)
from triage.model.fit_schema import fit_answer
from triage.model.lenient_json import find_json_objects
from triage.model.model_errors import WrongFormat
from triage.model.model_reply import ModelReply, RequestedTool
from triage.model.output_formats import structured_format
from triage.model.scalar_values import Misfit, read_line_numbers

BASE = {"agent_name": "a", "summary": "S.", "confidence": 0.85, "reasoning": "R.", "error": None}
FILE = {
    "path": "a/b.py",
    "relevance_reason": "saves",
    "start_line": 12,
    "end_line": 14,
    "symbol": "Store.save",
    "quote": 'if kind == "a":',
}
MISSING = {"kind": "version", "question": "Which version?", "reason": "It differs."}
INVESTIGATION = BASE | {
    "hypothesis": "The cache is stale.",
    "affected_areas": ["cache"],
    "keywords_for_search": ["Store", "save"],
    "error_messages": ["KeyError: 'a'"],
    "kind": "feature_request",
    "missing_information": [MISSING],
    "reproduction": ["Run it."],
    "versions": ["1.2"],
}
CODEBASE = BASE | {"relevant_files": [FILE], "root_cause_location": "a/b.py"}
PAGE = {"title": "T", "url": "https://a.example/", "relevance_reason": "same"}
WEB = BASE | {"relevant_results": [PAGE], "external_root_cause": "A release."}
CRITIQUE = BASE | {
    "verdict": "CONFIRMED",
    "confidence_adjustment": -0.1,
    "gaps": ["Which caller?"],
    "questions_for_reporter": ["Which version?"],
    "gaps_outside": ["numpy 2"],
    "revised_hypothesis": None,
    "ready_for_report": True,
}
PROPOSAL = {"selected": ["codebase_search", "critic"], "reason": "Next.", "confidence": 0.85}
REPORT = {
    "severity": "HIGH",
    "severity_reason": "Data is lost.",
    "confidence": 0.85,
    "summary": "S.",
    "root_cause": "C.",
    "affected_files": [
        {name: FILE[name] for name in FILE if name not in ("relevance_reason", "quote")} | {"reason": "r"}
    ],
    "evidence": [{"claim": "It fails.", "path": "a/b.py", "start_line": 12, "end_line": 14, "quote": "x = 1 + 2"}],
    "reproduction": ["Run it."],
    "missing_information": [MISSING],
    "next_steps": ["Fix it."],
    "suggested_fix": None,
    "external_references": [PAGE],
}
ANSWERS: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (InvestigatorFinding, INVESTIGATION),
    (CodebaseFinding, CODEBASE),
    (WebSearchFinding, WEB),
    (CritiqueFinding, CRITIQUE),
    (PlannerProposal, PROPOSAL),
    (TriageReport, REPORT),
]
SCHEMAS = pytest.mark.parametrize(("schema", "answer"), ANSWERS, ids=[schema.__name__ for schema, _ in ANSWERS])


def read(schema: type[BaseModel], content: str, tools: list[RequestedTool] | None = None, finish: str = "stop") -> Any:
    reply = ModelReply(
        model="m",
        mode="json_schema",
        content=content,
        tools=tools or [],
        finish_reason=finish,
        refused=False,
        input_tokens=1,
        output_tokens=1,
        cached_tokens=0,
        estimated=False,
    )
    return structured_format(schema).modes[0].read(reply)


def dump(answer: dict[str, Any]) -> str:
    return json.dumps(answer, indent=1)


AROUND = {
    "as asked": lambda text: text,
    "prose before": lambda text: f"Sure! Here is the analysis you asked for:\n\n{text}",
    "prose around": lambda text: f'Here it is ("as JSON"):\n{text}\nLet me know if {{you}} need more.',
    "fence": lambda text: f"```json\n{text}\n```",
    "fence in capitals": lambda text: f"```JSON\n{text}\n```",
    "fence without a line end": lambda text: f"```json{text}```",
    "fence without a language": lambda text: f"```\n{text}\n```",
    "fence with prose around": lambda text: f"Answer:\n\n```json\n{text}\n```\n\nI hope this helps.",
    "fence that is not closed": lambda text: f"```json\n{text}",
    "thinking": lambda text: f"<think>I look at Store.save.</think>\n{text}",
    "thinking with a draft": lambda text: f'<think>Draft: {{"summary": "wrong"}} {text[:-1]}, "x": 1}}</think>{text}',
    "thinking twice": lambda text: f"<think>a</think><think>{{}}</think>\n{text}",
    "thinking in capitals": lambda text: f"<THINKING>{{}}</THINKING>{text}",
    "thinking whose begin is in the prompt": lambda text: f'I see {{"summary": "wrong"}}.</think>{text}',
    "thinking that is not closed": lambda text: f'<think>First {{"summary": "wrong"}}, or rather:\n{text}\n',
    "another object before": lambda text: f'Given {{"file": 1}}, I answer {text}',
    "a set in braces before": lambda text: f"Of {{Store, save}} and f(x) {{ return }}: {text}",
    "under the name of the schema": lambda text: f'{{"Finding": {text}}}',
    "under answer": lambda text: f'{{"answer": {text}}}',
    "as a function call in the content": lambda text: f'{{"name": "Finding", "arguments": {text}}}',
    "as JSON in JSON": lambda text: json.dumps({"result": text}),
    "in a list": lambda text: f"[{text}]",
    "trailing commas": lambda text: text.replace("\n}", ",\n}").replace("\n ]", ",\n ]"),
    "missing commas": lambda text: text.replace(",\n", "\n"),
    "comments": lambda text: text.replace(",\n", ", // as asked\n").replace("[\n", "[ /* best first */\n"),
    "Python": lambda text: repr(json.loads(text)),
    "names without quotes": lambda text: text.replace('"summary":', "summary:").replace('"reason":', "reason:"),
    "quotes that are not escaped": lambda text: text.replace('\\"a\\"', '"a"'),
    "a missing end": lambda text: text.removesuffix("\n}"),
    "byte order mark": lambda text: f"\ufeff{text}",
    "unknown fields": lambda text: text[:-2] + ',\n "extra": {"a": [1]}\n}',
    "other spelling of names": lambda text: text.replace("agent_name", "agentName").replace("_files", " Files"),
    "confidence in percent": lambda text: text.replace("0.85", '"85%"'),
    "confidence of 85": lambda text: text.replace("0.85", "85"),
    "confidence without quotes": lambda text: text.replace("0.85", "85%"),
    "confidence as text": lambda text: text.replace("0.85", '"0.85"'),
    "confidence with a comma": lambda text: text.replace("0.85", '"0,85"'),
    "enumerations in small letters": lambda text: text.replace("HIGH", "high").replace("CONFIRMED", "confirmed"),
    "enumerations as words": lambda text: (
        text.replace("HIGH", "High (data loss)")
        .replace("CONFIRMED", "Confirmed")
        .replace("feature_request", "Feature Request")
        .replace('"codebase_search"', '"Codebase Search"')
    ),
    "enumerations with hyphens": lambda text: text.replace("feature_request", "feature-request"),
}


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_every_form_of_an_answer_is_read_like_the_strict_one(around: Any):
    for schema, answer in ANSWERS:
        assert read(schema, around(dump(answer))) == schema.model_validate(answer)


@SCHEMAS
@pytest.mark.parametrize("args", [json.loads, lambda text: text[:-2] + ",}", lambda text: f"{text} "])
def test_a_call_is_read_whatever_it_is_named(args: Any, schema: type[BaseModel], answer: Any):
    call = RequestedTool(id="1", name="anything", args=args(dump(answer)))
    assert read(schema, "", [call]) == read(schema, "I call it.", [call]) == schema.model_validate(answer)


BLANKS = ["", "null", "None", "N/A", "none", " n/a. ", "undefined"]


@pytest.mark.parametrize("error", [*BLANKS, "No error", "false", False, 0, {}])
def test_an_error_that_says_there_is_none_is_no_refusal(error: Any):
    assert read(CritiqueFinding, dump(CRITIQUE | {"error": error})) == CritiqueFinding.model_validate(CRITIQUE)


@pytest.mark.parametrize("blank", BLANKS)
def test_a_nullable_text_that_says_nothing_is_null(blank: str):
    answer = read(CodebaseFinding, dump(CODEBASE | {"relevant_files": [FILE | {"symbol": blank}]}))
    assert answer.relevant_files[0].symbol is None
    assert read(CritiqueFinding, dump(CRITIQUE | {"revised_hypothesis": blank})).revised_hypothesis is None


@pytest.mark.parametrize(
    ("schema", "fields"),
    [
        (InvestigatorFinding, {"hypothesis": ""}),
        (CodebaseFinding, {}),
        (WebSearchFinding, {}),
        (CritiqueFinding, {"verdict": "CHALLENGED"}),
    ],
)
def test_a_refusal_needs_its_reason_only(schema: Any, fields: dict[str, Any]):
    answer = read(schema, '{"error": "I see no code."}')
    assert (answer.error, answer.model_dump() | fields) == ("I see no code.", answer.model_dump())


FITTED = [
    ("a missing name", CODEBASE, {"agent_name": ...}, {"agent_name": ""}),
    ("a missing confidence", CODEBASE, {"confidence": ...}, {"confidence": 0.4}),
    ("a missing nullable field", CODEBASE, {"error": ..., "root_cause_location": ...}, {"root_cause_location": None}),
    ("a missing list", INVESTIGATION, {"versions": ...}, {"versions": []}),
    ("null for a list", CRITIQUE, {"gaps": None}, {"gaps": []}),
    ("a word for a list", CRITIQUE, {"gaps": "None"}, {"gaps": []}),
    ("a text for a list", CRITIQUE, {"gaps": "Which caller?"}, {"gaps": ["Which caller?"]}),
    ("lines for a list", INVESTIGATION, {"reproduction": "1. Run\n2. Stop"}, {"reproduction": ["Run", "Stop"]}),
    ("objects for texts", INVESTIGATION, {"versions": [{"name": "a", "version": "1"}]}, {"versions": ["a: 1"]}),
    ("numbers for texts", INVESTIGATION, {"versions": [1.5, 3]}, {"versions": ["1.5", "3"]}),
    ("a list for a text", CRITIQUE, {"summary": ["a", "b"]}, {"summary": "a\nb"}),
    ("an unknown kind", INVESTIGATION, {"kind": "a novel"}, {"kind": "bug"}),
    ("the beginning of a kind", INVESTIGATION, {"kind": "Feature"}, {"kind": "feature_request"}),
    ("an unknown severity", REPORT, {"severity": "P7"}, {"severity": None}),
    ("a flag as a word", CRITIQUE, {"ready_for_report": "Yes"}, {"ready_for_report": True}),
    ("a missing flag", CRITIQUE, {"ready_for_report": ...}, {"ready_for_report": False}),
    ("an adjustment in percent", CRITIQUE, {"confidence_adjustment": "-10%"}, {"confidence_adjustment": -0.1}),
    ("an adjustment with a sign", CRITIQUE, {"confidence_adjustment": "+0.2"}, {"confidence_adjustment": 0.2}),
    ("a missing adjustment", CRITIQUE, {"confidence_adjustment": None}, {"confidence_adjustment": 0.0}),
    ("verdict with a remark", CRITIQUE, {"verdict": "Confirmed by the code shown"}, {}),
    ("verdict in a list", CRITIQUE, {"verdict": ["CONFIRMED"]}, {}),
    ("verdict in bold type", CRITIQUE, {"verdict": "**confirmed**"}, {}),
    ("verdict by a synonym", CRITIQUE, {"verdict": "Rejected"}, {"verdict": "CHALLENGED"}),
    ("no gaps in words", CRITIQUE, {"gaps": "No gaps found."}, {"gaps": []}),
    ("confidence as a word", CRITIQUE, {"confidence": "High"}, {"confidence": 0.8}),
    ("confidence with a remark", CRITIQUE, {"confidence": "0.6 (moderate)"}, {"confidence": 0.6}),
    ("confidence as a word with a remark", CRITIQUE, {"confidence": "High (seen)"}, {"confidence": 0.8}),
    ("confidence about", CRITIQUE, {"confidence": "~80%"}, {"confidence": 0.8}),
    ("confidence in words", CRITIQUE, {"confidence": "about 85 percent"}, {"confidence": 0.85}),
    ("confidence of two", CRITIQUE, {"confidence": "0.6 - 0.8"}, {"confidence": 0.4}),
    ("words for none in a list", CRITIQUE, {"gaps": ["None", "N/A", "Which?"]}, {"gaps": ["Which?"]}),
    ("names in a list", INVESTIGATION, {"keywords_for_search": ["None"]}, {"keywords_for_search": ["None"]}),
    ("severity by a synonym", REPORT, {"severity": "Moderate"}, {"severity": "MEDIUM"}),
    ("severity with its name", REPORT, {"severity": "High severity"}, {"severity": "HIGH"}),
    ("confidence of ten", CRITIQUE, {"confidence": "8/10"}, {"confidence": 0.8}),
    ("confidence without sense", CRITIQUE, {"confidence": 1e308}, {"confidence": 0.4}),
    ("a negative confidence", CRITIQUE, {"confidence": -3}, {"confidence": 0.4}),
    ("one agent", PROPOSAL, {"selected": "Codebase Search"}, {"selected": ["codebase_search"]}),
]


@pytest.mark.parametrize(("answer", "change", "expected"), [row[1:] for row in FITTED], ids=[row[0] for row in FITTED])
def test_a_field_that_does_not_fit_costs_only_itself(answer: Any, change: dict[str, Any], expected: dict[str, Any]):
    schema = next(schema for schema, known in ANSWERS if known is answer)
    changed = {name: value for name, value in (answer | change).items() if value is not ...}
    assert read(schema, dump(changed)) == schema.model_validate(answer | expected)


def test_files_by_their_paths():
    files = {"a/b.py": {"lines": "12-14", "reason": "saves"}, "c.py": "loads", "d.py": None}
    answer = read(CodebaseFinding, dump(CODEBASE | {"relevant_files": files}))
    assert [(file.path, file.start_line) for file in answer.relevant_files] == [
        ("a/b.py", 12),
        ("c.py", None),
        ("d.py", None),
    ]
    assert answer.relevant_files[0].relevance_reason == "saves"


FILES = [
    ("a path alone", "a/b.py:12-14", {"path": "a/b.py:12-14"}),
    ("another name of the path", {"file": "a/b.py"}, {"path": "a/b.py"}),
    ("another name of the reason", {"path": "a/b.py", "reason": "r"}, {"path": "a/b.py", "relevance_reason": "r"}),
    ("lines as a range", {"path": "p", "lines": "12-14"}, {"path": "p", "start_line": 12, "end_line": 14}),
    ("lines as a list", {"path": "p", "lines": [12, 14]}, {"path": "p", "start_line": 12, "end_line": 14}),
    (
        "lines as an object",
        {"path": "p", "lines": {"start": 12, "end": 14}},
        {"path": "p", "start_line": 12, "end_line": 14},
    ),
    ("one line", {"path": "p", "line": "L12"}, {"path": "p", "start_line": 12}),
    ("a range as first line", {"path": "p", "start_line": "12-14"}, {"path": "p", "start_line": 12, "end_line": 14}),
    (
        "lines as texts",
        {"path": "p", "start_line": "12", "end_line": "L14"},
        {"path": "p", "start_line": 12, "end_line": 14},
    ),
    ("lines as floats", {"path": "p", "start_line": 12.0}, {"path": "p", "start_line": 12}),
    ("lines that are none", {"path": "p", "start_line": "unknown", "end_line": True}, {"path": "p"}),
]


@pytest.mark.parametrize(("item", "expected"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
def test_a_file_is_read_in_other_forms_and_a_bad_one_costs_only_itself(item: Any, expected: dict[str, Any]):
    answer = read(CodebaseFinding, dump(CODEBASE | {"relevant_files": [FILE, item, {"line": 3}, 7, None]}))
    blank = {"relevance_reason": "", "start_line": None, "end_line": None, "symbol": None, "quote": None}
    assert [file.model_dump() for file in answer.relevant_files] == [FILE, blank | expected]


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("12", [12]),
        ("L12-L14", [12, 14]),
        ("lines 12 to 14", [12, 14]),
        ("12\u201314", [12, 14]),
        ("14-12", [14, 12]),
        ([12, 13, 14], [12, 13]),
        ("twelve", []),
        ("12-14-16", []),
        ({}, []),
    ],
)
def test_lines_in_other_forms(written: Any, numbers: list[int]):
    assert read_line_numbers(written) == numbers


@pytest.mark.parametrize(
    ("schema", "content", "problem"),
    [
        (InvestigatorFinding, dump(INVESTIGATION | {"hypothesis": None}), "hypothesis missing"),
        (InvestigatorFinding, '{"type": "object", "properties": {"hypothesis": {"type": "string"}}}', "hypothesis"),
        (CritiqueFinding, dump(CRITIQUE | {"verdict": "perhaps"}), "verdict missing"),
        (CritiqueFinding, dump(CRITIQUE | {"verdict": "Not confirmed"}), "verdict missing"),
        (CodebaseFinding, dump(BASE), "relevant_files or root_cause_location missing"),
        (CodebaseFinding, dump(BASE | {"relevant_files": [{"line": 3}]}), "relevant_files or root_cause_location"),
        (PlannerProposal, dump(PROPOSAL | {"selected": ["cook"]}), "selected missing"),
        (TriageReport, dump(REPORT | {"root_cause": "N/A"} | {"summary": None}), "summary, root_cause missing"),
        (TriageReport, "<think>" + dump(REPORT) + " but wait", "no JSON object"),
        (TriageReport, "[]", "no JSON object"),
    ],
)
def test_an_answer_without_its_content_is_a_misfit_that_says_why(schema: Any, content: str, problem: str):
    with pytest.raises(WrongFormat, match=problem):
        read(schema, content)


def test_an_answer_that_was_cut_is_used_as_far_as_it_goes():
    text = dump(CODEBASE | {"relevant_files": [FILE, FILE]})
    cut = text[: text.rindex('"symbol"') + 14]
    answer = read(CodebaseFinding, cut, finish="length")
    assert [file.model_dump() for file in answer.relevant_files] == [FILE, FILE | {"symbol": None, "quote": None}]


def test_half_a_number_of_an_answer_that_was_cut_is_no_number():
    assert read(CodebaseFinding, '{"relevant_files": [], "confidence": 0.1', finish="length").confidence == 0.4
    assert read(CodebaseFinding, '{"relevant_files": [], "confidence": 0.1').confidence == 0.1


# --- hostile text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=12,
)
MARKS = [
    '{"',
    '"}',
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\\",
    "'",
    "//",
    "/*",
    "*/",
    "#",
    "```",
    "<think>",
    "</think>",
    "1e",
    "NaN",
    "-Infinity",
    "\\ud800",
    "true",
]
NAMES = ['"error":', '"relevant_files":[', '"path":', "9" * 5_000, "\ud800", "\n", " "]
pieces = st.sampled_from([*MARKS, *NAMES])
hostile = st.lists(pieces | st.text(max_size=4), max_size=30).map("".join)


@given(st.dictionaries(st.text(), json_values), st.booleans(), st.sampled_from([None, 1]))
def test_valid_json_in_prose_is_read_as_it_is(value: dict[str, Any], ascii_only: bool, indent: int | None):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert find_json_objects(f"Sure:\n{text}\nThat is all.") == [value]


@given(hostile)
def test_hostile_text_is_an_answer_or_a_misfit(text: str):
    for content in (text, "{" + text, f'{{"relevant_files": [{text}]}}'):
        with contextlib.suppress(InvalidAnswer):
            assert isinstance(read(CodebaseFinding, content), CodebaseFinding)


@given(st.dictionaries(st.sampled_from([*CODEBASE, *REPORT, "lines"]), json_values), st.sampled_from(ANSWERS))
def test_any_object_is_fitted_or_a_misfit(value: dict[str, Any], known: tuple[type[BaseModel], dict[str, Any]]):
    schema, answer = known
    for changed in (value, answer | value):
        try:
            fitted = fit_answer(changed, schema)
        except Misfit:
            continue
        assert schema.model_validate_json(fitted.model_dump_json()) == fitted


@given(st.sampled_from(ANSWERS), st.dictionaries(st.sampled_from([*CODEBASE, *REPORT]), json_values, max_size=2))
def test_what_the_schema_takes_is_taken_as_the_schema_takes_it(known: Any, change: dict[str, Any]):
    schema, answer = known
    text = json.dumps(answer | change)
    try:
        strict = schema.model_validate_json(text)
    except ValidationError:
        return
    assert read(schema, text) == strict


def test_of_a_repeated_name_the_last_counts():
    text = dump(CRITIQUE).replace('"summary": "S."', '"summary": "first", "summary": "last"')
    assert read(CritiqueFinding, text).summary == read(CritiqueFinding, f"So: {text}").summary == "last"


def test_lone_surrogates_are_replaced():
    assert read(CritiqueFinding, "So: " + dump(CRITIQUE | {"summary": "a\ud800b"})).summary == "a?b"


PIECES = ["{", '{"', '{"a":', '{"a":[', "<think>", "<think>{", '{"a": /* ', '{"a":"x" y', "{a:1}", '{"a":1}</think>']


@pytest.mark.parametrize("piece", [*PIECES, '{"a":"\\', '"', "\\", " ", "[", "{'", '{"a": #'])
def test_the_cost_of_hostile_text_is_linear(piece: str):
    begin = "" if "{" in piece else '{"a": '
    assert_grows_linearly(lambda size: begin + repeat_to(piece)(size), find_json_objects)


def test_deep_nesting_costs_no_stack():
    assert find_json_objects('{"a": ' * 100_000 + '{"b": 1}' + "}" * 100_000) == []
    nested: Any = "x"
    for _ in range(900):
        nested = {"a": nested, "lines": [nested]} if nested == "x" else {"a": nested}
    call = RequestedTool(id="1", name="x", args={"relevant_files": nested})
    with pytest.raises(WrongFormat):
        read(CodebaseFinding, "", [call])
