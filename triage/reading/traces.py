"""Finds stack traces and compiler messages of every language in `trace_formats.TRACE_FORMATS`.

The libraries on PyPI read one language each (Python's own), so the formats are a table of ours.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from triage.domain.issue import Frame, Trace
from triage.reading.trace_formats import TRACE_FORMATS
from triage.reading.trace_parts import FrameLine, RaisedError, TraceFormat

_MAX_LINE_CHARS = 1_000
_MAX_TRACES = 20
_MAX_FRAMES = 100
_LOG_PREFIX = re.compile(
    r"^(?:INTERNALERROR> ?|> (?=\[\d{4}-)|>{1,2} ?(?=\s*(?:File \"|Traceback|at ))|\[\d{1,3}\]<std(?:err|out)>:|"
    r"[\w.-]{1,40} {1,20}\| |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]{0,20}(?: ?[+-]\d{4}|Z)?\]?:? |"
    r"\[(?:ERROR|INFO|WARN|WARNING|error|warn|stderr)\]:? |[EWF]/?\s?AndroidRuntime(?:\(\s{0,5}\d{1,7}\))?: |"
    r"\d\d-\d\d \d\d:\d\d:[\d.]{2,9} {1,4}\d{1,7} {1,4}\d{1,7} [EWF] \w{1,30}\s{0,4}: ){1,3}"
)
"""What pytest, MPI, Compose, CI, Maven and Android write before each line of a trace."""
_DRIVE = re.compile(r"^([A-Za-z]:)?[\\/]")

_FrameGroup = list[tuple[int, FrameLine]]
"""The frames of one trace in the order of the text, each with the number of its line."""


@dataclass(frozen=True)
class FoundTrace:
    """A trace and the lines it covers: 0-based, the end exclusive."""

    trace: Trace
    start: int
    end: int
    error_line: str = ""


def find_traces(text: str) -> list[FoundTrace]:
    """All traces in the order of the text, at most 20, without overlap. Takes time linear in the text."""
    lines = [_LOG_PREFIX.sub("", line[:_MAX_LINE_CHARS]) for line in text.split("\n")]
    used: set[int] = set()
    found: list[FoundTrace] = []
    for trace_format in TRACE_FORMATS:
        if not any(needle in text for needle in trace_format.needles):
            continue
        for group in _group_frames(trace_format, lines, used):
            trace = _build_trace(trace_format, group, lines)
            found.append(trace)
            used.update(range(trace.start, trace.end))
    return sorted(found, key=lambda trace: trace.start)[:_MAX_TRACES]


def with_forward_slashes(path: str) -> str:
    if "\\" in path and (_DRIVE.match(path) or "/" not in path):
        return path.replace("\\", "/")
    return path


def _group_frames(trace_format: TraceFormat, lines: Sequence[str], used: set[int]) -> list[_FrameGroup]:
    groups: list[_FrameGroup] = []
    current: _FrameGroup | None = None
    lines_since_frame = 0
    for number, line in enumerate(lines):
        if number in used:
            current = None
            continue
        if current is not None and trace_format.starts is not None and trace_format.starts.search(line):
            current = None
        has_needle = any(needle in line for needle in trace_format.needles)
        frame = trace_format.find_frame(lines, number) if has_needle else None
        if frame is not None:
            if current is None or lines_since_frame > trace_format.gap:
                current = []
                groups.append(current)
            current.append((number, frame))
            lines_since_frame = 0
            if trace_format.single:
                current = None
        elif current is not None:
            lines_since_frame += 1
            if trace_format.ends is not None and trace_format.ends.search(line):
                current = None
    return groups


def _build_trace(trace_format: TraceFormat, group: _FrameGroup, lines: Sequence[str]) -> FoundTrace:
    first, last = group[0][0], group[-1][0]
    found = trace_format.find_error(lines, range(first, last + 1)) if trace_format.find_error is not None else None
    raised = _add_error_of_frame(found or RaisedError(), group)
    frames = [frame for _, frame in group]
    if trace_format.innermost_first:
        frames.reverse()
    if raised.frame is not None and (raised.frame.path, raised.frame.line) != (frames[-1].path, frames[-1].line):
        frames.append(raised.frame)
    if len(frames) > _MAX_FRAMES:  # a recursion, which repeats itself in the middle
        frames = frames[: _MAX_FRAMES // 2] + frames[-_MAX_FRAMES // 2 :]
    start = first if raised.line is None else min(first, raised.line)
    end = last if raised.line is None else max(last, raised.line)
    if trace_format.starts is not None and start and trace_format.starts.search(lines[start - 1]):
        start -= 1
    trace = Trace(
        language=trace_format.language,
        frames=[
            Frame(path=with_forward_slashes(frame.path), line=frame.line, function=frame.function) for frame in frames
        ],
        exception=raised.exception,
        message=raised.message or None,
    )
    error_line = lines[raised.line].strip() if raised.line is not None else ""
    return FoundTrace(trace, start, end + 1, error_line)


def _add_error_of_frame(raised: RaisedError, group: _FrameGroup) -> RaisedError:
    """Some formats state the error in a frame's own line. It counts where no other line states one."""
    for number, frame in reversed(group):
        if not (frame.exception or frame.message):
            continue
        if raised.line is None:
            return RaisedError(frame.exception, frame.message, number)
        return replace(raised, exception=raised.exception or frame.exception)
    return raised
