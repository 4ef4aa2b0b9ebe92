"""Looks up cited paths, symbols and quotes in the indexed commit, and the places that a text names."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial

from triage.base.text import word_set
from triage.citations.quoted_text import NormalizedText, find_quote
from triage.citations.written_place import MAX_CHARS, list_readings
from triage.domain.code import CodePlace, Passage, Span
from triage.domain.report import NamedPlace
from triage.ports import Codebase

MIN_SYMBOL_CHARS, MAX_SYMBOL_CHARS = 3, 200
"""A shorter name alone says too little about which file is meant."""
_SYMBOL = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$~][\w$]*)*(?:\(\))?")

MAX_PLACES = 10
_PLACE = re.compile(r"(?<![\w./@+-])[\w@+-][\w./@+-]{0,300}\.[A-Za-z]\w{0,9}(?::\d{1,7}(?:-\d{1,7})?)?(?![\w/:])")
_LINES = re.compile(r":(\d+)(?:-(\d+))?$")
_QUOTED = re.compile(r"`([^`\n]{1,100})`")
MAX_BESIDE_CHARS, MAX_WORD_LINES = 80, 3
_KEYWORDS = word_set(
    "assert async await break catch class const continue default except export extends false final finally function "
    "global import lambda package print private protected public raise return static struct super switch throw throws "
    "using value values while yield"
)
LINES_AROUND = 10
"""Shown with a suspect's lines."""


class CitationLookup:
    """The files of the indexed commit, by the places that agents write."""

    def __init__(self, code: Codebase) -> None:
        self._paths = frozenset(code.list_paths())
        self._repository = code.repository
        self.lines = lru_cache(maxsize=64)(code.read_lines)
        self.text = lru_cache(maxsize=16)(lambda path: NormalizedText(self.lines(path) or []))
        self._definitions = lru_cache(maxsize=64)(code.find_definitions)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for path in self._paths:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        return by_name

    def resolve(self, cited: str) -> str | None:
        """Return the indexed path of a cited place; None when there is none or more than one."""
        place = self.locate(cited)
        return place.path if place else None

    def locate(self, cited: str) -> CodePlace | None:
        """Return the place that is cited by its path, else by a symbol."""
        return self.locate_path(cited) or self.locate_symbol(cited)

    def locate_path(self, cited: str, symbol: str = "", quote: str = "", shown: str = "") -> CodePlace | None:
        """Return the place that is cited by its path.

        Of several files with the end of the path, the only one that defines `symbol`, else that has `quote`, else
        whose heading stands in what was `shown`.
        """
        for written in list_readings(cited, self._repository):
            tests: list[Callable[[str], bool]] = [
                partial(self._defines, symbol or written.symbol or ""),
                lambda path: bool(quote and find_quote(quote, self.text(path), None, [])),
                lambda path: f"## {path}:" in shown,
            ]
            if path := self._resolve_path(written.path, tests):
                return replace(written, path=path)
        return None

    def _defines(self, symbol: str, path: str) -> bool:
        return bool(self.find_spans(symbol, path))

    def locate_symbol(self, cited: str) -> CodePlace | None:
        """Return the place that is cited by a symbol in place of a path, if only one file defines it."""
        return next(filter(None, map(self._find_defining_file, list_readings(cited, self._repository))), None)

    def find_spans(self, symbol: str, path: str) -> list[Span]:
        """Return where a symbol is defined in a file."""
        if not MIN_SYMBOL_CHARS <= len(symbol) <= MAX_SYMBOL_CHARS:
            return []
        return [passage.span for passage in self._definitions(symbol) if passage.span.path == path]

    def _find_defining_file(self, written: CodePlace) -> CodePlace | None:
        name = written.path.strip("` ")
        if not MIN_SYMBOL_CHARS <= len(name) <= MAX_SYMBOL_CHARS or not _SYMBOL.fullmatch(name):
            return None
        defined = [passage for passage in self._definitions(name) if is_named(passage, name)]
        if len({passage.span.path for passage in defined}) != 1 or defined[0].span.path not in self._paths:
            return None
        return replace(written, path=defined[0].span.path, symbol=name)

    def _resolve_path(self, cited: str, tests: Sequence[Callable[[str], bool]]) -> str | None:
        path = _normalize(cited)
        if path is None:
            return None
        # A diff writes `a/` or `b/` before the path.
        for spelling in (path, path[2:]) if path.startswith(("a/", "b/")) else (path,):
            if spelling in self._paths:
                return spelling
        return self._resolve_suffix(path, tests)

    def _resolve_suffix(self, path: str, tests: Sequence[Callable[[str], bool]]) -> str | None:
        parts = path.strip("/").split("/")
        candidates = self._by_name.get(parts[-1], [])
        # The file name of a foreign absolute path (`/usr/lib/json/decoder.py`) says too little.
        shortest = 2 if path.startswith("/") else len(parts)
        for length in range(len(parts), shortest - 1, -1):
            suffix = "/" + "/".join(parts[-length:])
            found = [known for known in candidates if f"/{known}".endswith(suffix)]
            if len(found) > 1:
                chosen = ([known for known in found if test(known)] for test in tests)
                return next((one[0] for one in chosen if len(one) == 1), None)
            if found:
                return found[0]
        return None


def _normalize(cited: str) -> str | None:
    """Return the path with forward slashes and without `.` parts; an absolute path keeps its first slash."""
    path = cited.strip().strip("`'\"").replace("\\", "/")
    if not path or len(path) > MAX_CHARS:
        return None
    is_absolute = path.startswith("/") or path[1:3] == ":/"
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not parts or ".." in parts:
        return None
    return ("/" if is_absolute else "") + "/".join(parts)


def is_named(passage: Passage, name: str) -> bool:
    """Return whether a definition has the name with its owner: the index falls back to the name alone."""
    parts, known = re.findall(r"[\w$~]+", name), re.findall(r"[\w$~]+", passage.symbol or "")
    owners = parts[: -len(known)] if len(parts) > len(known) else []  # a module's name
    return known[-len(parts) :] == parts[len(owners) :] and all(part in passage.span.path for part in owners)


def find_named_places(texts: Iterable[str], code: CitationLookup) -> list[NamedPlace]:
    """Return each path and `path:lines` in the texts that is in the indexed commit, once, as it is written."""
    places: dict[str, NamedPlace] = {}
    for text in texts:
        for written in _PLACE.findall(text):
            place = _verify(written, code) if written not in places else None
            if place and len(places) < MAX_PLACES:
                places[written] = place
    return list(places.values())


def drop_wrong_lines(text: str, checked: Sequence[Span], code: CitationLookup) -> str:
    """Return the text without the lines of each `path:lines` that nothing supports.

    Lines near a checked place, which was shown, count, and lines that share a name or a longer word with the text
    beside them.
    """

    def check(found: re.Match[str]) -> str:
        written = found[0]
        if not _LINES.search(written) or code.locate_path(_LINES.sub("", written)) is None:
            return written
        place = _verify(written, code)
        beside = text[max(0, found.start() - MAX_BESIDE_CHARS) : found.end() + MAX_BESIDE_CHARS].replace(written, "")
        is_supported = place and place.span and _is_supported(place.span, checked, beside, code)
        return written if is_supported else _LINES.sub("", written)

    return _PLACE.sub(check, text)


def _is_supported(span: Span, checked: Sequence[Span], beside: str, code: CitationLookup) -> bool:
    around = Span(path=span.path, start=max(1, span.start - LINES_AROUND), end=span.end + LINES_AROUND)
    if any(one.path == span.path and one.start <= around.end and around.start <= one.end for one in checked):
        return True
    lines = " ".join((code.lines(span.path) or [])[span.start - 1 : span.end])
    names = (name for quoted in _QUOTED.findall(beside) for name in re.findall(r"[A-Za-z_$][\w$]{2,}", quoted)[-1:])
    is_named = any(re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", lines) for name in names)
    is_short = span.end - span.start < MAX_WORD_LINES  # of many lines some have any word
    return is_named or (is_short and not _list_words(beside).isdisjoint(_list_words(lines)))


def _list_words(text: str) -> set[str]:
    """Return the longer words of a text and of the names in it, but those of languages."""
    words = re.findall(r"[A-Z]?[a-z]{5,}", text)
    return {word.lower() for word in words} - _KEYWORDS


def _verify(written: str, code: CitationLookup) -> NamedPlace | None:
    lines = _LINES.search(written)
    found = code.locate_path(written[: lines.start()] if lines else written)
    if found is None:
        return None
    if lines is None:
        return NamedPlace(text=written, path=found.path)
    start, end = int(lines[1]), int(lines[2] or lines[1])
    if not 1 <= start <= end <= len(code.lines(found.path) or []):
        return None
    return NamedPlace(text=written, path=found.path, span=Span(path=found.path, start=start, end=end))
