"""Checks one reference to code: its path, its lines, its quote and its symbol."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from triage.citations.citation_lookup import CitationLookup, CitedPlace
from triage.citations.quoted_text import MIN_QUOTE_CHARS, count_letters, find_quote
from triage.citations.written_symbol import clean_symbol
from triage.domain.code import Span
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import Citations

_MAX_PATH_CHARS = 120
"""Of a path in a reason."""


@dataclass
class CheckedReference:
    """What became of one reference after another."""

    path: str | None = None
    span: Span | None = None
    symbol: str | None = None
    is_span_quoted: bool = False
    """Whether the quote stands in these lines."""
    quote: str | None = None
    """As it is in the file; None when nothing was quoted, or it was not found."""
    verified: int = 0
    total: int = 0
    corrected: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def citations(self) -> Citations:
        def describe(problems: Sequence[str]) -> list[str]:
            return [f"{_printable(self.path or '')}: {problem}" for problem in problems]

        return Citations(
            verified=self.verified,
            total=self.total,
            corrected=describe(self.corrected),
            refused=describe(self.refused) if self.path else self.refused,
        )


def check_reference(cited: RelevantFile | AffectedFile | Evidence, code: CitationLookup) -> CheckedReference:
    cited_symbol = clean_symbol((None if isinstance(cited, Evidence) else cited.symbol) or "")
    place = code.locate(cited.path or "", cited_symbol)
    lines = _list_lines(cited, place)
    quote = "" if isinstance(cited, AffectedFile) else (cited.quote or "").strip()
    total = 1 + (lines is not None) + bool(quote)
    if place is None:
        return CheckedReference(
            total=total, refused=[f"{_printable(cited.path or '')}: no such file in the indexed commit"]
        )
    found = CheckedReference(path=place.path, verified=1, total=total)
    if place.is_from_symbol:
        found.corrected.append("this file defines the symbol that was cited as a path")
    symbol = cited_symbol or clean_symbol(place.symbol or "")
    definitions = code.find_spans(symbol, place.path)
    span, problem = _verify_lines(lines, found, code)
    if quote:
        span = _verify_quote(quote, span, definitions, found, code, has_lines=lines is not None)
    span = _choose_span(span, symbol, definitions, found, code, has_lines=lines is not None)
    if lines and span:
        found.verified += 1
    elif lines:
        found.refused.append(problem or "the quote stands in several places of the file")
    found.span = span
    found.symbol = symbol if symbol and _is_symbol_there(symbol, span, definitions, place.path, code) else None
    return found


def _list_lines(cited: RelevantFile | AffectedFile | Evidence, place: CitedPlace | None) -> tuple[int, int] | None:
    numbers = [number for number in (cited.start_line, cited.end_line) if number is not None]
    if not numbers and place:
        numbers = [number for number in (place.start, place.end) if number is not None]
    return (numbers[0], numbers[-1]) if numbers else None


def _verify_lines(
    lines: tuple[int, int] | None, found: CheckedReference, code: CitationLookup
) -> tuple[Span | None, str]:
    """The cited lines, else why there are none."""
    if lines is None or found.path is None:
        return None, ""
    count = len(code.lines(found.path) or [])
    start, end = sorted(lines)
    if not 1 <= start <= end <= count:
        cited = f"{_format_line(lines[0])}-{_format_line(lines[1])}"
        return None, f"lines {cited} are not in the file, which has {count}"
    if lines != (start, end):
        found.corrected.append("the last of the cited lines stands before the first")
    return Span(path=found.path, start=start, end=end), ""


def _verify_quote(
    quote: str,
    span: Span | None,
    definitions: Sequence[Span],
    found: CheckedReference,
    code: CitationLookup,
    *,
    has_lines: bool,
) -> Span | None:
    """The lines of the quote; the cited ones when it stands in them or is not found, none when it stands anywhere."""
    path = found.path or ""
    quoted = find_quote(quote, code.text(path), span, definitions)
    if quoted is None:
        is_short = count_letters(quote) < MIN_QUOTE_CHARS
        found.refused.append("the quote is too short to be looked up" if is_short else "the quote is not in the file")
        return span
    found.quote = quoted.text
    found.verified += 1
    if len(quoted.ranges) > 1:
        return None
    start, end = quoted.ranges[0]
    if span and span.start <= start and end <= span.end:
        found.is_span_quoted = True
        return span
    if has_lines:
        found.corrected.append(f"the quote stands in lines {start}-{end}, which replace those cited")
    found.is_span_quoted = True
    return Span(path=path, start=start, end=end)


def _choose_span(
    span: Span | None,
    symbol: str,
    definitions: Sequence[Span],
    found: CheckedReference,
    code: CitationLookup,
    *,
    has_lines: bool,
) -> Span | None:
    """The lines, or in place of none and of wrong ones those of the symbol's only definition."""
    if len(definitions) != 1 or found.is_span_quoted:
        return span
    definition = definitions[0]
    if span and (_overlap(span, definition) or _has_word(symbol, span.path, span, code)):
        return span
    if has_lines:
        found.corrected.append(
            f"the symbol is defined in lines {definition.start}-{definition.end}, which replace those cited"
        )
    return definition


def _overlap(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _is_symbol_there(
    symbol: str, span: Span | None, definitions: Sequence[Span], path: str, code: CitationLookup
) -> bool:
    if definitions and (span is None or any(_overlap(span, definition) for definition in definitions)):
        return True
    return _has_word(symbol, path, span, code)


def _has_word(symbol: str, path: str, span: Span | None, code: CitationLookup) -> bool:
    names = re.findall(r"[\w$]+", symbol)
    if not names:
        return False
    name = names[-1]  # `save` of `Store.save()`, `ns::Store::save`, `Store#save`
    lines = code.lines(path) or []
    if span:
        lines = lines[span.start - 1 : span.end]
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    return any(name in line and word.search(line) for line in lines)


def _printable(path: str) -> str:
    printable = "".join(character if character.isprintable() else "?" for character in path)
    return printable if len(printable) <= _MAX_PATH_CHARS else printable[: _MAX_PATH_CHARS - 1] + "…"


def _format_line(line: int) -> str:
    return str(line) if abs(line) < 10**9 else "(huge)"
