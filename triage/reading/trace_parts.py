"""What the format of a stack trace consists of, and ways to find its parts in lines of text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FrameLine:
    """A frame as written. Some formats state the error in the same line."""

    path: str
    line: int | None = None
    function: str | None = None
    exception: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class RaisedError:
    """The error of a trace."""

    exception: str | None = None
    message: str | None = None
    line: int | None = None
    """0-based number of the line that states the error."""
    frame: FrameLine | None = None
    """The frame that the same line gives, if it does."""


FindFrame = Callable[[Sequence[str], int], FrameLine | None]
"""Takes lines and the number of one; returns the frame in that line."""
FindError = Callable[[Sequence[str], range], RaisedError | None]
"""Takes lines and the range from the first to the last frame; returns the error."""


@dataclass(frozen=True)
class TraceFormat:
    """How traces of one kind are written."""

    language: str
    needles: tuple[str, ...]
    """Every line with a frame contains one of them, which is cheaper to check than the pattern."""
    find_frame: FindFrame
    find_error: FindError | None
    """None when the line of the frame states the error."""
    innermost_first: bool = False
    gap: int = 2
    """Maximum number of lines without a frame between two frames."""
    starts: re.Pattern[str] | None = None
    """A line that starts another trace."""
    ends: re.Pattern[str] | None = None
    """A line that ends a trace."""
    single: bool = False
    """Whether every frame is a trace of its own."""


def frame_by_pattern(pattern: str) -> FindFrame:
    """Finds a frame in one line by named groups: `path`, and optionally `line`, `function`, `exception`, `message`."""
    compiled = re.compile(pattern)

    def find_frame(lines: Sequence[str], number: int) -> FrameLine | None:
        match = compiled.match(lines[number])
        return frame_from_groups(match.groupdict()) if match else None

    return find_frame


def error_above(pattern: str, distance: int) -> FindError:
    """Finds the error in the nearest matching line, at most `distance` lines above the first frame."""
    return _find_error(pattern, lambda frames, _: range(frames.start - 1, max(-1, frames.start - 1 - distance), -1))


def error_below(pattern: str, distance: int) -> FindError:
    """Finds the error in the nearest matching line, at most `distance` lines below the last frame."""
    return _find_error(pattern, lambda frames, count: range(frames.stop, min(count, frames.stop + distance)))


def error_around(pattern: str, above: int) -> FindError:
    """Finds the error between the frames, at most `above` lines above them, or at most 3 below."""
    return _find_error(pattern, lambda frames, count: range(max(0, frames.start - above), min(count, frames.stop + 3)))


def first_found(*ways: FindError) -> FindError:
    """The result of the first way that finds an error."""

    def find_error(lines: Sequence[str], frames: range) -> RaisedError | None:
        return next((found for way in ways if (found := way(lines, frames)) is not None), None)

    return find_error


def search_error(pattern: re.Pattern[str], lines: Sequence[str], numbers: range) -> RaisedError | None:
    """The error in the first of the numbered lines that matches."""
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
    """A frame from the named groups of a pattern."""
    line = groups.get("line")
    return FrameLine(
        path=(groups.get("path") or "").strip(),
        line=int(line) if line else None,
        function=(groups.get("function") or "").strip() or None,
        exception=groups.get("exception"),
        message=(groups.get("message") or "").strip().removeprefix(f"{groups.get('exception')}: ") or None,
    )


def _find_error(pattern: str, select: Callable[[range, int], range]) -> FindError:
    compiled = re.compile(pattern)
    return lambda lines, frames: search_error(compiled, lines, select(frames, len(lines)))
