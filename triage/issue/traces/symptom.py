"""Finds the error that can be quoted as it stands: whole, on one line, and not what the title says already."""

import re

from triage.domain.issue import ParsedIssue, Quote
from triage.issue.sentences import quote
from triage.issue.text_signs import SAYS_FAILURE
from triage.issue.traces.trace_frames import UNKNOWN_FILE

_MAX_CHARS = 240
_MIN_WORDS = 2
_TITLE_WORDS = 3
"""A title of fewer words is in many messages by chance."""
_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_][\w.$:\\]{0,120})?(?:Error|Exception|Warning|Interrupt|Exit|Failure|Fault|Panic|Timeout|Abort|"
    r"Throwable|DoesNotExist)\w{0,20}: ?\S"
)
_NAMED_AT_END = re.compile(r" \([A-Z]\w*(?:::\w+)*(?:Error|Exception|Mismatch|NotFound|Invalid)\w*\)$")
_PERSONAL = re.compile(r"(?:/(?:home|Users)/|[A-Za-z]:[\\/]{1,2}(?:Users|Documents)|~/)")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")
_LOG_TIME = re.compile(r"^[\[(]?\d{4}-\d\d-\d\d[T ]?[\d:.,]{0,20}(?:Z| ?[+-]\d{4})?[\])]?:?")
_CUT = re.compile(r"(?:[:,(\[{=]|\.\.\.|…|\b(?:and|or|the|a|of|to|in|at|with|by|for|from|is|was))$", re.I)
_PLACE = re.compile(r"^\S{1,200}\.\w{1,5}:\d{1,6}(?::\d{1,5})?: (?!\w* ?error)")
"""A message of a linter or a warning, which begins with its place."""
_MID_SENTENCE = re.compile(r"(?:^|\s)(?!rejection|exception|error|promise)[a-z]{1,20},?$")
"""What follows a word of a sentence may end in another one."""
_NAME_AT_BOTH_ENDS = re.compile(r"(([A-Z][\w:]{2,100}): .{1,400}) \(\2\)$")
_TERMINAL = re.compile(r"\x1b|\[\d{1,3}(?:;\d{1,3}){0,3}m|^(?:\$|%|PS [A-Z]:|[\w.-]+@[\w.-]+:)")
"""Colours and prompts."""
_RUNTIME_PREFIXES = ("runtime.", "runtime/", "panic", "std::", "core::", "rust_begin_unwind")
"""Functions of Go and Rust that report a panic; the cause is in the frames below."""
_GNU_QUOTE = re.compile(r"`[^`'\n]{1,400}'")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("“", "”"), ("«", "»"))


def find_symptom(parsed: ParsedIssue) -> Quote | None:
    """The exception with its message, or an error line of the program; None for a fragment, a path, or the title."""
    for stated in parsed.error_messages[:3]:
        message = _drop_repeated_name(stated)
        text = " ".join(message.split())
        if is_whole(text) and not _repeats(text, parsed.title) and _fills_its_line(message, parsed.text):
            return quote(parsed, message)
    return None


def describe_symptom(parsed: ParsedIssue) -> str:
    """The error and the place that raised it; empty where no error can be quoted whole."""
    symptom = find_symptom(parsed)
    if symptom is None:
        return ""
    error = symptom.text.replace("`", "'")  # Ruby and GNU tools quote `name': a lone backtick would open a code span
    # The last of a chain: the cause in Java, the exception that surfaced in Python.
    frames = parsed.stack_traces[-1].frames if parsed.stack_traces else []
    own = [
        frame
        for frame in frames
        if frame.path != UNKNOWN_FILE and not (frame.function or "").startswith(_RUNTIME_PREFIXES)
    ]
    if not own:
        return error
    last = own[-1]
    path = last.path.rpartition("/")[2] if is_personal(last.path) else last.path
    where = f"{path}:{last.line}" if last.line else path
    is_named = last.function is not None and not last.function.startswith("<")
    return f"{error}, raised in `{last.function}` ({where})." if is_named else f"{error}, raised at {where}."


def is_whole(message: str) -> bool:
    """Whether the words can stand alone: nothing is cut off, and nothing of the reporter's machine is in them."""
    if not 8 <= len(message) <= _MAX_CHARS or len(re.findall(r"\w+", message)) < _MIN_WORDS:
        return False
    if any(pattern.search(message) for pattern in (_PERSONAL, _TIMESTAMP, _CUT, _PLACE, _TERMINAL)):
        return False
    if not (_EXCEPTION.match(message) or _NAMED_AT_END.search(message) or SAYS_FAILURE.search(message)):
        return False
    if any(message.count(opening) != message.count(closing) for opening, closing in _PAIRS) or message.count('"') % 2:
        return False
    if message.count("`") % 2 and not _GNU_QUOTE.search(message):
        return False
    head, _, rest = message.partition(": ")
    return not rest or head.rpartition(".")[2].lower() != rest.rpartition(".")[2].strip().lower()


def _drop_repeated_name(message: str) -> str:
    """`TypeError: no items` of `TypeError: no items (TypeError)`, as Ruby prints it."""
    match = _NAME_AT_BOTH_ENDS.match(message)
    return match[1] if match else message


def is_personal(path: str) -> bool:
    """Whether the path is in somebody's home."""
    return _PERSONAL.search(path) is not None


def _repeats(message: str, title: str) -> bool:
    said, titled = (re.findall(r"\w+", text.lower()) for text in (message, title))
    return _are_in(said, titled) or (len(titled) >= _TITLE_WORDS and _are_in(titled, said))


def _are_in(words: list[str], others: list[str]) -> bool:
    return f" {' '.join(words)} " in f" {' '.join(others)} "


def _fills_its_line(message: str, text: str) -> bool:
    """Whether the message is stated: it begins a line or follows a colon or a quote, and ends a line or its quote."""
    start = text.find(message)
    if start < 0:
        return False
    before = text[text.rfind("\n", 0, start) + 1 : start].rstrip()
    after = text[start + len(message) :].split("\n", 1)[0].strip()
    if re.search(r"\d[:.]$", before):
        return False  # the seconds of a time
    begins = (bool(_EXCEPTION.match(message)) and not _MID_SENTENCE.search(before)) or not _LOG_TIME.sub(
        "", before
    ).strip("|>+*-E# \t[]")
    begins = begins or before[-1:] in ":\"'`“‘«("
    ends = not after or after[:1] in "\"'`”’»)" or message[-1:] in ".!?" or after == f"({message.partition(':')[0]})"
    return begins and ends
