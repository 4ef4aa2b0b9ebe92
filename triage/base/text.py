"""Texts in bytes, values as an error message shows them, lists of words in one line, and lines of code."""

import codecs
import difflib
import re
from collections.abc import Container, Iterable

_STRING = re.compile(r"'(?:[^'\\\n]|\\.){0,200}'|\"(?:[^\"\\\n]|\\.){0,200}\"")
MAX_QUOTED_CHARS = 40
MAX_LINE_CHARS, MAX_WHOLE_LINE_CHARS = 300, 2_000
"""Of a line that a model is shown, and of one that it asks for or cites."""
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SNIFFED_BYTES = 8_192
"""Bytes searched for a NUL, as git and GitHub's linguist do."""


def quote_value(value: object) -> str:
    """The value in quotes on one line, shortened, with all but printable ASCII escaped."""
    text = str(value)
    shown = text[:MAX_QUOTED_CHARS]
    while len(ascii(shown)) > 3 * MAX_QUOTED_CHARS:  # an emoji has ten characters
        shown = shown[:-1]
    return ascii(shown if shown == text else f"{shown}...")


def suggest_nearest(text: str, allowed: Iterable[str]) -> str:
    """Such as `did you mean labels?`; empty if no allowed word is similar."""
    nearest = difflib.get_close_matches(text.lower(), list(allowed), n=1, cutoff=0.5)
    return f"did you mean {nearest[0]}?" if nearest else ""


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def count_open(line: str, comment: str = "#") -> int:
    """Return how many more brackets a line of code opens than it closes, outside of strings and comments."""
    code = re.split(rf"(?<!\S){comment}", _STRING.sub("", line))[0]
    return sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))


def decode_text(data: bytes) -> str | None:
    """Return the text, or None for binary content. Bytes that are not UTF-8 are decoded as Latin-1."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if b"\0" in data[:_SNIFFED_BYTES]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def number_lines(lines: Iterable[tuple[int, str]], whole: Container[int] = ()) -> str:
    """Return the lines with their numbers, without the indentation that all have; those of `whole` are cut later."""
    numbered = list(lines)
    width = len(str(numbered[-1][0])) if numbered else 0
    indent = min((len(line) - len(line.lstrip()) for _, line in numbered if line.strip()), default=0)
    limits = {number: MAX_WHOLE_LINE_CHARS if number in whole else MAX_LINE_CHARS for number, _ in numbered}
    return "\n".join(f"{number:>{width}}| {cut_line(line[indent:], limits[number])}" for number, line in numbered)


def truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"


def cut_line(line: str, max_chars: int = MAX_LINE_CHARS) -> str:
    """Return what a prompt shows of a line."""
    over = len(line) - max_chars
    return f"{line[:max_chars]} (... {over:,} characters left out)" if over > 0 else line
