"""How the tool calls of a model are read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolCall

from testing.fakes import FakeCodebase
from triage.agents.code_tools import build_code_tools
from triage.agents.written_calls import parse_calls

TOOLS = build_code_tools(FakeCodebase())
NAMES = [tool.name for tool in TOOLS]


def read(name: str, args: dict[str, Any]) -> tuple[str | None, Any]:
    call = ToolCall(name=name, args=args, id="1")
    [found] = parse_calls(AIMessage("", tool_calls=[call]), 0, TOOLS)
    return found["name"], found["args"]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *((name, name) for name in NAMES),
        ("functions.grep", "grep"),
        ("readLines", "read_lines"),
        ("default_api:find_symbol", "find_symbol"),
        ("callers", "grep"),
        ("search", "grep"),
        ("history", "git_log"),
        ("read_file", "read_lines"),
        ("findReferences", "grep"),
        ("no_such_tool", "no_such_tool"),
        ("git", "git"),  # too short to stand for another name
        ("find_symbol_or_grep", "find_symbol_or_grep"),  # the names of two tools
        ("not a name", "unknown_tool"),
        ("", "unknown_tool"),
    ],
)
def test_the_name_of_a_tool(written: str, name: str):
    assert read(written, {})[0] == name


@pytest.mark.parametrize(
    ("name", "written", "args"),
    [
        ("grep", {"text": "x"}, {"text": "x"}),
        ("grep", {"pattern": "x"}, {"text": "x"}),
        ("grep", {"pattern": "x", "regex": False}, {"text": "x"}),
        ("grep", {"text": "x", "path": "src"}, {"text": "x"}),
        ("grep", {"pattern": "x", "path": "src"}, {"text": "x"}),
        ("find_symbol", {"symbol": "x", "path": "src"}, {"name": "x"}),
        ("grep", {"one": "x", "two": "y"}, {"one": "x", "two": "y"}),  # nobody knows which
        ("grep", {"text": "`x y(`"}, {"text": "x y("}),
        ("grep", {"text": "a `x`"}, {"text": "a `x`"}),
        ("find_symbol", {"Name": "x"}, {"name": "x"}),
        ("read_lines", {"path": "a.py", "start": 5, "end": 9}, {"path": "a.py", "start": 5, "end": 9}),
        ("read_lines", {"path": "a.py", "start": "5", "end": "L9"}, {"path": "a.py", "start": 5, "end": 9}),
        ("read_lines", {"file": "a.py", "start_line": 5, "end_line": 9}, {"path": "a.py", "start": 5, "end": 9}),
        ("read_lines", {"file": "a.py", "lines": "5-9"}, {"path": "a.py", "start": 5, "end": 9}),
        ("read_lines", {"path": "a.py", "lines": [5, 9]}, {"path": "a.py", "start": 5, "end": 9}),
        ("read_lines", {"path": "a.py:5-9"}, {"path": "a.py:5-9", "start": 5, "end": 9}),
        ("read_lines", {"path": "a.py", "start": 5}, {"path": "a.py", "start": 5, "end": 104}),
        ("read_lines", {"path": "a.py"}, {"path": "a.py", "start": 1, "end": 100}),
        ("read_lines", {"start": 5}, {"start": 5}),
        ("no_such_tool", {"a": 1}, {"a": 1}),
    ],
)
def test_the_arguments_of_a_tool(name: str, written: dict[str, Any], args: dict[str, Any]):
    assert read(name, written) == (name, args)


def test_calls_in_one_call():
    uses = [
        {"recipient_name": "functions.grep", "parameters": {"text": "x"}},
        {"recipient_name": "functions.find_symbol", "parameters": {"name": "y"}},
        7,
    ]
    call = ToolCall(name="multi_tool_use.parallel", args={"tool_uses": uses}, id="1")
    found = parse_calls(AIMessage("", tool_calls=[call]), 0, TOOLS)
    assert [(one["name"], one["args"]) for one in found] == [("grep", {"text": "x"}), ("find_symbol", {"name": "y"})]
    assert len({one["id"] for one in found}) == 2
    [other] = parse_calls(AIMessage("", tool_calls=[call | {"args": {"tool_uses": [7]}}]), 0, TOOLS)
    assert other["name"] == "unknown_tool"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.sampled_from(["path", "start", "end", "lines", "text", "name", "tool_uses"]) | st.text(max_size=5)


@given(st.sampled_from(NAMES) | st.text(max_size=20), st.dictionaries(ARGUMENTS, JSON, max_size=4))
def test_any_call_can_be_sent_again(name: str, args: dict[str, Any]):
    found, _ = read(name, args)
    assert 0 < len(found or "") <= 64
