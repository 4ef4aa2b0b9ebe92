"""Chooses the code that a model is shown: as many lines that a fix may edit as fit into a number of characters.

First what a run of the report's example executed of the likeliest files, the code around the lines that a stack trace
names, and the definitions that the keywords name, or the issue, then the best snippets of the best files. A file that
is more likely at fault gives more of its snippets. Measured with `bench.prompts`: docs/how-it-works.md has the figures.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from triage.base.text import cut_line, number_lines
from triage.domain.code import Passage, PromptPassages, Span
from triage.find.rank.ranking import Ranking
from triage.find.rank.search import Search
from triage.find.rank.snippets import COMMENT, find_snippets
from triage.find.words.corpus import Corpus
from triage.find.words.tokens import find_terms

MAX_FILES = 25
"""In nine of ten issues the file at fault is among so many (measured)."""
MAX_FILE_SNIPPETS = 40
ASKED_SHARE, NAMED_SHARE = 3 / 4, 1 / 2
"""Of the characters, for definitions that keywords name, and for all that comes before the snippets. Of 42 fixes of 18
projects, by the words of their commits, an edited line is shown in 24; with a third, and 1,500 of each definition, in
23. Of 27 issues that were played by hand, 9,000 characters show the first place of the answer in 19, and 80 of the 123
places that the answers cite; with the issue's names among those of the keywords, in 16, and 71."""
MIN_ASKED_SCORE, MIN_NAME_SCORE = 0.1, 0.3
"""See `MentionScores.definitions`: ten files, or three, define the name at most, and a plain word is in the title."""
MAX_NAMED_CHARS, MAX_SNIPPET_CHARS = 1_000, 2_000
"""Of one definition that is named, and of a further one. Of a longer one its head, then the lines around those that
share most with the issue. Of 21 fixes of the last years an edited line is shown in 13, with a model's keywords; in 11
with up to 6,000 characters of a snippet, and in no more than 13 with 20,000 characters of all."""
HEAD_LINES, LINES_AROUND_WORDS = 3, 4
LINES_AROUND_FRAME = 8
"""Above and below the line of a stack frame, within its function."""
EXECUTED_FILES = 3
"""Candidates whose executed functions are shown. Of 34 Python examples that ran at the commit before the fix, an edited
line is in the first prompt of 22; of 20 without the functions, or with those of no file; of 21 with those of one."""
HEADING_CHARS = 20
MIN_LETTERS = 40
"""Letters and digits of code. Fewer are the end of a block, a head, a licence, or a stub: nothing to judge by."""
_IMPORT = re.compile(
    r"(?:import|from|using|use|package|namespace|require\w*|open|alias|export \* from|pub use|@import|#\s*include"
    r"|(?:local|const|let|var) [\w{}, *]{1,200}= ?(?:await )?(?:require|import)\b)\b"
)


def choose_prompt_passages(ranking: Ranking, chars: int) -> PromptPassages:
    """Return passages of at most `chars` characters together, with their headings.

    Files stand in the order of the ranking, passages in the order of their lines.
    """
    ranked = ranking.order[:MAX_FILES]
    room = _Room(ranking.search.corpus, chars, _LineScores(ranking.search))
    facts = [*_list_executed(ranking), *_list_frames(ranking)]
    asked, named = _list_named_definitions(ranking)
    for share, blocks in ((NAMED_SHARE, facts), (ASKED_SHARE, asked), (NAMED_SHARE, named)):
        for block in blocks:
            room.add(block, MAX_NAMED_CHARS, reserve=chars - int(chars * share))
    files = {number: room.open_file(number) for number in ranked}
    snippets = [block for number in ranked for block in _list_snippets(ranking, files[number])]
    for block in sorted(snippets, key=lambda block: -block.worth):
        if files[block.file].count_letters(block) >= MIN_LETTERS:
            room.add(block, MAX_SNIPPET_CHARS)
    order = {number: place for place, number in enumerate(ranked)}
    shown = sorted(room.shown_files(), key=lambda file: order.get(file.number, len(order)))
    paths = {file.path for file in shown}
    others = [files[number].path for number in ranked if files[number].path not in paths]
    passages = [passage for file in shown for passage in file.render()]
    return PromptPassages(passages=passages, other_files=others)


@dataclass(frozen=True)
class _Block:
    """Lines that may be shown together."""

    file: int
    start: int
    end: int
    symbol: str | None
    worth: float = 0.0


def _is_code(line: str) -> bool:
    return not COMMENT.match(line) and not _IMPORT.match(line)


def _is_part(block: _Block, of: _Block) -> bool:
    return block is of or bool(of.symbol and f"{block.symbol}.".startswith(f"{of.symbol}."))


@dataclass
class _OpenFile:
    number: int
    path: str
    lines: Sequence[str]
    score: Callable[[str], float]
    """Of one line, see `_LineScores`."""
    shown: dict[int, _Block] = field(default_factory=dict)
    """By line number: the block that it was shown with first."""

    def select_lines(self, block: _Block, max_chars: int) -> list[int]:
        """Return the lines of a block that a prompt shows, in order."""
        lines = list(range(block.start, min(block.end, len(self.lines)) + 1))
        if sum(map(self.measure, lines)) <= max_chars:
            return lines
        head, rest = lines[:HEAD_LINES], lines[HEAD_LINES:]
        scores = {number: self.score(self.lines[number - 1]) for number in rest}
        best = sorted((number for number in rest if scores[number]), key=lambda number: (-scores[number], number))
        around = (near for line in best for near in range(line - LINES_AROUND_WORDS, line + LINES_AROUND_WORDS + 1))
        numbers = list(dict.fromkeys([*head, *(near for near in around if near in scores), *rest]))
        used = accumulate(map(self.measure, numbers))
        return sorted(number for number, chars in zip(numbers, used, strict=True) if chars <= max_chars)

    def measure(self, number: int) -> int:
        return len(cut_line(self.lines[number - 1])) + len(str(number)) + len("| \n")

    def count_letters(self, block: _Block) -> int:
        """Return the letters and digits in the lines of a block that are not shown yet, and are code."""
        numbers = self.select_lines(block, MAX_SNIPPET_CHARS)
        new = (self.lines[number - 1].strip() for number in numbers if number not in self.shown)
        return sum(character.isalnum() for line in filter(_is_code, new) for character in line)

    def render(self) -> Iterator[Passage]:
        """Yield the lines that are shown, a passage for each run of them."""
        for numbers in self._split_into_runs():
            first, last = numbers[0], numbers[-1]
            span = Span(path=self.path, start=first, end=last)
            yield Passage(
                span=span,
                text=number_lines((number, self.lines[number - 1].rstrip()) for number in numbers),
                symbol=self.shown[first].symbol,
            )

    def _split_into_runs(self) -> list[list[int]]:
        """Return the shown lines that stand together, of a block and of those inside its definition."""
        runs: list[list[int]] = []
        for number in sorted(self.shown):
            if runs and runs[-1][-1] == number - 1 and _is_part(self.shown[number], self.shown[runs[-1][0]]):
                runs[-1].append(number)
            else:
                runs.append([number])
        return runs


@dataclass
class _Room:
    """The characters that are left, and the files that share them."""

    corpus: Corpus
    chars: int
    score: Callable[[str], float]
    files: dict[int, _OpenFile] = field(default_factory=dict)

    def open_file(self, number: int) -> _OpenFile:
        if number not in self.files:
            file = self.corpus.files[number]
            self.files[number] = _OpenFile(number, file.path, file.read_lines(), self.score)
        return self.files[number]

    def add(self, block: _Block, max_chars: int, *, reserve: int = 0) -> None:
        """Show a block if the lines of it that are not shown yet fit; `reserve` characters stay free."""
        file = self.open_file(block.file)
        new = [number for number in file.select_lines(block, max_chars) if number not in file.shown]
        runs = 1 + sum(after - before > 1 for before, after in pairwise(new))
        heading = len(f"{file.path}{block.symbol}") + HEADING_CHARS
        cost = sum(map(file.measure, new)) + heading * runs
        if new and cost <= self.chars - reserve:
            self.chars -= cost
            file.shown.update(dict.fromkeys(new, block))

    def shown_files(self) -> list[_OpenFile]:
        return [file for file in self.files.values() if file.shown]


class _LineScores:
    """How much a line shares with the issue: the idf of its terms, with their weights in the issue."""

    def __init__(self, search: Search) -> None:
        find_number, find_idf = search.corpus.vocabulary.find_number, search.corpus.by_chunk.find_idf
        self._weights = {term: weight * find_idf(find_number(term)) for term, weight in search.all_weights.items()}

    def __call__(self, line: str) -> float:
        return sum(self._weights.get(term, 0.0) for term in find_terms(line))


def _list_frames(ranking: Ranking) -> list[_Block]:
    """Return the lines around those that the stack traces name, of the likeliest file first."""
    corpus, mentions = ranking.search.corpus, ranking.search.mentions
    files = sorted(mentions.frames, key=lambda file: (-ranking.scores.get(file, 0.0), file))
    return [block for file in files for line in mentions.lines[file] for block in _show_around(corpus, file, line)]


def _show_around(corpus: Corpus, file: int, line: int) -> Iterator[_Block]:
    around = corpus.find_enclosing(file, line)
    if around:
        # In another version the function may be elsewhere: then its start is all that is known.
        start = max(around.start, line - LINES_AROUND_FRAME)
        end = min(around.end, max(line, start + LINES_AROUND_FRAME) + LINES_AROUND_FRAME)
        yield _Block(file, start, end, around.name)


def _list_executed(ranking: Ranking) -> Iterator[_Block]:
    """Yield the lines around those where the example fails, then what it executes of the likeliest files."""
    corpus, executed = ranking.search.corpus, ranking.search.executed
    if executed is None:
        return
    place = executed.place
    if place and place.line and place.path in corpus.file_numbers:
        yield from _show_around(corpus, corpus.file_numbers[place.path], place.line)
    for file in ranking.order[:EXECUTED_FILES]:
        lines = [one.line for one in executed.functions if one.path == corpus.files[file].path and one.line]
        functions = filter(None, (corpus.find_enclosing(file, line) for line in lines))
        yield from (_Block(file, one.start, one.end, one.name) for one in functions)


def _list_named_definitions(ranking: Ranking) -> tuple[list[_Block], list[_Block]]:
    """Return what the keywords name, and what only the issue does, the rarest first."""
    mentions, asked_words = ranking.search.mentions, ranking.search.query.asked_words
    likeliest = set(ranking.order[:MAX_FILES])
    found = [one for locations in mentions.definitions.values() for one in locations if one[1].file in likeliest]
    found.sort(key=lambda one: (-one[0], -ranking.scores.get(one[1].file, 0.0), one[1].file, one[1].start))
    asked, named = list[_Block](), list[_Block]()
    for score, location in found:
        is_asked = location.name.rpartition(".")[2] in asked_words
        if score >= (MIN_ASKED_SCORE if is_asked else MIN_NAME_SCORE):
            block = _Block(location.file, location.start, location.end, location.name)
            (asked if is_asked else named).append(block)
    return asked, named


def _list_snippets(ranking: Ranking, file: _OpenFile) -> Iterator[_Block]:
    """Yield the file's snippets with what each is worth: less with each rank in the file."""
    corpus = ranking.search.corpus
    chunks = [snippet.chunk for snippet in find_snippets(ranking.search, file.number)[:MAX_FILE_SNIPPETS]]
    for rank, chunk in enumerate(chunks or corpus.find_chunks(file.number)[:1], 1):
        start, end = int(corpus.chunk_starts[chunk]), int(corpus.chunk_ends[chunk])
        yield _Block(file.number, start, end, corpus.chunk_symbols[chunk], ranking.probabilities[file.number] / rank)
