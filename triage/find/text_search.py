"""Finds lines by literal text in all indexed files. No index of words is asked: constants and messages count too."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from triage.base.threads import raise_if_abandoned
from triage.domain.code import LineMatch, LineMatches
from triage.find.files.file_roles import FileRole
from triage.find.words.corpus import Corpus

MAX_SECONDS = 6.0
"""Of one search. Django's 31 MB take half of one."""
MIN_TEXT_CHARS, MAX_TEXT_CHARS = 2, 300
MAX_LINE_CHARS = 300
MAX_PLACES = 8
"""Files that are named with the number of their lines that are not listed."""
_MAX_FOUND = 20_000
"""Lines that are compared; further ones are only counted."""
_SPREAD = 3
"""Lines of one file that come before those of the next."""
_DOCUMENTS = 3
"""The rank of their lines."""
_CLIPPED = "(...)"

_Line = tuple[tuple[int, bool], int, int, str]
"""Rank, file number, line number, text."""


def find_text(corpus: Corpus, text: str, limit: int, seconds: float = MAX_SECONDS) -> LineMatches:
    """Return the lines with a text: as it is written, else in any case. Of several lines of text the longest counts.

    Lines of product code come before those of configuration, tests and documents, and in each of them lines that begin
    with the text before others. Definitions have a search of their own.
    """
    wanted = max((line.strip() for line in text[:MAX_TEXT_CHARS].split("\n")), key=len)
    if len(wanted) < MIN_TEXT_CHARS:
        return LineMatches()
    deadline = time.monotonic() + seconds
    found = _Search(corpus, wanted, deadline)
    found.read_files()
    if not found.by_file:
        found = _Search(corpus, wanted, deadline, any_case=True)
        found.read_files()
    listed = found.choose_lines(limit)
    return LineMatches(
        lines=[_make_match(corpus, line) for line in listed],
        total=found.by_file.total(),
        files=len(found.by_file),
        not_listed=_count_unlisted(corpus, found.by_file, listed),
        same_case=not found.any_case,
        complete=found.is_complete,
    )


@dataclass
class _Search:
    corpus: Corpus
    text: str
    deadline: float
    any_case: bool = False
    is_complete: bool = True
    """False once files were left out, because the time was up."""
    lines: list[_Line] = field(default_factory=list)
    by_file: Counter[int] = field(default_factory=Counter)
    """Number of lines."""

    def read_files(self) -> None:
        """Collect the lines of all files until the time is up, which makes the search incomplete."""
        # Bytes have small letters for ASCII only: with other text every file, which has "", is read as text.
        folded = self.text.lower() if self.any_case else self.text
        content = "" if self.any_case and not folded.isascii() else folded
        for number, file in enumerate(self.corpus.files):
            raise_if_abandoned()
            if time.monotonic() > self.deadline:
                self.is_complete = False
                return
            if file.has_bytes(content.encode("utf-8", "replace"), any_case=self.any_case):
                self._read_lines(number, file.read_lines(), folded)

    def _read_lines(self, file: int, lines: Sequence[str], wanted: str) -> None:
        """Collect the lines of a file that have the text."""
        numbers = [
            number
            for number, line in enumerate(lines, 1)
            if wanted in line or (self.any_case and wanted in line.lower())
        ]
        if not numbers:
            return
        self.by_file[file] += len(numbers)
        role = _rank_role(self.corpus.files[file].role)
        for number in numbers[: _MAX_FOUND - len(self.lines)]:
            line = lines[number - 1]
            begins = line.lstrip().startswith(self.text)
            self.lines.append(((role, not begins), file, number, clip_line(line, self.text)))

    def choose_lines(self, limit: int) -> list[_Line]:
        """Return the first lines by rank, with at most three of a file before those of the next file of that role.

        Of documents, which may be made from the code, there are at most three where other files have the text.
        """
        of_file = Counter[int]()
        turns: list[tuple[int, int, _Line]] = []
        for line in sorted(self.lines):
            (role, *_), file, *_ = line
            turns.append((role, of_file[file] // _SPREAD, line))
            of_file[file] += 1
        best = sorted(turns)[:limit]
        others = sum(role != _DOCUMENTS for role, *_ in best)
        return [line for *_, line in best[: others + _SPREAD if others else None]]


def _rank_role(role: FileRole) -> int:
    """Return 0 for product code, then configuration and data, tests, documents and examples."""
    if role.is_product_code:
        return 0
    return 2 if role.is_test else _DOCUMENTS if role.is_auxiliary else 1


def _make_match(corpus: Corpus, line: _Line) -> LineMatch:
    _, file, number, text = line
    around = corpus.find_enclosing(file, number)
    return LineMatch(path=corpus.files[file].path, line=number, text=text, symbol=around.name if around else None)


def clip_line(line: str, text: str) -> str:
    """Return the line; of a long one the part around some text."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    at = max(line.find(text), 0)
    start = max(0, min(at - MAX_LINE_CHARS // 3, len(line) - MAX_LINE_CHARS))
    end = start + MAX_LINE_CHARS
    return (_CLIPPED if start else "") + line[start:end] + (_CLIPPED if end < len(line) else "")


def _count_unlisted(corpus: Corpus, by_file: Counter[int], listed: Sequence[_Line]) -> dict[str, int]:
    """Return the number of lines that are not listed: of the files with most of them, and elsewhere."""
    counts = by_file - Counter(file for _, file, *_ in listed)
    named = {corpus.files[file].path: count for file, count in counts.most_common(MAX_PLACES)}
    elsewhere = counts.total() - sum(named.values())
    return named | ({"elsewhere": elsewhere} if elsewhere else {})
