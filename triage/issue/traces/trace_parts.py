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
    exception: str | None = None
    message: str | None = None
    line: int | None = None
    """0-based number of the line that states the error."""
    frame: FrameLine | None = None


FindFrame = Callable[[Sequence[str], int], FrameLine | None]
"""Takes lines and the number of one; returns the frame in that line."""
FindError = Callable[[Sequence[str], range], RaisedError | None]
"""Takes lines and the range from the first to the last frame; returns the error."""


@dataclass(frozen=True)
class TraceFormat:
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
    ends: re.Pattern[str] | None = None
    single: bool = False
    """Whether every frame is a trace of its own."""
    needs_error: bool = False
    """Whether a single frame without an error is none: prose looks the same."""


def frame_by_pattern(pattern: str) -> FindFrame:
    """Finds a frame in one line by named groups: `path`, and optionally `line`, `function`, `exception`, `message`."""
    compiled = re.compile(pattern)

    def find_frame(lines: Sequence[str], number: int) -> FrameLine | None:
        match = compiled.match(lines[number])
        return frame_from_groups(match.groupdict()) if match else None

    return find_frame


def error_near(pattern: str, *, above: int = 0, below: int = 0) -> FindError:
    """Finds the error in the nearest matching line, so many lines above the first frame or below the last one."""
    compiled = re.compile(pattern)

    def find_error(lines: Sequence[str], frames: range) -> RaisedError | None:
        upwards = range(frames.start - 1, max(-1, frames.start - 1 - above), -1)
        downwards = range(frames.stop, min(len(lines), frames.stop + below))
        return search_error(compiled, lines, upwards if above else downwards)

    return find_error


def error_around(*patterns: str, above: int) -> FindError:
    """Finds the error between the frames, at most `above` lines above them, or at most 3 below; pattern by pattern."""
    compiled = [re.compile(pattern) for pattern in patterns]

    def find_error(lines: Sequence[str], frames: range) -> RaisedError | None:
        numbers = range(max(0, frames.start - above), min(len(lines), frames.stop + 3))
        return next((found for pattern in compiled if (found := search_error(pattern, lines, numbers))), None)

    return find_error


def error_by_any(*ways: FindError) -> FindError:
    """Finds the error in the first way that finds one."""

    def find_error(lines: Sequence[str], frames: range) -> RaisedError | None:
        return next((found for way in ways if (found := way(lines, frames))), None)

    return find_error


def search_error(pattern: re.Pattern[str], lines: Sequence[str], numbers: range) -> RaisedError | None:
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
    line = groups.get("line")
    return FrameLine(
        path=(groups.get("path") or "").strip(),
        line=int(line) if line else None,
        function=(groups.get("function") or "").strip() or None,
        exception=groups.get("exception"),
        message=(groups.get("message") or "").strip().removeprefix(f"{groups.get('exception')}: ") or None,
    )
