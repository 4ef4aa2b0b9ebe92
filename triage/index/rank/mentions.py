"""What the issue names outright: paths, stack frames, modules, file names, definitions."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from triage.index.corpus.corpus import PACKAGE_STEMS, Corpus, DefinitionLocation
from triage.index.rank.query import Query, Reference

PLAIN_WORD_WEIGHT = 0.3
"""A definition named like a plain word was rarely meant."""
_MIN_NAME = 3
_MAX_PLACES = 60
"""A name that more files define says nothing about any of them."""
_MAX_SOURCES = 2
"""A frame that may lie in more files leads nowhere."""
_SILENT_STEMS = frozenset({*PACKAGE_STEMS, "main", "lib", "__main__", "init"})


@dataclass
class Mentions:
    """Signals by file number, each from 0 to about 1, and what they rest on."""

    path_scores: dict[int, float] = field(default_factory=dict)
    frame_scores: dict[int, float] = field(default_factory=dict)
    module_scores: dict[int, float] = field(default_factory=dict)
    title_stem_scores: dict[int, float] = field(default_factory=dict)
    stem_scores: dict[int, float] = field(default_factory=dict)
    definition_scores: dict[int, float] = field(default_factory=dict)
    """By the most telling definition that the issue names."""
    title_definition_scores: dict[int, float] = field(default_factory=dict)
    innermost_frame_scores: dict[int, float] = field(default_factory=dict)
    """Sources of the innermost frame that leads into the repository."""

    frames: dict[int, Reference] = field(default_factory=dict)
    """The innermost frame that leads to each file."""
    lines: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Lines that the issue names in each file, innermost frame first."""
    module_names: dict[int, str] = field(default_factory=dict)
    definitions: dict[int, list[tuple[float, DefinitionLocation]]] = field(default_factory=lambda: defaultdict(list))
    """Definitions named in the issue, with their weights."""


def find_mentions(corpus: Corpus, query: Query) -> Mentions:
    """Find what the issue names."""
    found = Mentions()
    _add_references(corpus, query, found)
    _add_modules(corpus, query, found)
    _add_stems(corpus, query, found)
    _add_definitions(corpus, query, found)
    return found


def _add_references(corpus: Corpus, query: Query, found: Mentions) -> None:
    meant = {path: resolve_path(corpus, path) for path in {reference.path for reference in query.references}}
    for reference in sorted(query.references, key=lambda one: -one.depth):
        files = meant[reference.path]
        _add_innermost(corpus, reference, files, found)
        for file in files:
            worth = 1 / len(files)
            if reference.depth:
                if reference.depth * worth > found.frame_scores.get(file, 0.0):
                    found.frame_scores[file] = reference.depth * worth
                    found.frames[file] = reference
            else:
                found.path_scores[file] = max(found.path_scores.get(file, 0.0), worth)
            if line := resolve_line(corpus, file, reference):
                found.lines[file].append(line)


def _add_innermost(corpus: Corpus, reference: Reference, files: Sequence[int], found: Mentions) -> None:
    likely = [file for file in files if corpus.files[file].role.is_product_code]
    if reference.depth and not found.innermost_frame_scores and 0 < len(likely) <= _MAX_SOURCES:
        found.innermost_frame_scores = dict.fromkeys(likely, 1 / len(likely))


def resolve_line(corpus: Corpus, file: int, reference: Reference) -> int | None:
    """The line that a frame means in this commit: in the reporter's version the function may stand elsewhere."""
    alike = corpus.definitions.get(reference.function, ())
    first, last = (bisect_left(alike, number, key=lambda place: place.file) for number in (file, file + 1))
    places = alike[first:last]
    line = reference.line
    if not places or (line and any(place.start <= line <= place.end for place in places)):
        return line
    return places[0].start


def resolve_path(corpus: Corpus, written: str) -> list[int]:
    """Files whose path ends like the written one, those that share most of it.

    One shared component is enough only where no more was written or the file stands at the top: a user's own
    `app/models.py` is not the project's `orm/models.py`.
    """
    parts = [part for part in written.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts or "." not in parts[-1]:
        return []
    best: list[int] = []
    most = 1
    for file in corpus.files_by_stem.get(parts[-1].rpartition(".")[0].lower(), ()):
        own = corpus.files[file].path.split("/")
        shared = _shared_end(own, parts)
        if shared == 0 or (shared == 1 and len(parts) > 1 and len(own) > 1):
            continue
        if shared > most:
            best, most = [], shared
        if shared == most:
            best.append(file)
    return best


def _shared_end(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine.lower() != theirs.lower():
            break
        count += 1
    return count


def _add_modules(corpus: Corpus, query: Query, found: Mentions) -> None:
    modules = _ModuleResolver(corpus)
    for chain in query.dotted_names:
        for length in range(len(chain), 1, -1):
            files = modules.resolve(chain[:length])
            if files:
                for file in files:
                    if 1 / len(files) > found.module_scores.get(file, 0.0):
                        found.module_scores[file] = 1 / len(files)
                        found.module_names[file] = ".".join(chain[:length])
                break


class _ModuleResolver:
    """Files by dotted name. Those of one name are sorted once: an issue may ask a thousand times for `index`."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._sorted: dict[str, list[tuple[list[str], int]]] = {}

    def resolve(self, chain: Sequence[str]) -> list[int]:
        """Files that a dotted name stands for: `a.b` is `…/a/b.py` or `…/a/b/__init__.py`."""
        return self._files_ending_in(chain) or [
            file for stem in PACKAGE_STEMS for file in self._files_ending_in([*chain, stem])
        ]

    def _files_ending_in(self, chain: Sequence[str]) -> list[int]:
        """Files whose path without extension ends like this."""
        wanted = list(reversed(chain))
        paths = self._sorted_paths(wanted[0].lower())
        first = bisect_left(paths, wanted, key=lambda one: one[0])
        after = (paths[at] for at in range(first, len(paths)))
        return [file for _, file in takewhile(lambda one: one[0][: len(wanted)] == wanted, after)]

    def _sorted_paths(self, stem: str) -> list[tuple[list[str], int]]:
        """Files of a name, by the parts of their path from the last to the first."""
        if stem not in self._sorted:
            self._sorted[stem] = sorted((self._parts(file), file) for file in self._corpus.files_by_stem.get(stem, ()))
        return self._sorted[stem]

    def _parts(self, file: int) -> list[str]:
        *folders, name = self._corpus.files[file].path.split("/")
        return [name.rpartition(".")[0] or name, *reversed(folders)]


def _add_stems(corpus: Corpus, query: Query, found: Mentions) -> None:
    title = {word.lower() for word in query.title_words}
    for word in {word.lower() for word in query.all_words}:
        files = corpus.files_by_stem.get(word, ())
        if not files or word in _SILENT_STEMS or len(word) < _MIN_NAME:
            continue
        for signal in [found.stem_scores, *([found.title_stem_scores] if word in title else [])]:
            for file in files:
                signal[file] = max(signal.get(file, 0.0), 1 / len(files))


def _add_definitions(corpus: Corpus, query: Query, found: Mentions) -> None:
    for word in sorted(query.all_words):
        places = corpus.definitions.get(word, ())
        if not places or len(word) < _MIN_NAME:
            continue
        places = _resolve_definitions(corpus, places, query.owners.get(word, ()))
        files = {place.file for place in places}
        if len(files) > _MAX_PLACES:
            continue
        plain = word.islower() and "_" not in word and word not in query.code_words
        worth = (PLAIN_WORD_WEIGHT if plain else 1.0) / len(files)
        for file in files:
            found.definition_scores[file] = max(found.definition_scores.get(file, 0.0), worth)
            if word in query.title_words:
                found.title_definition_scores[file] = max(found.title_definition_scores.get(file, 0.0), worth)
        for place in places:
            found.definitions[place.file].append((worth * (1.5 if word in query.title_words else 1.0), place))


def _resolve_definitions(
    corpus: Corpus, places: Sequence[DefinitionLocation], owners: Iterable[str]
) -> Sequence[DefinitionLocation]:
    """Places that fit best: inside the owner that the issue names, then those in likely sources, then all."""
    wanted = set(owners)
    inside = [place for place in places if wanted.intersection(place.name.split(".")[:-1])]
    likely = [place for place in inside or places if corpus.files[place.file].role.is_product_code]
    return likely or inside or places
