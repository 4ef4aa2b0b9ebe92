"""Whether two issues show the same failure: the same stack trace, or the same error text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from triage.code.past_issues.issue_terms import drop_comments
from triage.domain.issue import Frame, ParsedIssue, Trace
from triage.issue.traces.traces import find_traces

_MAX_CHARS = 8_000
"""Of a past issue: traces stand early."""
_MAX_MESSAGES = 3
_MIN_MESSAGE_CHARS = 15
"""A shorter error text, such as `key error`, is of many failures."""
_MIN_FRAMES = 2
_SAME_FRAMES = 0.6
_VARIABLE = re.compile(
    r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|(?:[A-Za-z]:)?[\\/][\w./\\-]{1,300}|0x[0-9a-fA-F]{1,40}|\d+"
)
"""What differs from report to report: quoted values, paths, addresses and numbers."""
_GAP = re.compile(r"[\W_]+")

Fingerprint = frozenset[tuple[str, str]]
"""File name and function of each frame, without lines: they move from version to version."""


@dataclass(frozen=True, slots=True)
class Failure:
    messages: list[str]
    fingerprint: Fingerprint
    innermost: Fingerprint = frozenset()
    """The frames where the traces end."""


def read_failure(parsed: ParsedIssue) -> Failure:
    messages = (normalize_error(message.partition("\n")[0]) for message in parsed.error_messages[:_MAX_MESSAGES])
    return Failure(
        messages=[message for message in messages if len(message) >= _MIN_MESSAGE_CHARS],
        fingerprint=_fingerprint(parsed.stack_traces),
        innermost=_find_innermost(parsed.stack_traces),
    )


def normalize_error(text: str) -> str:
    """Lower case words with one blank between them, without values, paths, addresses and numbers."""
    return _GAP.sub(" ", _VARIABLE.sub(" ", text)).strip().lower()


def shows_same_error(failure: Failure, title: str, body: str) -> bool:
    """Whether the other issue has the error text, also with other values in it."""
    if not failure.messages:
        return False
    text = f" {normalize_error(title)} {normalize_error(drop_comments(body[:_MAX_CHARS]))} "
    return any(f" {message} " in text for message in failure.messages)


def shows_same_trace(failure: Failure, body: str) -> bool:
    """Whether the other issue has a trace that ends in the same function and shares most frames with this one.

    The outer frames are the reporters' own programs.
    """
    if len(failure.fingerprint) < _MIN_FRAMES:
        return False
    traces = [found.trace for found in find_traces(drop_comments(body[:_MAX_CHARS]))]
    other = _fingerprint(traces)
    shared = len(failure.fingerprint & other)
    has_same_end = bool(failure.innermost & _find_innermost(traces))
    return has_same_end and shared >= max(_MIN_FRAMES, _SAME_FRAMES * max(len(failure.fingerprint), len(other)))


def shows_other_failure(failure: Failure, body: str) -> bool:
    """Whether both issues have a stack trace, and they end in different functions."""
    traces = [found.trace for found in find_traces(drop_comments(body[:_MAX_CHARS]))]
    other = _find_innermost(traces)
    return bool(failure.innermost and other) and not failure.innermost & other


def _fingerprint(traces: Sequence[Trace]) -> Fingerprint:
    return frozenset(_describe(frame) for trace in traces if trace.language != "diagnostic" for frame in trace.frames)


def _find_innermost(traces: Sequence[Trace]) -> Fingerprint:
    stacks = [trace.frames for trace in traces if trace.language != "diagnostic" and trace.frames]
    return frozenset(_describe(frames[-1]) for frames in stacks)


def _describe(frame: Frame) -> tuple[str, str]:
    return frame.path.replace("\\", "/").rpartition("/")[2].lower(), frame.name
