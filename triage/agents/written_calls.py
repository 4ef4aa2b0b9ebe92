"""Tool calls as models write them: `functions.grep`, `readLines`, `{"pattern": "x"}`, `{"lines": "5-9"}`.

A call that cannot be read costs a turn, which sends the whole conversation again.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall
from langchain_core.tools import BaseTool

from triage.citations.written_place import list_readings, read_line_numbers

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names of tools that endpoints accept in a conversation."""
MIN_NAME_CHARS = 4
"""Of a part of a tool's name that stands for it."""
LINES_FROM_START = 100
"""Lines to read where a call says only where to begin."""
_OTHER_TOOLS = {
    "read_lines": ("readfile", "viewfile", "openfile", "getfile", "view", "cat"),
    "grep": ("ripgrep", "rg", "findtext", "search", "searchcode", "findreferences", "findusages", "callers"),
    "find_symbol": ("finddefinition", "getdefinition", "gotodefinition"),
    "git_log": ("history", "githistory"),
}
"""Names of such tools elsewhere, folded."""
_OTHER_NAMES = {
    "path": ("file", "filepath", "filename"),
    "start": ("startline", "from", "first", "line", "lines", "linestart", "offset"),
    "end": ("endline", "to", "last", "lineend"),
    "text": ("pattern", "query", "string", "search", "regex"),
    "name": ("symbol", "symbolname", "function", "identifier", "query"),
}


def parse_calls(message: AIMessage, turn: int, tools: Sequence[BaseTool]) -> list[ToolCall | InvalidToolCall]:
    """Return the calls of a message in a form that can be run and sent again, each with an id of its own."""
    found: dict[str, ToolCall | InvalidToolCall] = {}
    calls = [one for call in message.tool_calls for one in _split_parallel(call)]
    for number, call in enumerate([*calls, *message.invalid_tool_calls]):
        key = call["id"] if call["id"] and call["id"] not in found else f"call_{turn}_{number}"
        tool = _find_tool(call["name"] or "", tools)
        name = tool.name if tool else call["name"] if _NAME.fullmatch(call["name"] or "") else "unknown_tool"
        if isinstance(call["args"], dict):
            fitted = _fit_arguments(call["args"], tool) if tool else call["args"]
            found[key] = ToolCall(name=name or "", args=fitted, id=key, type="tool_call")
        else:
            found[key] = InvalidToolCall(name=name, args="", id=key, error=None, type="invalid_tool_call")
    return list(found.values())


def _split_parallel(call: ToolCall) -> list[ToolCall]:
    """Return the calls in one of `multi_tool_use.parallel`, which some models make up."""
    uses = call["args"].get("tool_uses")
    if not isinstance(uses, list):
        return [call]
    return [
        ToolCall(name=str(use.get("recipient_name")), args=args, id=None)
        for use in uses
        if isinstance(use, dict) and isinstance(args := use.get("parameters"), dict)
    ] or [call]


def _find_tool(written: str, tools: Sequence[BaseTool]) -> BaseTool | None:
    """Return the tool of this name, else the only one whose name has the written one in it, or stands in it."""
    name = _fold(re.split(r"[.:/]", written)[-1])
    by_name = {_fold(tool.name): tool for tool in tools}
    others = {other: tool for tool in tools for other in _OTHER_TOOLS.get(tool.name, ())}
    if known := by_name.get(name) or others.get(name):
        return known
    near = [tool for one, tool in by_name.items() if len(name) >= MIN_NAME_CHARS and (name in one or one in name)]
    return near[0] if len(near) == 1 else None


def _fit_arguments(args: Mapping[str, Any], tool: BaseTool) -> dict[str, Any]:
    """Return the arguments that the tool has; missing ones by other names, or the only text for the only one."""
    wanted = tool.args
    by_name = {_fold(name): value for name, value in args.items()}
    fitted = {name: value for name in wanted if (value := _find_value(by_name, name)) is not None}
    texts = [value for value in args.values() if isinstance(value, str)]
    if len(wanted) == 1 and not fitted and len(texts) == 1:
        fitted = {next(iter(wanted)): texts[0]}
    fitted = {name: _strip_backticks(value) for name, value in fitted.items()}
    if {"path", "start", "end"} <= wanted.keys() and isinstance(fitted.get("path"), str):
        fitted |= _fit_lines(fitted)
    return fitted or dict(args)


def _strip_backticks(value: Any) -> Any:
    is_marked = isinstance(value, str) and len(value) > 2 and value[0] == value[-1] == "`"
    return value.strip("`") if is_marked else value


def _find_value(by_name: Mapping[str, Any], name: str) -> Any:
    known = (_fold(name), *_OTHER_NAMES.get(name, ()))
    return next((by_name[key] for key in known if by_name.get(key) is not None), None)


def _fit_lines(fitted: Mapping[str, Any]) -> dict[str, int]:
    """Return first and last line, from whatever says them: `"12-14"`, `[12, 14]`, `"L12"`, or the path `a.py:12-14`."""
    numbers = [number for name in ("start", "end") for number in read_line_numbers(fitted.get(name))]
    if not numbers:
        places = [place for place in list_readings(fitted["path"], "") if place.start]
        numbers = [places[0].start or 1, places[0].end or 1] if places else [1]
    return {"start": numbers[0], "end": numbers[-1] if len(numbers) > 1 else numbers[0] + LINES_FROM_START - 1}


def _fold(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
