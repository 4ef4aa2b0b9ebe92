"""Where a name is defined, for somebody who asks by the name alone."""

from collections.abc import Sequence

from triage.domain.code import Passage, Span
from triage.index.corpus.corpus import Corpus, DefinitionLocation
from triage.index.parse.definitions import normalize_name

MAX_DEFINITIONS = 50
"""Definitions told of one name: a file is unpacked for each."""


def look_up_definitions(corpus: Corpus, name: str) -> list[Passage]:
    """Definitions of a name such as `save`, `Store.save`, `store::Store::save()`; likely sources first.

    Those that belong to the owner which the name gives; where none does (an inherited method, a module's name),
    all of its last part.
    """
    written = name.replace("`", " ").split()
    parts = normalize_name(written[-1]).split(".") if written else [""]
    places = corpus.definitions.get(parts[-1], ())
    inside = [place for place in places if place.name.split(".")[-len(parts) :] == parts]
    return _read_passages(corpus, (inside or places)[:MAX_DEFINITIONS])  # likely sources stand first in a corpus


def _read_passages(corpus: Corpus, places: Sequence[DefinitionLocation]) -> list[Passage]:
    """The definitions with their text; places of one file stand side by side, and it is unpacked once."""
    found: list[Passage] = []
    file, lines = -1, list[str]()
    for place in places:
        if place.file != file:
            file, lines = place.file, corpus.files[place.file].read_lines()
        span = Span(path=corpus.files[file].path, start=place.start, end=place.end)
        found.append(Passage(span=span, text="\n".join(lines[place.start - 1 : place.end]), symbol=place.name))
    return found
