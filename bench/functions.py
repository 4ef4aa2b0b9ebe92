"""Measures Acc@k of functions, and how often the displayed lines are lines of the fix.

Reads the same records as `bench.accuracy`. Each also has `fix`, the commit with the fix; its parent has the same version
of `gold_files` as `base_commit`. The functions that the fix touches are taken from its diff.
"""

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.accuracy import build_record, open_git, parse_arguments
from triage.base.errors import GitError
from triage.find.files.file_text import split_lines
from triage.find.files.languages import detect_language
from triage.find.parse.definitions import find_definitions
from triage.find.parse.extract import Scope, build_scopes
from triage.find.rank.query import build_query
from triage.find.rank.ranking import Ranking, rank_files
from triage.find.rank.snippets import MAX_SNIPPETS, choose_chunks, find_snippets
from triage.find.retriever import make_search_query
from triage.find.words.corpus import Corpus
from triage.git.git import Git

KS = (1, 3, 5, 10)
MAX_FILES = 12
"""Files whose functions are listed."""
SNIPPET_WEIGHT = 0.3
"""Weight of the distance to the file's best snippet, added to the file's score."""
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)
_CONTAINER = re.compile(
    r"\b(?:class|struct|interface|impl|enum|trait|module|namespace|object|extension|protocol|union|record)\b"
)

Name = tuple[str, str]
EditedLines = tuple[str, int, int]
"""Path, first and last line in the version before the fix."""


@dataclass(frozen=True)
class Fix:
    """What a fix touches, in the version before it."""

    functions: frozenset[Name]
    """Without the functions that the fix adds."""
    lines: Sequence[EditedLines]


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    rows = Counter[str]()
    accuracy: list[list[bool]] = []
    for record in records:
        git, corpus = open_git(record, mirror), build_record(record, mirror)
        query = build_query(make_search_query(record["problem_statement"]))
        found = measure(rank_files(corpus, query, {}, by_embedding=False), read_fix(git, record))
        rows.update(found.counts)
        accuracy.extend([found.within] if found.within else [])
        print(record.get("instance_id", record["repo"]), dict(found.counts), found.within, flush=True)
    print(summary(rows, accuracy))


def summary(rows: Counter[str], accuracy: Sequence[Sequence[bool]]) -> str:
    def share(name: str, of: str) -> str:
        return f"{100 * rows[name] / max(1, rows[of]):.1f}"

    within = (f"@{k} {100 * statistics.mean(row[at] for row in accuracy):.1f}" for at, k in enumerate(KS) if accuracy)
    return "\n".join(
        [
            f"functions, n={len(accuracy)}: " + "  ".join(within),
            (
                f"first file right, n={rows['function asked']}: function first {share('function first', 'function asked')}, "
                f"among {MAX_SNIPPETS} {share('function shown', 'function asked')}"
            ),
            (
                f"first file right, n={rows['file']}: lines of the fix first {share('lines first', 'file')}, "
                f"among {MAX_SNIPPETS} {share('lines shown', 'file')}"
            ),
        ]
    )


@dataclass(frozen=True)
class Measurement:
    counts: Counter[str]
    within: list[bool]
    """All functions of the fix among the first k; empty where the fix changes none."""


def measure(ranking: Ranking, fix: Fix) -> Measurement:
    corpus = ranking.search.corpus
    listed = list_functions(ranking)
    within = [fix.functions <= set(listed[:k]) for k in KS] if fix.functions else []
    counts = Counter[str]()
    first = ranking.order[0] if ranking.order else None
    if first is not None and corpus.files[first].path in {path for path, *_ in fix.lines}:
        counts.update(_count_hits(corpus, first, choose_chunks(ranking.search, first), fix))
    return Measurement(counts, within)


def _count_hits(corpus: Corpus, file: int, chunks: Sequence[int], fix: Fix) -> Iterator[str]:
    path = corpus.files[file].path
    touched = [(start, end) for changed, start, end in fix.lines if changed == path]
    hits = [
        any(corpus.chunk_starts[chunk] <= end and start <= corpus.chunk_ends[chunk] for start, end in touched)
        for chunk in chunks
    ]
    yield "file"
    yield from ["lines first"] * hits[0] + ["lines shown"] * any(hits)
    wanted = {name for changed, name in fix.functions if changed == path}
    if wanted:
        yield "function asked"
        shown = [corpus.chunk_symbols[chunk] in wanted for chunk in chunks]
        yield from ["function first"] * shown[0] + ["function shown"] * any(shown)


def list_functions(ranking: Ranking) -> list[Name]:
    """Definitions of the first files, by the file's score and how much worse they are than the file's best one."""
    corpus = ranking.search.corpus
    found: list[tuple[float, Name]] = []
    for file in ranking.order[:MAX_FILES]:
        snippets = find_snippets(ranking.search, file)[:MAX_SNIPPETS]
        for snippet in snippets:
            symbol = corpus.chunk_symbols[snippet.chunk]
            if symbol:
                score = ranking.scores[file] + SNIPPET_WEIGHT * (snippet.score - snippets[0].score)
                found.append((score, (corpus.files[file].path, symbol)))
    return [name for _, name in sorted(found, key=lambda one: -one[0])]


def read_fix(git: Git, record: dict[str, Any]) -> Fix:
    functions: set[Name] = set()
    for path in record["gold_files"]:
        before, after = (Outline(_text(git, commit, path), path) for commit in (record["base_commit"], record["fix"]))
        for old, olds, new, news in _HUNK.findall(_diff(git, record, path)):
            count, added = int(olds or 1), int(news or 1)
            if count:
                functions.update((path, name) for name in before.find_touched(int(old), count))
            else:
                functions.update(
                    (path, name) for name in after.find_touched(int(new), added) if before.has_definition(name)
                )
    return Fix(frozenset(functions), find_edited_lines(git, record))


def find_edited_lines(git: Git, record: dict[str, Any]) -> list[EditedLines]:
    """Return the lines that the fix replaces, and the line above each that it adds."""
    return [lines for path in record["gold_files"] for lines in _list_hunks(path, _diff(git, record, path))]


def parse_patch(patch: str) -> list[EditedLines]:
    """Return the same from a unified diff. Its hunks have lines around them, which are not counted."""
    edited: list[EditedLines] = []
    path, line = "", 0
    for text in patch.splitlines():
        if text.startswith("--- "):
            path = text[4:].partition("\t")[0].removeprefix("a/")
        elif match := _HUNK.match(text):
            line = int(match[1]) + (match[2] == "0")  # without old lines it names the line above
        elif text.startswith("-"):
            edited.append((path, line, line))
            line += 1
        elif text.startswith("+") and not text.startswith("+++ "):
            edited.append((path, max(1, line - 1), max(1, line - 1)))
        elif text.startswith(" ") or not text:
            line += 1
    return edited


def _diff(git: Git, record: dict[str, Any], path: str) -> str:
    words = ("--no-ext-diff", "--no-textconv", "--no-renames", "-U0")
    return git.run("diff", *words, record["base_commit"], record["fix"], "--", path).decode("utf-8", "replace")


def _list_hunks(path: str, diff: str) -> Iterator[EditedLines]:
    for old, olds, _, _ in _HUNK.findall(diff):
        yield path, max(1, int(old)), int(old) + max(int(olds or 1), 1) - 1


def _text(git: Git, commit: str, path: str) -> str:
    try:
        return git.run("show", f"{commit}:{path}").decode("utf-8", "replace")
    except GitError:
        return ""  # The fix adds or removes the file.


class Outline:
    def __init__(self, text: str, path: str) -> None:
        language = detect_language(path)
        self._lines = split_lines(text)
        found = find_definitions(text, language) if language else []
        self._root = build_scopes(found, len(self._lines))

    def has_definition(self, name: str) -> bool:
        node = self._root
        while (
            inner := next((one for one in node.children if f"{name}.".startswith(f"{one.name}.")), None)
        ) is not None:
            if inner.name == name:
                return True
            node = inner
        return False

    def find_touched(self, first: int, count: int) -> set[str]:
        numbers = range(first, min(first + count, len(self._lines) + 1))
        code_numbers = (number for number in numbers if not _is_blank_or_comment(self._lines[number - 1]))
        return {name for number in code_numbers if (name := self._at(number))}

    def _at(self, line: int) -> str:
        """The outermost function at the line, or else the innermost class."""
        node = self._root
        while (inner := next((one for one in node.children if one.start <= line <= one.end), None)) is not None:
            node = inner
            if not self._contains_others(node):
                break
        return node.name

    def _contains_others(self, scope: Scope) -> bool:
        own = scope.name.rpartition(".")[2]
        head = next(
            (
                line
                for line in self._lines[scope.start - 1 : scope.end]
                if own in line and not _is_blank_or_comment(line)
            ),
            "",
        )
        return bool(_CONTAINER.search(head.partition(own)[0]))


def _is_blank_or_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(("#", "//", "*", "/*"))


if __name__ == "__main__":
    main()
