"""Looks up quotes in the lines of a file, in the forms in which models write them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from triage.domain.code import Span
from triage.safety.clean_text import clean_text

MIN_QUOTE_CHARS = 4
"""Letters and digits. `}` and `if` are in every file and prove nothing."""
_NUMBERED = re.compile(r"^[ \t]*\d{1,7}[ \t]*\|[ \t]?", re.MULTILINE)
"""As passages and answers of tools show lines: `277| return text`."""
_FENCE = re.compile(r"\A\s*```\w*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)
_MARKS = "`'\"\u201c\u201d\u2018\u2019"
_ONE_MARK = str.maketrans(dict.fromkeys("'\u201c\u201d\u2018\u2019", '"'))
_ELLIPSIS = re.compile(r"(?:\s*(?:\.{3}|\u2026))+\s*\Z")
_LEADING_DOTS = re.compile(r"\A\s*(?:\.{3}|\u2026)\s*")


def list_quote_forms(quote: str) -> Iterator[str]:
    """Yield the quote as it is, then without a fence, marks around it, line numbers, and dots before and behind it."""
    steps = (str, _strip_fence, _strip_marks, partial(_NUMBERED.sub, ""), _strip_marks, _strip_ellipsis)
    form, seen = quote, set[str]()
    for step in steps:
        form = step(form)
        if form.strip() and form not in seen:
            seen.add(form)
            yield form


def _strip_fence(text: str) -> str:
    fenced = _FENCE.match(text)
    return fenced[1] if fenced else text


def _strip_marks(text: str) -> str:
    return text.strip().strip(_MARKS)


def _strip_ellipsis(text: str) -> str:
    return _LEADING_DOTS.sub("", text[:-16] + _ELLIPSIS.sub("", text[-16:]))


class NormalizedText:
    """A file's text with white space folded, or without any, and the line of each word."""

    def __init__(self, lines: Sequence[str], *, has_blanks: bool = True) -> None:
        self._joint = " " if has_blanks else ""
        # As a model was shown it: invisible characters are not part of a quote.
        self._visible = [line if line.isprintable() else clean_text(line) for line in lines]
        folded = [(number, self.normalize(line)) for number, line in enumerate(self._visible, start=1)]
        filled = [(number, text) for number, text in folded if text]
        self._numbers = [number for number, _ in filled]
        self._offsets = [0]
        for _, text in filled:
            self._offsets.append(self._offsets[-1] + len(text) + len(self._joint))
        self._joined = "".join(f"{text}{self._joint}" for _, text in filled)

    @cached_property
    def without_blanks(self) -> "NormalizedText":
        return NormalizedText(self._visible, has_blanks=False)

    def normalize(self, text: str) -> str:
        """Return the text with white space folded, or without any.

        Then all quotation marks are one, because a model that writes JSON changes them.
        """
        folded = self._joint.join(text.split())
        return folded if self._joint else folded.translate(_ONE_MARK)

    def contains(self, quote: str, start: int, end: int) -> bool:
        low = self._offsets[bisect_right(self._numbers, start - 1)]
        high = self._offsets[bisect_right(self._numbers, end)]
        return self._joined.find(quote, low, high) >= 0

    def find_ranges(self, quote: str, start: int = 1, end: int | None = None) -> list[tuple[int, int]]:
        """Return first and last line of the first two places of the quote in some lines, or in all."""
        low = self._offsets[bisect_right(self._numbers, start - 1)]
        high = len(self._joined) if end is None else self._offsets[bisect_right(self._numbers, end)]
        found: list[tuple[int, int]] = []
        offset = self._joined.find(quote, low, high)
        while offset >= 0 and len(found) < 2:
            found.append((self._line_at(offset), self._line_at(offset + len(quote) - 1)))
            offset = self._joined.find(quote, offset + 1, high)
        return found

    def read(self, start: int, end: int) -> str:
        return "\n".join(self._visible[start - 1 : end]).strip()

    def _line_at(self, offset: int) -> int:
        return self._numbers[bisect_right(self._offsets, offset) - 1]


@dataclass(frozen=True)
class Quoted:
    """Where a quote stands: once, or in the first two of several places."""

    text: str
    """The quote as it is in the file, but for blanks."""
    ranges: list[tuple[int, int]]


def find_quote(quote: str, text: NormalizedText, span: Span | None, definitions: Sequence[Span]) -> Quoted | None:
    """Look a quote up in the cited lines, in the file, and of several places in the definition of the symbol."""
    for form in list_quote_forms(quote):
        for known in (text, text.without_blanks):
            wanted = known.normalize(form)
            if count_letters(wanted) < MIN_QUOTE_CHARS:
                continue
            ranges = known.find_ranges(wanted)
            for inside in (span, *definitions):
                if inside and len(ranges) != 1 and known.contains(wanted, inside.start, inside.end):
                    ranges = known.find_ranges(wanted, inside.start, inside.end)[:1]
            if ranges:
                written = form if known is text else known.read(*ranges[0])
                return Quoted(written, ranges)
    return None


def count_letters(text: str) -> int:
    """Return the number of letters and digits."""
    return sum(character.isalnum() for character in text)
