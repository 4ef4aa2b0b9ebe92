"""Finds error messages, word for word."""

import re
from collections.abc import Iterable, Sequence

from triage.reading.traces import FoundTrace

_MAX_MESSAGES = 10
_MAX_CHARS = 300
_MIN_CHARS = 5
_MAX_LINE_CHARS = 1_000

_STATED = re.compile(
    r"\b(?:[A-Za-z_][\w.]{0,80})?[A-Z]\w{0,60}(?:Error|Exception|Warning|Failure|"
    r"Interrupt)\b(?:\[[\w-]{1,40}\])?: ?[^\s:].{2,600}"
)
_LABELLED = re.compile(
    r"(?:^|[\s\[(:.])((?:(?:fatal error|internal compiler error|runtime error|unhandled exception|uncaught|error|"
    r"fatal|panic|"
    r"critical|assertion failed)(?:\[\w{1,20}\]|\(\d{1,5}\))?[:!\]]|npm ERR!) ?[^\s].{2,600})",
    re.I,
)
_KNOWN = re.compile(
    r"((?:segmentation fault|core dumped|stack overflow|out of memory|bus error|illegal instruction|deadlock "
    r"detected)\b.{0,120}"
    r"|.{1,80}: (?:command not found|no such file or directory|permission denied)\b"
    r"|(?:undefined reference to|undefined symbol|cannot find module|no module named|unresolved import|cannot "
    r"find symbol|"
    r"cannot read propert(?:y|ies) of|is not a function|call to undefined)\b.{0,200}"
    r"|\b(?:ORA-\d{4,5}|SQLSTATE\[\w{2,8}\]|HTTP [45]\d\d|\d{3} (?:Internal Server Error|Bad Gateway|Not "
    r"Found))\b.{0,160})",
    re.I,
)
_ERROR_WORD = re.compile(
    r"\b(?:error|errors|exception|message|warning|fails? with|failed with|says|saying|complains|raises|throws|"
    r"prints|crash\w{0,4} with)\b",
    re.I,
)
_QUOTED = re.compile(r"\"([^\"\n]{8,300})\"|“([^”\n]{8,300})”|`([^`\n]{8,300})`|«([^»\n]{8,300})»")
_CODE_LINE = re.compile(
    r"^\s*(?:#|//|raise\b|except\b|throw\b|catch\b|if\b|return\b|with\b|class\b|def\b|assert\w*[ .(]|import\b|"
    r"from\b|@)|[=({]\s*$"
)
_MARKS = re.compile(r"^(?:[|>+*\-\s]+|E\s{2,})+")


def find_error_messages(title: str, texts: Sequence[str], traces: Iterable[FoundTrace]) -> list[str]:
    """At most ten messages, best first: those of traces, then error lines, then quotes of the reporter.

    Each is in the text word for word. A message that is part of another one is left out.
    """
    # The user saw the last exception of a chain; messages of compilers come after stack traces.
    ordered = sorted(traces, key=lambda found: (found.trace.language == "diagnostic", -found.start))
    ranked = [
        *(_error_of(found) for found in ordered),
        *_from_lines([title]),
        *(line for text in texts for line in _from_lines(text.split("\n"))),
        *(quote for text in texts for quote in _quotes(text)),
    ]
    messages: list[str] = []
    for candidate in ranked:
        message = candidate.strip().rstrip("`*_")[:_MAX_CHARS].rstrip()
        if len(message) >= _MIN_CHARS and not any(message in known or known in message for known in messages):
            messages.append(message)
            if len(messages) == _MAX_MESSAGES:
                break
    return messages


def _error_of(found: FoundTrace) -> str:
    message = found.trace.message or ""
    line = _MARKS.sub("", found.error_line).strip()
    if found.trace.exception and f"{found.trace.exception}: {message}" in line:
        return f"{found.trace.exception}: {message}"
    if message and message in line and len(line) > len(message) + 80:
        return message
    return line or message


def _from_lines(lines: Sequence[str]) -> list[str]:
    found = []
    for line in (whole[:_MAX_LINE_CHARS] for whole in lines):
        if _CODE_LINE.search(line):
            continue
        match = _STATED.search(line)
        if match is None:
            match = _LABELLED.search(line) or _KNOWN.search(line)
        if match is not None:
            found.append(match[match.lastindex or 0])
    return found


def _quotes(text: str) -> list[str]:
    found = []
    for line in (whole[:_MAX_LINE_CHARS] for whole in text.split("\n")):
        if not _ERROR_WORD.search(line) or _CODE_LINE.search(line):
            continue
        for match in _QUOTED.finditer(line):
            words = match[match.lastindex or 0]
            if words.count(" ") >= 2 and not re.search(r"[{}=;]|\w\(", words):
                found.append(words)
    return found
