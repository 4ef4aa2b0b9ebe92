"""Finds stack traces and compiler messages of every language in `trace_formats.TRACE_FORMATS`.

The libraries on PyPI read one language each (Python's own), so the formats are a table of ours.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from triage.domain.issue import Frame, Trace
from triage.read.traces.trace_formats import TRACE_FORMATS
from triage.read.traces.trace_frames import RAISED_NAME, FrameLine, RaisedError, TraceFormat

_MAX_LINE_CHARS = 1_000
_MAX_TRACES = 20
_MAX_NEXT_LINE = 200
_OF_A_PERSON = re.compile(r"\b(?:I|[Ww]e|[Mm]y|[Yy]ou|[Pp]lease|[Tt]hanks)\b")
"""In the line below an error: the reporter goes on."""
_MAX_FRAMES = 100
_LOG_PREFIX = re.compile(
    r"^(?:INTERNALERROR> ?|> (?=\[\d{4}-)|"
    r">{1,2} ?(?=\s*(?:File \"|Traceback|at |#\d{1,3} +0x|==\d{1,9}==|[A-Z]\w{0,40}(?:Error|Exception)\b|Error: |"
    r"[\w-]{1,80} \(\d[\w.]{0,40}\) \S{1,400}:\d{1,7}:in ))|"
    r"\[\d{1,3}\]<std(?:err|out)>:|"
    r"[\w.-]{1,40} {1,40}[|>] |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]{0,20}(?: ?[+-]\d{4}|Z)?\]?:? |"
    r"\[(?:ERROR|INFO|WARN|WARNING|error|warn|stderr)\]:? |"
    r"(?:\d\d-\d\d \d\d:\d\d:[\d.]{2,9} {1,4})?[DEFIW][/ ]\s?[\w.$-]{1,40}\s{0,10}\(\s{0,5}\d{1,7}\): |"
    r"[EWF]/?\s?AndroidRuntime: |\s?\d{1,2}:\d\d\.\d\d (?=\s*(?:File \"|Traceback|[A-Z]\w{0,40}(?:Error|Exception)\b))|"
    r"\d\d-\d\d \d\d:\d\d:[\d.]{2,9} {1,4}\d{1,7} {1,4}\d{1,7} [EWF] \w{1,30}\s{0,4}: ){1,3}"
)
"""What pytest, MPI, Compose, Stack, CI, Maven and Android write before each line of a trace."""
_LINES_BETWEEN = 6
"""Above the second trace of a chain, that say how it belongs to the first."""
_ABOVE_IS_WRAPPER = re.compile(
    r"^\W*(?:Caused by\b|\[cause\]|\[previous exception\])|During handling of the above exception", re.M
)
_BELOW_IS_WRAPPER = re.compile(r"the direct cause of the following|^\W*Wrapped by\b|^Next [A-Z\\]", re.M)
_MAX_CODE_LINES = 12
"""Below a frame: IPython and rich show the lines around the one that fails."""
_MARKED_LINE = re.compile(r"(?:-*>|❱) ?\d+[ │|]+(.*)|\d{1,6}\.\s+(.*)")
_NO_CODE = re.compile(rf"E  |_{{3}}|[-=^~]+$|\[?\.\.\. |\d+ frames?\b|File \"|(?:{RAISED_NAME})(?::|$)")
_NEWEST_FIRST = re.compile(r"\.(?:exs?|rb|[cm]?[jt]sx?|php|go|java|kt|cs|swift|dart)$")
"""Sentry writes all languages as Python does, and only Python's frames in Python's order."""
_STEP = re.compile(r"\s*#?(\d{1,4}) ")
_INCLUDES = ("include", "include_once", "require", "require_once")
"""In PHP they run a file as a function."""
_SIGNAL_FRAMES = ("__kernel_rt_sigreturn", "__restore_rt", "_sigtramp")
"""What the system calls in between: further in is the program's own handler of its crash."""
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
    """Return all traces in the order of the text, at most 20, without overlap. Takes time linear in the text."""
    lines = [_LOG_PREFIX.sub("", line[:_MAX_LINE_CHARS]) for line in text.split("\n")]
    used: set[int] = set()
    found: list[FoundTrace] = []
    for trace_format in TRACE_FORMATS:
        if not any(needle in text for needle in trace_format.needles):
            continue
        for group in _group_frames(trace_format, lines, used):
            trace = _build_trace(trace_format, group, lines)
            if len(group) < trace_format.min_frames and not (trace.trace.exception or trace.trace.message):
                continue
            found.append(trace)
            used.update(range(trace.start, trace.end))
    ordered = sorted(found, key=lambda trace: trace.start)[:_MAX_TRACES]
    return list(_mark_wrappers(ordered, lines))


def _mark_wrappers(traces: Sequence[FoundTrace], lines: Sequence[str]) -> Iterator[FoundTrace]:
    """Yield the traces. Of two in a chain, the one that is not where the failure began is marked."""
    wrappers = set[int]()
    for number, (above, below) in enumerate(pairwise(traces)):
        between = "\n".join(lines[max(above.end, below.start - _LINES_BETWEEN) : below.start + 1])
        if _ABOVE_IS_WRAPPER.search(between):
            wrappers.add(number)
        elif _BELOW_IS_WRAPPER.search(between):
            wrappers.add(number + 1)
    for number, one in enumerate(traces):
        yield replace(one, trace=one.trace.model_copy(update={"is_wrapper": number in wrappers}))


def with_forward_slashes(path: str) -> str:
    if "\\" in path and (_DRIVE.match(path) or "/" not in path):
        return path.replace("\\", "/")
    return path


def _group_frames(trace_format: TraceFormat, lines: Sequence[str], used_lines: set[int]) -> list[_FrameGroup]:
    """Return the frames of a format that stand together, with the numbers of their lines, but for `used_lines`."""
    groups: list[_FrameGroup] = []
    current: _FrameGroup | None = None
    lines_since_frame = 0
    for number, line in enumerate(lines):
        if number in used_lines:
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
    """Return the trace of frames that stand together, with the error near them, innermost frame last."""
    first, last = group[0][0], group[-1][0]
    found = trace_format.find_error(lines, range(first, last + 1)) if trace_format.find_error is not None else None
    raised = _add_error_of_frame(found or RaisedError(), group)
    if trace_format.language == "php":
        is_next = lines[first].lstrip().startswith("#0")
        place = raised.frame and replace(raised.frame, function=group[0][1].function if is_next else None)
        raised, group = replace(raised, frame=place), _name_callers(group, lines)
    frames = [_make_frame(frame) for _, frame in group]
    if trace_format.language == "python":
        ends = [*(number for number, _ in group[1:]), raised.line if raised.line and raised.line > last else last + 3]
        codes = (_read_code(lines, number, end) for (number, _), end in zip(group, ends, strict=True))
        frames = [frame.model_copy(update={"code": code}) for frame, code in zip(frames, codes, strict=True)]
    if trace_format.innermost_first or (trace_format.language == "python" and _NEWEST_FIRST.search(frames[0].path)):
        frames.reverse()
    raised_at = _make_frame(raised.frame) if raised.frame else frames[-1]
    if (raised_at.path, raised_at.line) != (frames[-1].path, frames[-1].line):
        frames.append(raised_at)
    is_again = [(one.path, one.line) for one in frames[-2:-1]] == [(raised_at.path, raised_at.line)]
    if is_again and raised_at.line and not raised_at.function:
        frames.pop()  # the line of the error, which the first call shows again
    frames = list(takewhile(lambda frame: frame.function not in _SIGNAL_FRAMES, frames))
    if len(frames) > _MAX_FRAMES:  # a recursion, which repeats itself in the middle
        frames = frames[: _MAX_FRAMES // 2] + frames[-_MAX_FRAMES // 2 :]
    start = first if raised.line is None else min(first, raised.line)
    end = last if raised.line is None else max(last, raised.line)
    if trace_format.starts is not None and start and trace_format.starts.search(lines[start - 1]):
        start -= 1
    trace = Trace(
        language=trace_format.language,
        frames=frames,
        exception=raised.exception,
        message=_add_next_line(raised, lines) if raised.message else None,
    )
    error_line = lines[raised.line].strip() if raised.line is not None else ""
    return FoundTrace(trace, start, end + 1, error_line)


def _name_callers(group: _FrameGroup, lines: Sequence[str]) -> _FrameGroup:
    """Return the frames of PHP, each of which names what it calls, with the function that they are in.

    That is named by the next frame further out, if it is shown.
    """
    steps = [int(match[1]) if (match := _STEP.match(lines[number])) else 0 for number, _ in group]
    functions = [one.function if one.function not in _INCLUDES else None for _, one in group[1:]]
    known = [
        name if after == step + 1 else None for name, (step, after) in zip(functions, pairwise(steps), strict=True)
    ]
    return [(number, replace(one, function=name)) for (number, one), name in zip(group, [*known, None], strict=True)]


def _make_frame(frame: FrameLine) -> Frame:
    return Frame(path=with_forward_slashes(frame.path), line=frame.line, function=frame.function, code=frame.code)


def _read_code(lines: Sequence[str], number: int, end: int) -> str | None:
    """Return the line of code that Python shows below a frame, if any; IPython and rich mark it among others."""
    is_broken = 'File "' in lines[number] and not re.search(r", line \d|\" in ", lines[number])
    below = [line.strip(" \t│|") for line in lines[number + 1 + is_broken : min(end, number + _MAX_CODE_LINES)]]
    marked = next((match for line in below if (match := _MARKED_LINE.match(line))), None)
    code = (marked[1] or marked[2] or "").strip() if marked else next(filter(None, below), "")
    return code if code and not _NO_CODE.match(code) else None


def _add_next_line(raised: RaisedError, lines: Sequence[str]) -> str:
    """Return the message; one that ends in a colon has what it tells in the next line."""
    message, following = raised.message or "", "" if raised.line is None else "".join(lines[raised.line + 1 :][:1])
    is_told_below = message.endswith(":") and following.strip(" `") and len(following) <= _MAX_NEXT_LINE
    return f"{message}\n{following.rstrip()}" if is_told_below and not _OF_A_PERSON.search(following) else message


def _add_error_of_frame(raised: RaisedError, group: _FrameGroup) -> RaisedError:
    """Some formats state the error in a frame's own line. It counts where no other line states one."""
    for number, frame in reversed(group):
        if not (frame.exception or frame.message):
            continue
        if raised.line is None:
            return RaisedError(frame.exception, frame.message, number)
        return replace(raised, exception=raised.exception or frame.exception)
    return raised
