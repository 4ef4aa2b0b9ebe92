"""Looks up definitions by name."""

from collections.abc import Sequence

from triage.domain.code import Passage, Span
from triage.index.corpus.corpus import Corpus, DefinitionLocation
from triage.index.parse.definitions import normalize_name

MAX_DEFINITIONS = 50
"""Of one name; the file of each has to be decompressed."""


def look_up_definitions(corpus: Corpus, name: str) -> list[Passage]:
    """Definitions of a name such as `save`, `Store.save` or `store::Store::save()`, those in product code first.

    If nothing belongs to the owner in the name (the method is inherited, or the owner is a module), all definitions of
    the last part.
    """
    words = name.replace("`", " ").split()
    parts = normalize_name(words[-1]).split(".") if words else [""]
    locations = corpus.definitions.get(parts[-1], ())
    inside = [location for location in locations if location.name.split(".")[-len(parts) :] == parts]
    return _read_passages(corpus, (inside or locations)[:MAX_DEFINITIONS])  # a corpus has product code first


def _read_passages(corpus: Corpus, locations: Sequence[DefinitionLocation]) -> list[Passage]:
    passages: list[Passage] = []
    file, lines = -1, list[str]()
    for one in locations:
        if one.file != file:  # definitions of one file are adjacent
            file, lines = one.file, corpus.files[one.file].read_lines()
        span = Span(path=corpus.files[file].path, start=one.start, end=one.end)
        passages.append(Passage(span=span, text="\n".join(lines[one.start - 1 : one.end]), symbol=one.name))
    return passages
