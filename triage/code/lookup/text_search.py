"""Finds lines by literal text, and orders them by how much they tell."""

import re
from collections import Counter
from collections.abc import Set
from itertools import pairwise

from triage.code.files.file_roles import FileRole
from triage.code.lookup.line_scan import (
    Found,
    LineScan,
    clip_line,
    count_unlisted,
    find_definition_lines,
    make_match,
    match_word,
)
from triage.code.words.corpus import Corpus
from triage.code.words.tokens import STOP_WORDS
from triage.domain.code import LineMatch, LineMatches

MAX_TEXT_CHARS = 300
MIN_TEXT_CHARS = 2
_MAX_FOUND = 20_000
"""Lines that are compared; further ones are only counted."""
_SPREAD = 3
"""Lines of one file that come before those of the next."""
_MAX_OTHERS = 5
"""Listed lines outside of product code, if there are lines in it."""
_MAX_SIMILAR = 8
_MIN_SIMILARITY = 0.76
"""Of that of the best line."""
_MAX_WORDS = 8
_WORD = re.compile(r"\w{3,}")
_NAME = re.compile(r"[^\W\d]\w*")
_COMMENT = re.compile(r"#(?!\[|\s*define)|//|/\*|\*(?:[\s/]|$)|--\s|<!--|\"\"\"|'''")
_KEYWORD = re.compile(
    r"(?:def|class|fn|func|function|struct|enum|trait|type|interface|const|let|var|static|module|mod|macro_rules!|val|fun"
    r"|namespace|record|object|protocol|typedef|union|define|final|package|sub)[\s*&(]+$"
)
_ASSIGNS = re.compile(r"\s*(?::[^=]{1,80})?(?::=|=)(?![=>~])")


def find_text(corpus: Corpus, text: str, limit: int) -> LineMatches:
    """Return the lines with a text: as it is written, else in any case. Of several lines of text the longest counts.

    Lines of product code come before those of tests and documents, definitions before uses, and a line that stands
    once before one that many files have.
    """
    wanted = max((line.strip() for line in text[:MAX_TEXT_CHARS].split("\n")), key=len)
    if len(wanted) < MIN_TEXT_CHARS:
        return LineMatches()
    scan = LineScan(corpus)
    found = _Lines(scan, wanted)
    found.add_lines()
    if not found.by_file:
        found = _Lines(scan, wanted, any_case=True)
        found.add_lines()
    lines = found.choose(limit)
    in_product = any(corpus.files[file].role.is_product_code for file, _, _ in lines)
    return LineMatches(
        lines=[make_match(corpus, one, wanted) for one in lines],
        total=found.by_file.total(),
        files=len(found.by_file),
        not_listed=count_unlisted(corpus, found.by_file, lines),
        same_case=not found.any_case,
        similar=[] if in_product else _find_similar(scan, wanted, {one[:2] for one in lines}),
        complete=scan.is_complete,
    )


class _Lines:
    def __init__(self, scan: LineScan, text: str, *, any_case: bool = False) -> None:
        self.scan, self.text, self.any_case = scan, text, any_case
        self.found: list[Found] = []
        self.definitions = set[tuple[int, int]]()
        self.by_file = Counter[int]()

    def add_lines(self) -> None:
        names = _NAME.findall(self.text)
        folded = self.text.lower()
        for file, lines, numbers in self.scan.find_lines(
            self.text,
            lambda line: folded in line.lower() if self.any_case else self.text in line,
            any_case=self.any_case,
        ):
            self.by_file[file] += len(numbers)
            for number in numbers[: _MAX_FOUND - len(self.found)]:
                self.found.append((file, number, clip_line(lines[number - 1], self.text)))
            if len(names) == 1:
                code = [number for number in numbers if not _COMMENT.match(lines[number - 1].strip())]
                defined = find_definition_lines(self.scan.corpus, names[0], file, code)
                self.definitions.update((file, number) for number in defined)

    def choose(self, limit: int) -> list[Found]:
        """Return the most telling lines."""
        copies = Counter(line.strip() for _, _, line in self.found)
        word = match_word(self.text)
        files = self.scan.corpus.files

        def rank(one: Found) -> tuple[int, ...]:
            file, number, line = one
            whole, same = word.search(line), copies[line.strip()]
            is_declared = (file, number) in self.definitions or (whole is not None and _declares(line, whole))
            return (
                rank_role(files[file].role),
                not is_declared,
                0 if same == 1 else len(str(same)),
                whole is None,
                _COMMENT.match(line.strip()) is not None,
            )

        return spread([(rank(one), one) for one in self.found], limit)


def spread(ranked: list[tuple[tuple[int, ...], Found]], limit: int) -> list[Found]:
    """Return the first lines by rank, with at most three of a file before those of the next file of the same role.

    The first number of a rank is the role. Few other lines are listed if there are lines of product code.
    """
    of_file = Counter[int]()
    turns: list[tuple[int, int, tuple[int, ...], Found]] = []
    for rank, one in sorted(ranked):
        turns.append((rank[0], of_file[one[0]] // _SPREAD, rank, one))
        of_file[one[0]] += 1
    chosen = sorted(turns)[:limit]
    product = sum(role == 0 for role, *_ in chosen)
    return [one for *_, one in chosen[: product + _MAX_OTHERS if product else limit]]


def rank_role(role: FileRole) -> int:
    """Return 0 for product code, then configuration and data, tests, documents and examples."""
    if role.is_product_code:
        return 0
    return 2 if role.is_test else 3 if role.is_auxiliary else 1


def _declares(line: str, name: re.Match[str]) -> bool:
    before = line[: name.start()].lstrip()
    return _KEYWORD.search(before[-40:]) is not None or (not before and _ASSIGNS.match(line, name.end()) is not None)


def _find_similar(scan: LineScan, text: str, known: Set[tuple[int, int]]) -> list[LineMatch]:
    """Return lines with at least two words of the text and at least half of those that the product code has.

    A message in the code has placeholders where the text has values.
    """
    product = scan.corpus.product_files
    words = [word for word in dict.fromkeys(_WORD.findall(text)) if word.lower() not in STOP_WORDS]
    in_file = {file: found for file, found in scan.find_files(words[:_MAX_WORDS]) if product[file]}
    files = Counter(word for found in in_file.values() for word in found)
    words = sorted(files, key=lambda word: files[word])
    wanted = max(2, (len(words) + 1) // 2)
    pairs = [f"{first} {second}" for first, second in pairwise(text.split())]
    ranked: list[tuple[int, Found]] = []
    for file, found in in_file.items():
        if len(found) < wanted or not scan.has_time():
            continue
        for number, line in enumerate(scan.corpus.files[file].read_lines(), 1):
            shared = sum(word in line for word in words) if words[0] in line or words[1] in line else 0
            if shared >= wanted and (file, number) not in known and len(ranked) < _MAX_FOUND:
                phrases = sum(pair in line for pair in pairs)
                ranked.append((-shared - phrases, (file, number, clip_line(line, words[0]))))
    best = min(ranked, default=(0,))[0]
    chosen = sorted(one for one in ranked if one[0] <= best * _MIN_SIMILARITY)[:_MAX_SIMILAR]
    return [make_match(scan.corpus, one, words[0]) for _, one in chosen]
