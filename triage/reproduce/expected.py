"""What a report says that happens, and whether a run shows the same."""

import difflib
import re
from collections.abc import Iterator, Sequence
from datetime import date

from triage.domain.issue import ParsedIssue
from triage.read.text_signs import find_sentences
from triage.reproduce.evidence import Expected, Failure
from triage.reproduce.example.example import Example, Shown
from triage.reproduce.example.sessions import read_session, without_marks
from triage.reproduce.example.shown_output import WISH
from triage.reproduce.runner.read_output import RENAMED, list_failures
from triage.reproduce.runner.read_record import EXAMPLE, OTHER

_ABSENT = re.compile(
    r"(?i)(?:\b(?:no|not|without|never)\b|n['’]t\b)"
    r"(?:\s+(?:longer|more|any|an?|the|get|see|give|show|raise|throw)){0,3}?"
    r"\s+(?:errors?|exceptions?|raise[sd]?|throws?|thrown|fail\w*)\b(?:`[^`\n]*`|(?!\bbut\b)[^`,;])*"
)
"""What a clause says that does not happen: `no longer an error for ...`."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_OF_MACHINE = re.compile(
    r"(?<![^\s'\"<>])[^\s'\"<>]*[\\/](?:site|dist)-packages[\\/]|(?<![\w'\"])u(?=['\"])|(?<![\w.'\"])datetime\.(?=[a-z]+\()"
)
"""Where packages are installed, how Python 2 shows a text, and what people leave out of a time."""
_TEXT = re.compile(r"(?<![\w'\"\\])b?(['\"])(?:\\.|(?<=\w)\1(?=\w)|(?!\1)[^\\\n])*+\1(?![\w'\"])")
"""The value of a string, as a prompt shows it. No apostrophe begins one."""
_QUOTED = re.compile(r"^\"([^'\"\\]*)\" *$", re.M)
"""The same, as people write it: prompts have single quotes."""
_IN_QUOTES = re.compile(r"^(['\"])(.*)\1 *$", re.M)
_LABEL = re.compile(r"\A[^\n\d'\"`({\[]{1,40}[:=>] +(?=\S[^\n]*\n?\Z)")
"""Before the only line that is printed."""
_ENDLESS = re.compile(
    r"(?i)(?<!\.)\b(?:hang(?:s|ing)?(?! (?:on|up|tight)\b)|hung|freez(?:es|ing)|lock(?:s|ed|ing)?[ -]?up|"
    r"(?:infinite|endless)(?:ly)? (?:loop|recurs|wait)\w*|loops? forever|"
    r"catastrophic backtracking|never (?:ends?|returns?|finish\w*|terminates?|completes?))\b"
)
_FAILING = re.compile(
    r"(?i)\b(?:fail\w*|(?:tests?|examples?|it)\W+(?:\w+\W+){0,3}?pass(?:es|ed|ing)?(?! (?:to|in|into|as)\b)|assert\w*|"
    r"errors?|raises?|broken|breaks?|regressions?)\b"
)
_FAILING_REMARK = re.compile(r"(?i)\W*(?:fails|failed|(?:raises )?AssertionError)\W*")
ENDLESS = Failure(type="it did not end within its time limit")
"""What a report means that says so."""
_MIN_STEM_CHARS = 8
_MIN_STEM_WORDS = 3
_MIN_PIECES = 3
MIN_SHOWN_CHARS = 3
"""`1` and `[]` are printed by much."""
_MIN_LIKENESS = 0.85
"""Releases reword messages: `got an unexpected keyword argument` gained the class's name in Python 3.10."""


def find_expected(parsed: ParsedIssue, example: Example) -> Expected:
    """Return the errors that the report shows or names, what it shows as printed, and what it wishes."""
    shown = "\n".join(_list_shown(parsed, example))
    sentences = (one for one in [parsed.title, *find_sentences(parsed.prose)] if not WISH.search(one))
    claims = "\n".join(one for sentence in sentences if (one := _ABSENT.sub("", sentence).strip()))
    asserts = (line for line in example.code.splitlines() if "#" in line and line.lstrip().startswith("assert "))
    remarks = (line.rpartition("#")[2] for line in asserts)
    report = "\n".join([shown, claims, *filter(_FAILING_REMARK.fullmatch, remarks)])
    errors = list_failures(parsed, report)
    if example.language in ("python", "node"):  # a line `Error: no name` may be a program's own
        errors = [one for one in errors if one.frames or (one.type[:1].isupper() and one.type != "Error")]
    sessions = ((block.text, read_session(block.text, "python")) for block in parsed.code if example.is_session)
    typed = "\n".join(text for text, session in sessions if session and session.code in example.code)
    return Expected(
        errors=errors,
        title=parsed.title,
        claims=claims,
        report=report,
        in_session=[one.type for one in errors if one.text in typed],
        **example.model_dump(include={*Shown.model_fields}),
    )


def _list_shown(parsed: ParsedIssue, example: Example) -> Iterator[str]:
    """Yield the lines of blocks that are neither code of the example, whose comments say what they want, nor wishes."""
    own = {line.strip(" >.") for line in example.code.splitlines()}
    for block in parsed.code:
        if without_marks(block.text) not in example.wished:
            yield from (line for line in block.text.splitlines() if line.strip(" >.") not in own)


def is_shown_error(failure: Failure, expected: Expected) -> bool:
    """Return whether the report shows this error: the same type, and the same message."""
    # IPython names the type above its trace, whose last line people cut off. `Error` is no name: its words are. Many
    # words say enough without the type.
    is_sentence = failure.message.count(" ") >= _MIN_STEM_WORDS
    says_enough = (failure.type.startswith(("Error", "SIG")) and len(failure.message) >= _MIN_STEM_CHARS) or is_sentence
    lines = [f"{failure.type} Traceback (most recent call last)", *([failure.text] if failure.message else [])]
    lines += [failure.message] if says_enough else []
    below = expected.report.replace(":\n", "\n")  # of "I see this:", which is no type
    report, title = stem(f"{expected.report}\n{below}"), stem(expected.title)  # which may have the words of a wish
    found = (one == title or re.search(rf"(?<!\w)(?<!\w: ){re.escape(one)}(?!\w)", report) for one in map(stem, lines))
    messages = [one.message for one in expected.errors if one.type == failure.type]
    return any(found) or any(
        not one or not failure.message or is_same_message(failure.message, one) for one in messages
    )


def says_endless(expected: Expected) -> bool:
    """Return whether the report means that it does not end: it says so, and shows no error that it ends with."""
    return not expected.errors and _ENDLESS.search(expected.claims) is not None


def says_failing(expected: Expected) -> bool:
    """Return whether the report says that something of it fails, or passes elsewhere: an `assert` may state a fault."""
    return _FAILING.search(expected.report) is not None


def find_printed_errors(output: str, expected: Expected) -> set[str]:
    """Return the types of the report's errors that an output has with their messages: some catch them."""
    printed = stem(output)
    texts = ((one.type, stem(one.text).rstrip(",;.")) for one in expected.errors if one.message)
    return {kind for kind, text in texts if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", printed)}


def is_named_error(failure: Failure, expected: Expected) -> bool:
    """Return whether a sentence of the report names the type of this error, which the project's own code raised."""
    is_own = any(frame.path not in (EXAMPLE, OTHER) for frame in failure.frames)
    return is_own and re.search(rf"\b{re.escape(failure.type)}\b", expected.claims) is not None


def is_same_message(one: str, other: str) -> bool:
    """Return whether two messages are the same without their numbers, addresses, paths and quotes."""
    first, second = stem(one), stem(other)
    if first == second:
        return True
    short, long = sorted((first, second), key=len)
    if len(short) < _MIN_STEM_CHARS:
        return False
    return long.startswith(short) or difflib.SequenceMatcher(None, first, second).ratio() >= _MIN_LIKENESS


def stem(message: str) -> str:
    """Return a message without what differs from machine to machine."""
    text = RENAMED.sub("OSError", _ADDRESS.sub("#", message))
    text = re.sub(r"(?:[A-Za-z]:)?(?:[\\/][\w.~-]+){2,}", "/", text)
    text = re.sub(r"\d+(?:\.\d+)*", "#", text)
    return " ".join(re.sub(r"[\"'`“”‘’]", "", text).lower().split())


def prints_only(output: str, value: str) -> bool:
    """Return whether nothing but a value is printed, with the quotes of a string or without, or behind a label."""
    value, printed = (_QUOTED.sub(r"'\1'", one) for one in (value, _LABEL.sub("", output)))
    is_object = value[:1] == "{" and squeeze(printed) == squeeze(value)  # Node pads what is in braces
    return is_object or printed.split() in (value.split(), f"'{value}'".split(), _IN_QUOTES.sub(r"\2", value).split())


def shows_output(output: str, shown: Sequence[str]) -> bool:
    """Return whether one thing that the report shows, in parts, is printed; of what is short, whether nothing else is.

    A prompt may have shown one value as that of a string, and people write a text that is printed as one.
    """
    if len("".join(shown)) < MIN_SHOWN_CHARS:
        return prints_only(output, " ".join(shown))
    whole = "".join(shown)  # a value may be wrapped in another way, by a terminal also inside a string
    ways = (shown, [whole], [f"'{whole}'"], [_IN_QUOTES.sub(r"\2", whole)])
    return any(has_parts(printed, way) for printed in (output, _LABEL.sub("", output)) for way in ways)


def replaces(before: str, shown: Sequence[str], after: str, wished: str) -> bool:
    """Return whether two outputs differ in nothing but that one has what is wished in place of what is shown."""
    changed = squeeze(before).replace(squeeze("\n".join(shown)), squeeze(wished), 1)
    return has_parts(before, shown) and changed == squeeze(after)


def has_parts(output: str, shown: Sequence[str]) -> bool:
    """Return whether all parts of what the report shows are printed, in their order.

    White space counts in the value of a string.
    """
    printed, position = "", 0
    bounds = [0]
    for line in output.splitlines(keepends=True):
        printed += squeeze(line)
        bounds.append(len(printed))
    ends, starts_at = {*bounds}, bounds
    if len(shown) >= _MIN_PIECES:  # it may be an element of what is printed
        starts_at = sorted({*bounds, *(at + 1 for at, sign in enumerate(printed) if sign in "([{,")})
        ends |= {at for at, sign in enumerate(printed) if sign in ",)]}"}
    for one in shown:
        wanted = squeeze(f"{one}\n")
        # From the start of a line to the end of one: `-x` is not shown by `-x + 1`.
        starts = (
            at for at in starts_at if at >= position and at + len(wanted) in ends and printed.startswith(wanted, at)
        )
        start = next(starts, None)
        if start is None:
            return False
        position = start + len(wanted)
    return bool(shown)


def shows_day(output: str, day: date) -> bool:
    """Return whether an output has a date of its run, such as `2026-11-28` or `(2026, 11, 28`."""
    return re.search(rf"{day.year}\D{{1,2}}0?{day.month}\D{{1,2}}0?{day.day}(?!\d)", output) is not None


def is_same_output(one: str, other: str) -> bool:
    """Return whether two runs print the same, white space included, up to addresses."""
    return _ADDRESS.sub("#", one) == _ADDRESS.sub("#", other)


def squeeze(text: str) -> str:
    """Return a text without white space outside of strings, and without what differs from machine to machine."""
    text = _TEXT.sub(lambda match: match[0].replace(" ", "·"), _OF_MACHINE.sub("", _QUOTED.sub(r"'\1'", text)))
    return "".join(_ADDRESS.sub("#", text).split())
