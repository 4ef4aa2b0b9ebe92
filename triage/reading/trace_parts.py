"""What one kind of stack trace is made of, and the ways to find its parts in lines of text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FrameLine:
    """A frame as written. Some formats state the exception in the same line."""

    path: str
    line: int | None = None
    function: str | None = None
    exception: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class RaisedError:
    """What was raised, the 0-based line that says so, and the frame that the same line names, if it does."""

    exception: str | None = None
    message: str | None = None
    line: int | None = None
    frame: FrameLine | None = None


FindFrame = Callable[[Sequence[str], int], FrameLine | None]
FindError = Callable[[Sequence[str], range], RaisedError | None]
"""Lines, and the numbers of those from the first frame to the last, to what was raised."""


@dataclass(frozen=True)
class TraceFormat:
    """How one kind of trace is written."""

    language: str
    needles: tuple[str, ...]
    """Every frame line contains one of them: a cheap look before the pattern."""
    find_frame: FindFrame
    find_error: FindError | None
    """None where a frame's own line says it all."""
    innermost_first: bool = False
    gap: int = 2
    """Lines without a frame that may stand between two frames."""
    starts: re.Pattern[str] | None = None
    """A line that begins a further trace."""
    ends: re.Pattern[str] | None = None
    """A line that ends a trace."""
    at_least: int = 1
    single: bool = False
    """Every line stands for itself."""


def frame_by_pattern(pattern: str) -> FindFrame:
    """A frame in one line, by named groups: path, and maybe line, function, exception, message."""
    compiled = re.compile(pattern)

    def frame(lines: Sequence[str], number: int) -> FrameLine | None:
        match = compiled.match(lines[number])
        return frame_from_groups(match.groupdict()) if match else None

    return frame


def error_above(pattern: str, within: int) -> FindError:
    """The exception stands at most `within` lines above the first frame; the nearest such line counts."""
    compiled = re.compile(pattern)

    def raised(lines: Sequence[str], frames: range) -> RaisedError | None:
        return search_error(compiled, lines, range(frames.start - 1, max(-1, frames.start - 1 - within), -1))

    return raised


def error_below(pattern: str, within: int) -> FindError:
    """The exception stands at most `within` lines below the last frame; the nearest such line counts."""
    compiled = re.compile(pattern)

    def raised(lines: Sequence[str], frames: range) -> RaisedError | None:
        return search_error(compiled, lines, range(frames.stop, min(len(lines), frames.stop + within)))

    return raised


def error_within(pattern: str, above: int) -> FindError:
    """The exception stands between the frames, or at most `above` lines above or 3 below them."""
    compiled = re.compile(pattern)

    def raised(lines: Sequence[str], frames: range) -> RaisedError | None:
        return search_error(compiled, lines, range(max(0, frames.start - above), min(len(lines), frames.stop + 3)))

    return raised


def first_found(*ways: FindError) -> FindError:
    """The first way that finds something."""

    def raised(lines: Sequence[str], frames: range) -> RaisedError | None:
        return next((found for way in ways if (found := way(lines, frames)) is not None), None)

    return raised


def search_error(pattern: re.Pattern[str], lines: Sequence[str], numbers: range) -> RaisedError | None:
    """The first of the numbered lines that tells what was raised."""
    for number in numbers:
        match = pattern.match(lines[number])
        if match:
            groups = match.groupdict()
            return RaisedError(
                exception=groups.get("exception"),
                message=(groups.get("message") or "").strip() or None,
                line=number,
                frame=frame_from_groups(groups) if groups.get("path") else None,
            )
    return None


def frame_from_groups(groups: dict[str, str | None]) -> FrameLine:
    """A frame from a pattern's named groups."""
    line = groups.get("line")
    return FrameLine(
        path=(groups.get("path") or "").strip(),
        line=int(line) if line else None,
        function=(groups.get("function") or "").strip() or None,
        exception=groups.get("exception"),
        message=(groups.get("message") or "").strip().removeprefix(f"{groups.get('exception')}: ") or None,
    )
