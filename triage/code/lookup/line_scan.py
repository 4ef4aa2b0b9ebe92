"""Reads the lines of all files that have some text. No index of words is asked: constants and quotes count too."""

import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from triage.base.threads import raise_if_abandoned
from triage.code.parse.definitions import normalize_name
from triage.code.words.corpus import Corpus
from triage.domain.code import LineMatch

MAX_SECONDS = 6.0
"""Of one look-up. Django's 31 MB take half of one."""
MAX_LINE_CHARS = 300
MAX_PLACES = 8
_CLIPPED = "(...)"

Found = tuple[int, int, str]
"""File number, line number, text of the line."""


@dataclass
class LineScan:
    """One look-up in the texts of a corpus, within a time limit."""

    corpus: Corpus
    seconds: float = MAX_SECONDS
    clock: Callable[[], float] = time.monotonic
    is_complete: bool = True
    """False once files were left out, because the time was up."""
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self._deadline = self.clock() + self.seconds

    def find_files(self, texts: Sequence[str], *, any_case: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Yield the numbers of the files that have some of the texts, and these; likely sources first."""
        # Bytes have small letters for ASCII only: a file that may have another text counts too.
        wanted = [
            (text.lower() if text.isascii() else "").encode() if any_case else text.encode("utf-8", "replace")
            for text in texts
        ]
        for number, file in enumerate(self.corpus.files):
            if not self.has_time():
                return
            if found := file.find_bytes(wanted, any_case=any_case):
                yield number, [texts[position] for position in found]

    def has_time(self) -> bool:
        raise_if_abandoned()
        if self.clock() > self._deadline:
            self.is_complete = False
        return self.is_complete

    def find_lines(
        self, text: str, matches: Callable[[str], object], *, any_case: bool = False
    ) -> Iterator[tuple[int, list[str], list[int]]]:
        """Yield number, lines and numbers of the matching lines of each file that has the text."""
        for file, _ in self.find_files([text], any_case=any_case):
            lines = self.corpus.files[file].read_lines()
            numbers = [number for number, line in enumerate(lines, 1) if matches(line)]
            if numbers:
                yield file, lines, numbers


def match_word(name: str) -> re.Pattern[str]:
    """Return a pattern for a name that is no part of a longer one. Its time is linear in the line."""
    before = r"(?<![\w$])" if re.match(r"\w", name) else ""
    return re.compile(before + re.escape(name) + (r"(?![\w$])" if re.search(r"\w$", name) else ""))


def split_name(name: str) -> list[str]:
    """Return the parts of a name in whatever notation, such as `store::Store::save()`; `[""]` for none."""
    words = name.replace("`", " ").split()
    return normalize_name(words[-1]).split(".") if words else [""]


def find_definition_lines(corpus: Corpus, name: str, file: int, numbers: Sequence[int]) -> set[int]:
    """Return which of some lines with an unqualified name define it. The numbers ascend; comments are left out."""
    defined = set[int]()
    for one in corpus.find_definitions(file, name):
        # Comments and decorators above belong to a definition.
        first = bisect_right(numbers, one.start - 1)
        defined.update(number for number in numbers[first : first + 1] if number <= one.end)
    return defined


def make_match(corpus: Corpus, found: Found, text: str) -> LineMatch:
    file, number, line = found
    around = corpus.find_enclosing(file, number)
    return LineMatch(
        path=corpus.files[file].path, line=number, text=clip_line(line, text), symbol=around.name if around else None
    )


def clip_line(line: str, text: str) -> str:
    """Return the line; of a long one the part around some text."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    at = max(line.find(text), 0)
    start = max(0, min(at - MAX_LINE_CHARS // 3, len(line) - MAX_LINE_CHARS))
    end = start + MAX_LINE_CHARS
    return (_CLIPPED if start else "") + line[start:end] + (_CLIPPED if end < len(line) else "")


def count_by_place(counts: Counter[str]) -> dict[str, int]:
    """Return numbers by file; where there are many files, by folder, the largest numbers first."""
    for depth in (0, 3, 2, 1):
        places = Counter[str]()
        for path, count in counts.items():
            parts = path.split("/")
            places["/".join(parts[:depth]) + "/" if 0 < depth < len(parts) else path] += count
        if len(places) <= MAX_PLACES:
            break
    else:
        named = dict(places.most_common(MAX_PLACES - 1))
        return named | {"elsewhere": places.total() - sum(named.values())}
    return dict(places.most_common())


def count_unlisted(corpus: Corpus, by_file: Counter[int], listed: Iterable[Found]) -> dict[str, int]:
    counts = by_file - Counter(file for file, _, _ in listed)
    return count_by_place(Counter({corpus.files[file].path: count for file, count in counts.items()}))
