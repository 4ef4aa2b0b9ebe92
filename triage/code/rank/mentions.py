"""Finds what the issue mentions: paths, stack frames, modules, file names, definitions."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import eq

from triage.code.rank.query import Query, Reference
from triage.code.words.corpus import PACKAGE_STEMS, Corpus, DefinitionLocation

PLAIN_WORD_WEIGHT = 0.3
"""Score of a definition whose name is a plain word: the issue rarely means it."""
_MIN_NAME = 3
_MAX_DEFINING_FILES = 60
"""A name that more files define is ignored."""
_MAX_FRAME_FILES = 2
"""A frame that may lie in more files is ignored."""
_IGNORED_STEMS = frozenset({*PACKAGE_STEMS, "main", "lib", "__main__", "init"})


@dataclass
class Mentions:
    """Scores by file number, each from 0 to 1, and what they are based on."""

    path_scores: dict[int, float] = field(default_factory=dict)
    frame_scores: dict[int, float] = field(default_factory=dict)
    module_scores: dict[int, float] = field(default_factory=dict)
    title_stem_scores: dict[int, float] = field(default_factory=dict)
    stem_scores: dict[int, float] = field(default_factory=dict)
    definition_scores: dict[int, float] = field(default_factory=dict)
    """Of the rarest definition that the issue mentions."""
    title_definition_scores: dict[int, float] = field(default_factory=dict)
    innermost_frame_scores: dict[int, float] = field(default_factory=dict)
    """Of the files of the innermost frame that lies in the repository."""

    frames: dict[int, Reference] = field(default_factory=dict)
    lines: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Mentioned lines of each file, innermost frame first."""
    module_names: dict[int, str] = field(default_factory=dict)
    definitions: dict[int, list[tuple[float, DefinitionLocation]]] = field(default_factory=lambda: defaultdict(list))
    """Mentioned definitions of each file, with their scores."""


def find_mentions(corpus: Corpus, query: Query) -> Mentions:
    found = Mentions()
    _add_references(corpus, query, found)
    _add_modules(corpus, query, found)
    _add_stems(corpus, query, found)
    _add_definitions(corpus, query, found)
    return found


def _add_references(corpus: Corpus, query: Query, found: Mentions) -> None:
    resolved = {path: resolve_path(corpus, path) for path in {reference.path for reference in query.references}}
    for reference in sorted(query.references, key=lambda one: -one.depth):
        files = resolved[reference.path]
        in_product = [file for file in files if corpus.files[file].role.is_product_code]
        if reference.depth and not found.innermost_frame_scores and 0 < len(in_product) <= _MAX_FRAME_FILES:
            found.innermost_frame_scores = dict.fromkeys(in_product, 1 / len(in_product))
        for file in files:
            share = 1 / len(files)
            if not reference.depth:
                _raise_score(found.path_scores, file, share)
            elif _raise_score(found.frame_scores, file, reference.depth * share):
                found.frames[file] = reference
            if line := resolve_line(corpus, file, reference):
                found.lines[file].append(line)


def resolve_line(corpus: Corpus, file: int, reference: Reference) -> int | None:
    """Return the line of this commit that a frame refers to: the reporter's version may have it elsewhere."""
    inside = corpus.find_definitions(file, reference.function)
    line = reference.line
    if not inside or (line and any(location.start <= line <= location.end for location in inside)):
        return line
    return inside[0].start


def resolve_path(corpus: Corpus, written: str) -> list[int]:
    """Return the files whose path shares the most last components with the written one.

    One shared component is enough only if the issue writes no more or the file is at the root: a user's own
    `app/models.py` is not the project's `orm/models.py`.
    """
    parts = [part for part in written.lower().replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts or "." not in parts[-1]:
        return []
    best: list[int] = []
    max_shared = 1
    for file in corpus.files_by_stem.get(parts[-1].rpartition(".")[0], ()):
        own = corpus.files[file].path.lower().split("/")
        shared = sum(takewhile(bool, map(eq, reversed(own), reversed(parts))))
        if shared == 0 or (shared == 1 and len(parts) > 1 and len(own) > 1):
            continue
        if shared > max_shared:
            best, max_shared = [], shared
        if shared == max_shared:
            best.append(file)
    return best


def _add_modules(corpus: Corpus, query: Query, found: Mentions) -> None:
    modules = _ModuleResolver(corpus)
    for parts in query.dotted_names:
        for length in range(len(parts), 1, -1):
            files = modules.resolve(parts[:length])
            if files:
                for file in files:
                    if _raise_score(found.module_scores, file, 1 / len(files)):
                        found.module_names[file] = ".".join(parts[:length])
                break


class _ModuleResolver:
    """Finds files by dotted name. Sorts the files of a stem once: an issue may mention `index` a thousand times."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._sorted: dict[str, list[tuple[list[str], int]]] = {}

    def resolve(self, parts: Sequence[str]) -> list[int]:
        """Return the files of a module: `a.b` is `…/a/b.py` or `…/a/b/__init__.py`."""
        return self._files_ending_in(parts) or [
            file for stem in PACKAGE_STEMS for file in self._files_ending_in([*parts, stem])
        ]

    def _files_ending_in(self, parts: Sequence[str]) -> list[int]:
        wanted = list(reversed(parts))
        paths = self._sorted_paths(wanted[0].lower())
        first = bisect_left(paths, wanted, key=lambda one: one[0])
        following = (paths[number] for number in range(first, len(paths)))
        return [file for _, file in takewhile(lambda one: one[0][: len(wanted)] == wanted, following)]

    def _sorted_paths(self, stem: str) -> list[tuple[list[str], int]]:
        # By the parts of their paths from the last to the first.
        if stem not in self._sorted:
            self._sorted[stem] = sorted(
                (self._reversed_parts(file), file) for file in self._corpus.files_by_stem.get(stem, ())
            )
        return self._sorted[stem]

    def _reversed_parts(self, file: int) -> list[str]:
        *folders, name = self._corpus.files[file].path.split("/")
        return [name.rpartition(".")[0] or name, *reversed(folders)]


def _add_stems(corpus: Corpus, query: Query, found: Mentions) -> None:
    title = {word.lower() for word in query.title_words}
    for word in {word.lower() for word in query.all_words}:
        files = corpus.files_by_stem.get(word, ())
        if not files or word in _IGNORED_STEMS or len(word) < _MIN_NAME:
            continue
        for file in files:
            _raise_score(found.stem_scores, file, 1 / len(files))
            if word in title:
                _raise_score(found.title_stem_scores, file, 1 / len(files))


def _add_definitions(corpus: Corpus, query: Query, found: Mentions) -> None:
    for word in sorted(query.all_words):
        locations = corpus.definitions.get(word, ())
        if not locations or len(word) < _MIN_NAME:
            continue
        locations = _resolve_definitions(corpus, locations, query.owners.get(word, ()))
        files = {location.file for location in locations}
        if len(files) > _MAX_DEFINING_FILES:
            continue
        is_plain = word.islower() and "_" not in word and word not in query.code_words
        score = (PLAIN_WORD_WEIGHT if is_plain else 1.0) / len(files)
        for file in files:
            _raise_score(found.definition_scores, file, score)
            if word in query.title_words:
                _raise_score(found.title_definition_scores, file, score)
        for location in locations:
            found.definitions[location.file].append((score * (1.5 if word in query.title_words else 1.0), location))


def _resolve_definitions(
    corpus: Corpus, locations: Sequence[DefinitionLocation], owners: Iterable[str]
) -> Sequence[DefinitionLocation]:
    """Return the definitions inside an owner that the issue names, if any, and of those the ones in product code."""
    wanted = set(owners)
    inside = [location for location in locations if wanted.intersection(location.name.split(".")[:-1])]
    in_product = [location for location in inside or locations if corpus.files[location.file].role.is_product_code]
    return in_product or inside or locations


def _raise_score(scores: dict[int, float], file: int, score: float) -> bool:
    """Set a file's score where the new one is higher; whether it was."""
    if score <= scores.get(file, 0.0):
        return False
    scores[file] = score
    return True
