"""Finds the places that a model's text names, so that they can be linked."""

import re
from collections.abc import Iterable

from triage.citations.citation_lookup import CitationLookup
from triage.domain.code import Span
from triage.domain.report import NamedPlace

MAX_PLACES = 10
_PLACE = re.compile(r"(?<![\w./@+-])[\w@+-][\w./@+-]{0,300}\.[A-Za-z]\w{0,9}(?::\d{1,7}(?:-\d{1,7})?)?(?![\w/:])")
_LINES = re.compile(r":(\d+)(?:-(\d+))?$")


def find_named_places(texts: Iterable[str], code: CitationLookup) -> list[NamedPlace]:
    """Return each path and `path:lines` in the texts that is in the indexed commit, once, as it is written."""
    places: dict[str, NamedPlace] = {}
    for text in texts:
        for written in _PLACE.findall(text):
            place = _verify(written, code) if written not in places else None
            if place and len(places) < MAX_PLACES:
                places[written] = place
    return list(places.values())


def _verify(written: str, code: CitationLookup) -> NamedPlace | None:
    lines = _LINES.search(written)
    found = code.locate(written[: lines.start()] if lines else written)
    if found is None or found.is_from_symbol:
        return None
    if lines is None:
        return NamedPlace(text=written, path=found.path)
    start, end = int(lines[1]), int(lines[2] or lines[1])
    if not 1 <= start <= end <= len(code.lines(found.path) or []):
        return None
    return NamedPlace(text=written, path=found.path, span=Span(path=found.path, start=start, end=end))
