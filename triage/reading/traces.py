"""Stack traces and compiler messages in text, of every language in `trace_families.FAMILIES`.

Libraries were looked at: those on PyPI read one language each (Python's own), so the families are our own table.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from triage.domain.issue import Frame, Trace
from triage.reading.trace_formats import TRACE_FORMATS
from triage.reading.trace_parts import FrameLine, RaisedError, TraceFormat

_MAX_LINE_CHARS = 1_000
_MAX_TRACES = 20
_MAX_FRAMES = 100
_DRIVE = re.compile(r"^([A-Za-z]:)?[\\/]")


@dataclass(frozen=True)
class FoundTrace:
    """A trace and the lines it covers: 0-based, the end exclusive."""

    trace: Trace
    start: int
    end: int
    error_line: str = ""
    """The line that states the exception, as written; empty when none does."""


@dataclass
class _Group:
    """Frames of one trace, in the order of the text."""

    frames: list[tuple[int, FrameLine]] = field(default_factory=list)

    @property
    def first(self) -> int:
        return self.frames[0][0]

    @property
    def last(self) -> int:
        return self.frames[-1][0]


def find_traces(text: str) -> list[FoundTrace]:
    """All traces, in the order of the text, at most 20. Linear in the text; no line counts for two traces."""
    lines = [line[:_MAX_LINE_CHARS] for line in text.split("\n")]
    taken: set[int] = set()
    found: list[FoundTrace] = []
    for family in TRACE_FORMATS:
        if not any(needle in text for needle in family.needles):
            continue
        for group in _groups(family, lines, taken):
            trace = _finish(family, group, lines)
            found.append(trace)
            taken.update(range(trace.start, trace.end))
    return sorted(found, key=lambda trace: trace.start)[:_MAX_TRACES]


def with_forward_slashes(path: str) -> str:
    """The path with forward slashes when it is a Windows path."""
    if "\\" in path and (_DRIVE.match(path) or "/" not in path):
        return path.replace("\\", "/")
    return path


def _groups(family: TraceFormat, lines: Sequence[str], taken: set[int]) -> list[_Group]:
    groups: list[_Group] = []
    open_group: _Group | None = None
    quiet = 0
    for number, line in enumerate(lines):
        if number in taken:
            open_group = None
            continue
        if open_group is not None and family.starts is not None and family.starts.search(line):
            open_group = None
        frame = family.find_frame(lines, number) if any(needle in line for needle in family.needles) else None
        if frame is not None:
            if open_group is None or quiet > family.gap:
                open_group = _Group()
                groups.append(open_group)
            open_group.frames.append((number, frame))
            quiet = 0
            if family.single:
                open_group = None
        elif open_group is not None:
            quiet += 1
            if family.ends is not None and family.ends.search(line):
                open_group = None
    return [group for group in groups if len(group.frames) >= family.at_least]


def _finish(family: TraceFormat, group: _Group, lines: Sequence[str]) -> FoundTrace:
    told = family.find_error(lines, range(group.first, group.last + 1)) if family.find_error is not None else None
    raised = _told_with_frames(told or RaisedError(), group)
    frames = [frame for _, frame in group.frames]
    if family.innermost_first:
        frames.reverse()
    if raised.frame is not None and (raised.frame.path, raised.frame.line) != (frames[-1].path, frames[-1].line):
        frames.append(raised.frame)
    start = group.first if raised.line is None else min(group.first, raised.line)
    end = group.last if raised.line is None else max(group.last, raised.line)
    trace = Trace(
        language=family.language,
        frames=[_plain(frame) for frame in _bounded(frames)],
        exception=raised.exception,
        message=raised.message or None,
    )
    opened = start - 1 if family.starts is not None and start and family.starts.search(lines[start - 1]) else start
    error_line = lines[raised.line].strip() if raised.line is not None else ""
    return FoundTrace(trace, opened, end + 1, error_line)


def _told_with_frames(raised: RaisedError, group: _Group) -> RaisedError:
    """Formats that state the exception in a frame's own line, where no line of its own does."""
    for number, frame in reversed(group.frames):
        if not (frame.exception or frame.message):
            continue
        if raised.line is None:
            return RaisedError(frame.exception, frame.message, number)
        return replace(raised, exception=raised.exception or frame.exception)
    return raised


def _bounded(frames: list[FrameLine]) -> list[FrameLine]:
    """The ends of a very deep trace: a recursion repeats itself in the middle."""
    if len(frames) <= _MAX_FRAMES:
        return frames
    return frames[: _MAX_FRAMES // 2] + frames[-_MAX_FRAMES // 2 :]


def _plain(frame: FrameLine) -> Frame:
    return Frame(path=with_forward_slashes(frame.path), line=frame.line, function=frame.function or None)
