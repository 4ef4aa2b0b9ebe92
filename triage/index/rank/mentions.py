"""What the issue names outright: paths, stack frames, modules, file names, definitions."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from triage.index.corpus.corpus import PACKAGE_STEMS, Corpus, Place
from triage.index.rank.query import Query, Reference

PLAIN = 0.3
"""A definition named like a plain word was rarely meant."""
_MIN_NAME = 3
_MAX_PLACES = 60
"""A name that more files define says nothing about any of them."""
_MAX_SOURCES = 2
"""A frame that may lie in more files leads nowhere."""
_SILENT_STEMS = frozenset({*PACKAGE_STEMS, "main", "lib", "__main__", "init"})


@dataclass
class Named:
    """Signals by file number, each from 0 to about 1, and what they rest on."""

    path: dict[int, float] = field(default_factory=dict)
    frame: dict[int, float] = field(default_factory=dict)
    module: dict[int, float] = field(default_factory=dict)
    stem_in_title: dict[int, float] = field(default_factory=dict)
    stem_in_body: dict[int, float] = field(default_factory=dict)
    defined: dict[int, float] = field(default_factory=dict)
    """By the most telling definition that the issue names."""
    defined_in_title: dict[int, float] = field(default_factory=dict)
    innermost: dict[int, float] = field(default_factory=dict)
    """Sources of the innermost frame that leads into the repository."""

    frames: dict[int, Reference] = field(default_factory=dict)
    """The innermost frame that leads to each file."""
    lines: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Lines that the issue names in each file, innermost frame first."""
    modules: dict[int, str] = field(default_factory=dict)
    places: dict[int, list[tuple[float, Place]]] = field(default_factory=lambda: defaultdict(list))
    """Definitions named in the issue, with their weights."""


def named(corpus: Corpus, query: Query) -> Named:
    """Find what the issue names."""
    found = Named()
    _add_references(corpus, query, found)
    _add_modules(corpus, query, found)
    _add_stems(corpus, query, found)
    _add_definitions(corpus, query, found)
    return found


def _add_references(corpus: Corpus, query: Query, found: Named) -> None:
    meant = {path: files_named(corpus, path) for path in {reference.path for reference in query.references}}
    for reference in sorted(query.references, key=lambda one: -one.depth):
        files = meant[reference.path]
        _add_innermost(corpus, reference, files, found)
        for file in files:
            worth = 1 / len(files)
            if reference.depth:
                if reference.depth * worth > found.frame.get(file, 0.0):
                    found.frame[file] = reference.depth * worth
                    found.frames[file] = reference
            else:
                found.path[file] = max(found.path.get(file, 0.0), worth)
            if line := line_meant(corpus, file, reference):
                found.lines[file].append(line)


def _add_innermost(corpus: Corpus, reference: Reference, files: Sequence[int], found: Named) -> None:
    likely = [file for file in files if corpus.files[file].kind.likely]
    if reference.depth and not found.innermost and 0 < len(likely) <= _MAX_SOURCES:
        found.innermost = dict.fromkeys(likely, 1 / len(likely))


def line_meant(corpus: Corpus, file: int, reference: Reference) -> int | None:
    """The line that a frame means in this commit: in the reporter's version the function may stand elsewhere."""
    alike = corpus.definitions.get(reference.function, ())
    first, last = (bisect_left(alike, number, key=lambda place: place.file) for number in (file, file + 1))
    places = alike[first:last]
    line = reference.line
    if not places or (line and any(place.start <= line <= place.end for place in places)):
        return line
    return places[0].start


def files_named(corpus: Corpus, written: str) -> list[int]:
    """Files whose path ends like the written one, those that share most of it.

    One shared component is enough only where no more was written or the file stands at the top: a user's own
    `app/models.py` is not the project's `orm/models.py`.
    """
    parts = [part for part in written.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts or "." not in parts[-1]:
        return []
    best: list[int] = []
    most = 1
    for file in corpus.stems.get(parts[-1].rpartition(".")[0].lower(), ()):
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


def _add_modules(corpus: Corpus, query: Query, found: Named) -> None:
    modules = _Modules(corpus)
    for chain in query.chains:
        for length in range(len(chain), 1, -1):
            files = modules.named(chain[:length])
            if files:
                for file in files:
                    if 1 / len(files) > found.module.get(file, 0.0):
                        found.module[file] = 1 / len(files)
                        found.modules[file] = ".".join(chain[:length])
                break


class _Modules:
    """Files by dotted name. Those of one name are sorted once: an issue may ask a thousand times for `index`."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._sorted: dict[str, list[tuple[list[str], int]]] = {}

    def named(self, chain: Sequence[str]) -> list[int]:
        """Files that a dotted name stands for: `a.b` is `…/a/b.py` or `…/a/b/__init__.py`."""
        return self._ending(chain) or [file for stem in PACKAGE_STEMS for file in self._ending([*chain, stem])]

    def _ending(self, chain: Sequence[str]) -> list[int]:
        """Files whose path without extension ends like this."""
        wanted = list(reversed(chain))
        paths = self._paths(wanted[0].lower())
        first = bisect_left(paths, wanted, key=lambda one: one[0])
        after = (paths[at] for at in range(first, len(paths)))
        return [file for _, file in takewhile(lambda one: one[0][: len(wanted)] == wanted, after)]

    def _paths(self, stem: str) -> list[tuple[list[str], int]]:
        """Files of a name, by the parts of their path from the last to the first."""
        if stem not in self._sorted:
            self._sorted[stem] = sorted((self._parts(file), file) for file in self._corpus.stems.get(stem, ()))
        return self._sorted[stem]

    def _parts(self, file: int) -> list[str]:
        *folders, name = self._corpus.files[file].path.split("/")
        return [name.rpartition(".")[0] or name, *reversed(folders)]


def _add_stems(corpus: Corpus, query: Query, found: Named) -> None:
    title = {word.lower() for word in query.title}
    for word in {word.lower() for word in query.words}:
        files = corpus.stems.get(word, ())
        if not files or word in _SILENT_STEMS or len(word) < _MIN_NAME:
            continue
        for signal in [found.stem_in_body, *([found.stem_in_title] if word in title else [])]:
            for file in files:
                signal[file] = max(signal.get(file, 0.0), 1 / len(files))


def _add_definitions(corpus: Corpus, query: Query, found: Named) -> None:
    for word in sorted(query.words):
        places = corpus.definitions.get(word, ())
        if not places or len(word) < _MIN_NAME:
            continue
        places = _meant(corpus, places, query.owners.get(word, ()))
        files = {place.file for place in places}
        if len(files) > _MAX_PLACES:
            continue
        plain = word.islower() and "_" not in word and word not in query.coded
        worth = (PLAIN if plain else 1.0) / len(files)
        for file in files:
            found.defined[file] = max(found.defined.get(file, 0.0), worth)
            if word in query.title:
                found.defined_in_title[file] = max(found.defined_in_title.get(file, 0.0), worth)
        for place in places:
            found.places[place.file].append((worth * (1.5 if word in query.title else 1.0), place))


def _meant(corpus: Corpus, places: Sequence[Place], owners: Iterable[str]) -> Sequence[Place]:
    """Places that fit best: inside the owner that the issue names, then those in likely sources, then all."""
    wanted = set(owners)
    inside = [place for place in places if wanted.intersection(place.name.split(".")[:-1])]
    likely = [place for place in inside or places if corpus.files[place.file].kind.likely]
    return likely or inside or places
