"""Sentences of the prose, and signs in the text that several classifications use."""

import re
from collections.abc import Iterator

from triage.domain.issue import ParsedIssue, Quote

MAX_CHARS = 12_000
"""Of the prose, and of the text in which signs are searched for. Reporters name the problem early."""
_MAX_SENTENCE_CHARS = 600
_MAX_HEAD = 12_000
_MAX_TAIL = 4_000
_BOUNDARY = re.compile(
    r"(?<=[.!?。！？])[\"')\]*_`]{0,3}(?:\s+|$)"
    r"|\n\s*(?=\n|\W{0,4}[A-Z0-9]|[-*+>#|•\[(])"  # a line that goes on begins with a small letter
    r"|(?<=:)\n"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|ver|v)|^\W{0,4}\d{1,2})\.$", re.I)


def find_sentences(text: str) -> Iterator[str]:
    """Yield sentences of the text, each word for word, at most 600 characters of it."""
    start = 0
    for boundary in _BOUNDARY.finditer(text):
        ends_line = "\n" in boundary[0]
        if not ends_line and _ABBREVIATION.search(text[max(start, boundary.start() - 8) : boundary.start()]):
            continue
        yield from _trim(text[start : boundary.end()])
        start = boundary.end()
    yield from _trim(text[start:])


def shorten_to_ends(text: str) -> str:
    """Return start and end of a long text: what is in the middle is a log."""
    return text if len(text) <= _MAX_HEAD + _MAX_TAIL else f"{text[:_MAX_HEAD]}\n{text[-_MAX_TAIL:]}"


def quote(parsed: ParsedIssue, words: str) -> Quote | None:
    """Return the words with their place, None where the text does not have them in one piece."""
    start = parsed.text.find(words) if words else -1
    return Quote(text=words, start=start, end=start + len(words)) if start >= 0 else None


def _trim(sentence: str) -> Iterator[str]:
    trimmed = sentence.strip().lstrip("-*+>#|• ").strip()
    if trimmed:
        yield trimmed[:_MAX_SENTENCE_CHARS]


CRASH = re.compile(
    r"\b(?:crash(?:es|ed|ing)?|segfaults?|segmentation fault|core dump\w*|unhandled|panics?|panicked|blows up|"
    r"(?:throws?|raises?|throwing|raising|thrown|raised|fails? with|failed with|failing with|get|gets|got|"
    r"getting|results? in|see|seeing) "
    r"(?:an? |the |this |some )?(?:\w+ ){0,2}(?:error|exception|traceback|stack ?trace)|internal server error|"
    r"blue screen)\b",
    re.I,
)
FAILURE = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|crash\w*|error|exception|broken|hangs?|freez\w+|leaks?|wrong\w*|incorrect\w*|"
    r"(?:does|is|do|did|wo)(?:n['’]?t| not) (?:\w+ )?(?:work\w*|start\w*|open\w*|load\w*|run\w*|build\w*|compil\w+))\b",
    re.I,
)
_HYPOTHETICAL = re.compile(
    r"(?:\b(?:should|must|would|could|might|may|not|never|no|to|instead of|without|avoid|prevent\w*|rather than|"
    r"if it)|n't)\s(?:\w+\s){0,2}$",
    re.I,
)
CODE_LINE = re.compile(
    r"^\s*(?:(?:from [\w.]+ )?import [\w*]|def \w+\(|class \w+[(:{]|@\w+|(?:const|let|var|int|auto|public|"
    r"private|func|fn|fun|use|package|#include|SELECT|INSERT|UPDATE|CREATE)\b\W?\S|"
    r"[\w.\[\]'\"]{1,80} ?(?:=|:=|\+=) ?\S|"
    r"[\w.]{1,80}\([^()]{0,200}(?:\([^()]{0,100}\)[^()]{0,100}){0,3}\)[;:]?\s*$|return\b|for .{1,200}[:{]\s*$|if "
    r".{1,200}[:{]\s*$|\$ \S|>>>? ?\w|In \[\d+\]|[})\]]+[;,]?\s*$)",
    re.M,
)
_CALL = re.compile(r"\b[A-Za-z_][\w.]{1,60}\([^()\n]{1,120}\)")
NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|step \d{1,2}\b)\s?\S", re.I | re.M)
SAYS_FAILURE = re.compile(
    r"(?i)\b(?:errors?|fail(?:s|ed|ure)?|fatal|panic\w*|cannot|can['’]t|could(?:n['’]t| not)|unable|invalid|"
    r"unexpected|"
    r"not (?:found|supported|allowed|permitted|defined|implemented)|no (?:such|matching|module)|missing|denied|refused|"
    r"fault|abort\w*|"
    r"assert\w*|exceed\w*|out of memory|illegal|killed|undefined|exception|timed? ?out)\b"
)
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


def searchable_text(parsed: ParsedIssue) -> str:
    return f"{parsed.title}\n{parsed.prose}"[:MAX_CHARS]


def count_words(text: str) -> int:
    """Words; in scripts without spaces, two characters count as one."""
    return len(text.split()) + len(_WITHOUT_SPACES.findall(text)) // 2


def has_error(parsed: ParsedIssue) -> bool:
    return bool(parsed.error_messages) or any(trace.frames for trace in parsed.traces)


def has_code(parsed: ParsedIssue) -> bool:
    """Return whether there is code to run, also without a fence, or as calls in a sentence."""
    prose = searchable_text(parsed)
    return bool(parsed.code) or len(CODE_LINE.findall(prose)) >= 2 or len(_CALL.findall(prose)) >= 2


def find_crash_words(text: str, words: re.Pattern[str] = CRASH) -> str:
    """The words that report a crash or an exception; empty when there are none, or are denied or hypothetical."""
    for match in words.finditer(text):
        if not _HYPOTHETICAL.search(text[max(0, match.start() - 40) : match.start()]):
            return match[0]
    return ""
