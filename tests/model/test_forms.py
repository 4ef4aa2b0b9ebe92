"""What models write, and what is understood: a row each. `...` stands for a field that is left out.

The rows come from runs with small and local models, and from what endpoints and users reported.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from pydantic import BaseModel

from testing.fakes import FakeCodebase
from tests.model.answers import (
    ANSWERS,
    BASE,
    CODEBASE,
    CRITIQUE,
    FILE,
    INVESTIGATION,
    PROPOSAL,
    REPORT,
    dump,
    make_reply,
    read,
)
from triage.agents.code_tools import build_code_tools
from triage.agents.written_calls import parse_calls
from triage.domain.findings import (
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    PlannerProposal,
    TriageReport,
    WebSearchFinding,
)
from triage.model.model_errors import WrongFormat
from triage.model.output_formats import to_model_reply, tools_or_answer_format

NO_PLACE = {"path": None, "start_line": None, "end_line": None, "quote": None}

AROUND: dict[str, Callable[[str], str]] = {
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


FITTED: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
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
    ("an unknown kind", INVESTIGATION, {"kind": "a novel"}, {"kind": None}),
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


FILES: list[tuple[str, Any, dict[str, Any]]] = [
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


BLANKS = ["", "null", "None", "N/A", "none", " n/a. ", "undefined"]
FITTED += [
    (f"no error: {error!r}", CRITIQUE, {"error": error}, {}) for error in [*BLANKS, "No error", "false", False, 0, {}]
]
FITTED += [(f"no text: {blank!r}", CRITIQUE, {"revised_hypothesis": blank}, {}) for blank in BLANKS]
FITTED += [
    ("a kind in capitals", INVESTIGATION, {"kind": "Bug Report"}, {"kind": "bug"}),
    ("a severity with a shout", REPORT, {"severity": "Critical!!"}, {"severity": "CRITICAL"}),
    ("an adjustment of 30", CRITIQUE, {"confidence_adjustment": 30}, {"confidence_adjustment": 0.0}),
    ("a text for evidence", REPORT, {"evidence": "It fails."}, {"evidence": [NO_PLACE | {"claim": "It fails."}]}),
    ("a text for pages", REPORT, {"external_references": "None"}, {"external_references": []}),
]
REFUSALS = [
    (InvestigatorFinding, {"hypothesis": ""}),
    (CodebaseFinding, {}),
    (WebSearchFinding, {}),
    (CritiqueFinding, {"verdict": "CHALLENGED"}),
]
LINES: list[tuple[Any, list[int]]] = [
    ("12", [12]),
    ("L12-L14", [12, 14]),
    ("lines 12 to 14", [12, 14]),
    ("12\u201314", [12, 14]),
    ("14-12", [14, 12]),
    ([12, 13, 14], [12, 13]),
    ("twelve", []),
    ("12-14-16", [12, 14]),
    (12.0, [12]),
    ({"from": 12, "to": 14}, [12, 14]),
    ("12 (the call)", [12]),
    ({}, []),
]
MISFITS = [
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
    for name, item, expected in FILES:
        files = [FILE, item, {"line": 3}, 7, None]  # of which the last three cannot be read
        understood = CODEBASE | {
            "relevant_files": [FILE, NO_PLACE | {"relevance_reason": "", "symbol": None} | expected]
        }
        yield name, CodebaseFinding, dump(CODEBASE | {"relevant_files": files}), understood
    for number, (value, lines) in enumerate(LINES):
        span = {"start_line": lines[0] if lines else None, "end_line": lines[1] if len(lines) > 1 else None}
        written = dump(CODEBASE | {"relevant_files": [FILE | {"start_line": value, "end_line": None}]})
        yield f"lines {number}", CodebaseFinding, written, CODEBASE | {"relevant_files": [FILE | span]}


@pytest.mark.parametrize(
    ("schema", "written", "understood"), [row[1:] for row in list_answers()], ids=[row[0] for row in list_answers()]
)
def test_an_answer(schema: type[BaseModel], written: str, understood: dict[str, Any]):
    assert read(schema, written) == schema.model_validate(understood)


@pytest.mark.parametrize(("schema", "fields"), REFUSALS)
def test_a_refusal_needs_its_reason_only(schema: Any, fields: dict[str, Any]):
    answer = read(schema, '{"error": "I see no code."}')
    assert (answer.error, answer.model_dump() | fields) == ("I see no code.", answer.model_dump())


@pytest.mark.parametrize(("schema", "written", "problem"), MISFITS)
def test_an_answer_without_its_content_is_a_misfit_that_says_why(schema: Any, written: str, problem: str):
    with pytest.raises(WrongFormat, match=problem):
        read(schema, written)


CALL = '{"name": "callers", "arguments": {"text": "x"}}'
GREP = ("grep", {"text": "x"})
TOOLS = build_code_tools(FakeCodebase())
CALLS: list[tuple[str, Any, Any]] = [
    ("grep", {"text": "x"}, GREP),
    ("functions.grep", {"pattern": "x"}, GREP),
    ("callers", {"query": "`x`"}, GREP),
    ("default_api:grep", '{"text": "x"', GREP),
    ("grep", '```json\n{"text": "x",}\n```', GREP),
    ("grep", "{'text': 'x'}", GREP),
    ("grep", "x", ("grep", "")),
    ("open_file", {"path": "a.py", "start": "717"}, ("read_lines", {"path": "a.py", "start": 717, "end": 816})),
    ("find_symbol", {"symbol": "x"}, ("find_symbol", {"name": "x"})),
    ("git_log", {"file": "a.py"}, ("git_log", {"path": "a.py"})),
]


@pytest.mark.parametrize(("name", "written", "understood"), CALLS)
def test_a_call(name: str, written: Any, understood: tuple[str, Any]):
    valid = [ToolCall(name=name, args=written, id="1")] if isinstance(written, dict) else []
    other = [] if valid else [InvalidToolCall(name=name, args=written, id="1", error=None, type="invalid_tool_call")]
    message = AIMessage("", tool_calls=valid, invalid_tool_calls=other)
    reply = to_model_reply(message)
    turn = tools_or_answer_format(TOOLS, CodebaseFinding).modes[0].read(reply)
    assert isinstance(turn, AIMessage)
    assert [(call["name"], call["args"]) for call in parse_calls(turn, 0, TOOLS)] == [understood]


@pytest.mark.parametrize("written", [CALL, f"```json\n{CALL}\n```", f"<tool_call>\n{CALL}\n</tool_call>"])
def test_a_call_that_is_written_as_text(written: str):
    turn = tools_or_answer_format(TOOLS, CodebaseFinding).modes[0].read(make_reply(written))
    assert isinstance(turn, AIMessage)
    assert [(call["name"], call["args"]) for call in parse_calls(turn, 0, TOOLS)] == [("grep", {"text": "x"})]
