"""Finds frames of native code: GDB, LLDB, sanitizers, Valgrind and crash reports of macOS."""

import re
from collections.abc import Sequence

from triage.issue.traces.trace_parts import FrameLine, frame_from_groups


def find_native_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """A frame of a native debugger, whose location may be on one of the next lines."""
    match = next((found for pattern in _ON_ONE_LINE if (found := pattern.match(lines[number]))), None)
    if match is not None:
        return frame_from_groups(match.groupdict())
    call = _NATIVE_CALL.match(lines[number])
    for following in lines[number + 1 : number + 4] if call else ():
        location = _NATIVE_LOCATION.match(following)
        if location is not None:
            return FrameLine(location["path"], int(location["line"]), call["function"].strip() if call else None)
        if _NATIVE_CALL.match(following):
            break
    return None


def find_module_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """A frame of a program without debugging information: the library takes the place of the source."""
    match = _MODULE.match(lines[number])
    return FrameLine(match["path"] or match["from"], None, match["function"]) if match else None


_SOURCE = (
    r"(?P<path>(?:[A-Za-z]:)?[^\s:()]{1,300}\.(?:cc|cpp|cxx|c|hpp|hh|h|tcc|m|mm|swift|inl|S|cu)):(?P<line>\d{1,7})"
)
_NATIVE = re.compile(
    r"\s*#\d{1,4}\s+(?:0x[0-9a-fA-F]{1,16} )?(?:in )?(?P<function>[^\s(][^\n]{0,300}?) (?:\(.{0,500}\) "
    rf")?(?:at |from )?{_SOURCE}(?::\d{{1,7}})?"
)
_NATIVE_CALL = re.compile(r"\s*#\d{1,4}\s+(?:0x[0-9a-fA-F]{1,16} )?(?:in )?(?P<function>[^\s(].{0,300}?) \(")
_NATIVE_LOCATION = re.compile(rf"\s+at {_SOURCE}(?::\d{{1,7}})?\s*$")
_ON_ONE_LINE = (
    _NATIVE,
    re.compile(
        rf"\s*\*?\s*frame #\d{{1,4}}: 0x[0-9a-fA-F]{{1,16}} [^\s`]{{1,100}}`(?P<function>\S.{{0,300}}?) at {_SOURCE}"
    ),
    re.compile(rf"==\d{{1,9}}==\s{{1,8}}(?:at|by) 0x[0-9A-F]{{1,16}}: (?P<function>\S.{{0,300}}?) \({_SOURCE}\)"),
    re.compile(
        rf"\s*\d{{1,4}}\s{{1,8}}\S.{{0,60}}?\s0x[0-9a-fA-F]{{1,16}} (?P<function>\S.{{0,300}}?)(?: \+ \d{{1,9}})? "
        rf"\({_SOURCE}\)"
    ),
)
_MODULE = re.compile(
    r"\s*#\d{1,4}\s+0x[0-9a-fA-F]{1,16} (?:in )?(?P<function>\S.{0,600}?) "
    r"(?:\((?P<path>[^\s()+]{1,300})(?:\+0x[0-9a-f]{1,16})?\)|\(\) from (?P<from>\S{1,300}))"
    r"(?: \(BuildId.{0,80}\))?\s*$"
)
