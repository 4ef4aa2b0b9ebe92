"""Finds error messages, word for word."""

import re
from collections.abc import Iterable, Sequence

from triage.domain.issue import IssueSection
from triage.read.text_signs import SAYS_FAILURE
from triage.read.traces.traces import FoundTrace

_MAX_MESSAGES = 10
_MAX_CHARS = 300
_MIN_CHARS = 5
_MAX_LINE_CHARS = 1_000

_STATED = re.compile(
    r"\b(?:[A-Za-z_][\w.]{0,80})?[A-Z]\w{0,60}(?:Error|Exception|Warning|Failure|"
    r"Interrupt)\b(?:\[[\w-]{1,40}\])?: ?[^\s:].{2,600}"
)
_LABELLED = re.compile(
    r"(?:^|[\s\[(:.`\"'“])((?:(?:fatal error|internal (?:compiler )?error|runtime error|unhandled exception|"
    r"uncaught|error|fatal|panic|critical|assertion failed)(?:\[\w{1,20}\]|\(\d{1,5}\)| [A-Z]{1,4}\d{2,5})?\)?[:!\]]"
    r"(?![(`])|npm ERR!) ?[^\s].{2,600})",
    re.I,
)
_KNOWN = re.compile(
    r"((?:segmentation fault|(?:^|(?<=[:'\"`] )|(?<=[\"'`]))(?:(?-i:[Ss]tack overflow)|out of memory|bus error|"
    r"illegal instruction|deadlock detected))\b.{0,120}"
    r"|(?:^|(?<=[:;.] ))[^:;]{2,80}(?:: [^:;]{1,80}){0,2}: (?:command not found|no such file or directory|"
    r"permission denied)\b"
    r"|^[\w./~-]{2,200}:(?: line )?\d{1,6}: [\w.-]{1,60}: \S.{2,160}"
    r"|\w[\w -]{1,30} \(core dumped\)|Assertion [`'\"].{1,400}['`\"]? failed\b\.?"
    r"|(?:undefined reference to|undefined symbol|cannot find module|no module named|unresolved import|cannot "
    r"find symbol|symbol['’]s (?:function definition|value as variable) is void|"
    r"cannot read propert(?:y|ies) of|is not a function|call to undefined)\b.{0,200}"
    r"|'[\w.]{1,80}' object (?:has no attribute|is not|does not|cannot)\b.{0,200}"
    r"|\b(?:ORA-\d{4,5}|SQLSTATE\[\w{2,8}\]|HTTP [45]\d\d|\d{3} (?:Internal Server Error|Bad Gateway|Not "
    r"Found))\b.{0,160})",
    re.I,
)
_TRAILER = re.compile(
    r"(?i)\b(?:aborting due to|could not compile|previous errors?\b|make(?:\[\d+\])?: \*\*\*|build fail(?:ed|ure)|"
    r"(?<! gave )(?<! got )(?<!pected )exit(?:ed)? (?:status|(?:with )?code) \d|the following errors?\W*$"
    r"|for more information about this error)"
)
"""What a tool says after its errors. Of another one's end, as in `gave exit code 1`, a program has a message."""
_ERROR_WORD = re.compile(
    r"\b(?:error|errors|exception|warning|fails? with|failed with|raises|throws|crash\w{0,4} with|"
    r"following message|(?:get|gets|getting|got|receive[sd]?) (?:\w{1,20} ){1,3}message)\b",
    re.I,
)
_SPEECH_WORD = re.compile(r"\b(?:message|says|saying|complains|prints)\b", re.I)
_ERROR_AFTER = re.compile(r"(?i)\W{0,3}(?:\w{1,20} )?(?:errors?|exception|message|warning)\b")
_QUOTED = re.compile(r"(?<!\\)\"([^\"]{1,300})(?<!\\)\"|“([^”]{1,300})”|`(?![^`'\s]+'\s)([^`]{1,300})`|«([^»]{1,300})»")
"""Of one line. None begins or ends at an escaped quote, nor with a name as GNU's tools quote it (`x')."""
_LEVEL = re.compile(r"^(?:error|fatal|critical|panic)[\])]:? ", re.I)
"""The rest of `[ERROR] ` or `(error): `, which a logger writes before the message."""
_OUTER_LINKS = re.compile(r"(?<=`)(?:\w[^\s`:]{0,40} ){2}[^`:]{2,150}: (?:[^`:]{2,150}: ){0,3}$")
"""Of a chain in a quote, before its last link."""
_MIN_QUOTED_CHARS, _MIN_GAPS = 8, 2
_MAX_BEFORE_CHARS = 120
_CODE_LINE = re.compile(
    r"^\s*(?:(?:#|//)(?!\W{0,6}[\w.]{0,80}(?:Error|Exception): )|raise\b|except\b|throw\b|catch\b|if\b|return\b|"
    r"with\b|class\b|def\b|assert\w*[ .(]|import\b|"
    r"from\b|@)|[=({]\s*$"
)
_ERROR_HEADING = re.compile(r"(?i)\berror (?:message|output|text)\b|^\W*(?:error|exception)s?\W*$")
_NO_ANSWER = re.compile(r"(?i)^\W*(?:n/?a|none|no|nothing|null|undefined)?\W*$")
_MARKS = re.compile(r"^(?:[|>+*\-\s]+|E\s{2,})+")


def find_error_messages(
    title: str, texts: Sequence[str], traces: Iterable[FoundTrace], sections: Sequence[IssueSection] = ()
) -> list[str]:
    """Return at most ten messages, best first: of traces, of sections for them, error lines, quotes, then of compilers.

    Each is in the text word for word. A message that is part of another one is left out.
    """
    # The user saw the last exception of a chain.
    ordered = sorted(traces, key=lambda found: -found.start)
    ranked = [
        *(_format_error(found) for found in ordered if found.trace.language != "diagnostic"),
        *_find_below_error_headings(sections),
        *_find_error_lines([title]),
        *(line for text in texts for line in _find_error_lines(text.split("\n"))),
        *(quote for text in texts for quote in _find_quoted_errors(text)),
        *(_format_error(found) for found in ordered if found.trace.language == "diagnostic"),
    ]
    messages: list[str] = []
    for candidate in ranked:
        message = candidate.strip()[:_MAX_CHARS].removesuffix("**").rstrip()
        if len(message) >= _MIN_CHARS and not any(message in known or known in message for known in messages):
            messages.append(message)
            if len(messages) == _MAX_MESSAGES:
                break
    return messages


def _find_below_error_headings(sections: Sequence[IssueSection]) -> list[str]:
    """Return the first line below a heading for the message."""
    found = []
    for section in sections:
        if _ERROR_HEADING.search(section.heading):
            lines = (line.strip(" `") for line in section.text[:_MAX_LINE_CHARS].split("\n"))
            line = next((line for line in lines if line and not line.startswith(("Traceback", "at "))), "")
            if not _NO_ANSWER.match(line):
                found.append(line)
    return found


def _format_error(found_trace: FoundTrace) -> str:
    """Return the error of a trace as its line states it; empty if it says nothing."""
    message = found_trace.trace.message or ""
    if found_trace.trace.language == "rust" and not message:
        return ""  # a panic that says nothing: its line holds only the place
    line = _MARKS.sub("", found_trace.error_line).strip()
    for stated in (f"{found_trace.trace.exception}: {message}", f"{message} ({found_trace.trace.exception})"):
        if found_trace.trace.exception and stated in line:
            return stated
    if message and message in line and len(line) > len(message) + 80:
        return message
    return (line or message).removesuffix(":")


def _find_error_lines(lines: Sequence[str]) -> list[str]:
    """Return what lines state as an error: behind `Error:`, as `SomeError: text`, or in a known form."""
    found = []
    for line in (whole[:_MAX_LINE_CHARS] for whole in lines):
        if _CODE_LINE.search(line):
            continue
        match = _STATED.search(line)
        if match is None:
            match = _LABELLED.search(line) or _KNOWN.search(line)
        if match is not None and not _TRAILER.search(match[0]):
            stated = _cut_at_quote(line, match.start(match.lastindex or 0), match[match.lastindex or 0])
            found.append(_LEVEL.sub("", stated))
    return found


def _cut_at_quote(line: str, start: int, message: str) -> str:
    """Return the message, with the links before it, up to the mark that closes the quote in which it stands."""
    if outer := _OUTER_LINKS.search(line, 0, start):
        start, message = outer.start(), outer[0] + message
    before = re.sub(r"`[^`']*'(?!\w)", "", line[:start])  # without names, as compilers quote them
    closing = "`" if before.count("`") % 2 else "”" if before.endswith("“") else ""
    inside = message.partition(closing)[0] if closing else message
    return inside if len(inside) >= _MIN_CHARS else message


def _find_quoted_errors(text: str) -> list[str]:
    """Return the texts in quotes that the words around them call an error."""
    found = []
    for line in (whole[:_MAX_LINE_CHARS] for whole in text.split("\n")):
        if _CODE_LINE.search(line) or line.rstrip().endswith(";"):
            continue
        for match in _QUOTED.finditer(line):  # short ones too: what is between two quotes is none
            words = match[match.lastindex or 0]
            if len(words) < _MIN_QUOTED_CHARS or words.count(" ") < _MIN_GAPS or re.search(r"[{}=;]|\w\(", words):
                continue
            if _is_stated_as_error(words, line[: match.start()], line[match.end() :]):
                found.append(words)
    return found


def _is_stated_as_error(words: str, before: str, after: str) -> bool:
    """Return whether the words around a quote call it an error. A dialog may also say that all is well."""
    if before.rstrip().endswith(("(", "<<", "[")):
        return False
    before = before.rpartition(". ")[2][-_MAX_BEFORE_CHARS:]
    if _ERROR_WORD.search(before) or _ERROR_AFTER.match(after):
        return True
    return _SPEECH_WORD.search(before) is not None and SAYS_FAILURE.search(words) is not None
