"""Verifies what agents cite against the indexed commit. Each path, line range and quote is one reference.

A file that exists stays even when its lines do not. Wrong lines are corrected by the quote, else by the definition of
the symbol. Lines and quotes that are still not there are dropped, with the reason.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triage.citations.citation_lookup import CitationLookup, CitedPlace
from triage.citations.quoted_text import MIN_QUOTE_CHARS, count_letters, find_quote, list_quote_forms
from triage.citations.written_place import clean_symbol
from triage.domain.code import Span
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import CheckedEvidence, Citations, Suspect

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


def verify_suspects(
    files: Sequence[RelevantFile | AffectedFile], code: CitationLookup
) -> tuple[list[Suspect], Citations]:
    """Suspects in existing files, in the given order, each place once; and the count of all references.

    A symbol stays when it is defined around the cited lines, stands in them, or, without lines, in the file.
    """
    suspects: list[Suspect] = []
    results = [(file, check_reference(file, code)) for file in files]
    for file, found in results:
        if found.path is not None:
            reason = file.relevance_reason if isinstance(file, RelevantFile) else file.reason
            _add_suspect(suspects, Suspect(path=found.path, span=found.span, symbol=found.symbol, reason=reason))
    return suspects, merge_citations(found.citations for _, found in results)


def verify_files(files: Sequence[RelevantFile], code: CitationLookup) -> tuple[list[RelevantFile], Citations]:
    """The files that exist, in order, with the lines and quotes that were found; and the count of all references."""
    results = [(file, check_reference(file, code)) for file in files]
    existing = [_correct_file(file, found) for file, found in results if found.path is not None]
    return existing, merge_citations(found.citations for _, found in results)


def verify_evidence(
    evidence: Sequence[Evidence], code: CitationLookup, issue_text: str = ""
) -> tuple[list[CheckedEvidence], Citations]:
    """Each claim with the place that shows it, if the commit confirms one; and the count of all references.

    A claim without a path is about the issue: its quote is looked up in `issue_text`. A claim that is not confirmed
    loses its place and quote.
    """
    issue = _normalize_text(issue_text)
    results = [_verify_in_code(claim, code) if claim.path else _verify_in_issue(claim, issue) for claim in evidence]
    return [checked for checked, _ in results], merge_citations([citations for _, citations in results])


def merge_citations(outcomes: Iterable[Citations]) -> Citations:
    """The sum of several counts; each reason once."""
    outcomes = list(outcomes)
    return Citations(
        verified=sum(outcome.verified for outcome in outcomes),
        total=sum(outcome.total for outcome in outcomes),
        corrected=list(dict.fromkeys(reason for outcome in outcomes for reason in outcome.corrected)),
        refused=list(dict.fromkeys(reason for outcome in outcomes for reason in outcome.refused)),
    )


def _correct_file(file: RelevantFile, found: CheckedReference) -> RelevantFile:
    update = {
        "path": found.path,
        "start_line": found.span.start if found.span else None,
        "end_line": found.span.end if found.span else None,
        "symbol": found.symbol,
        "quote": found.quote,
    }
    return file.model_copy(update=update)


def _verify_in_code(claim: Evidence, code: CitationLookup) -> tuple[CheckedEvidence, Citations]:
    found = check_reference(claim, code)
    is_quoted = bool((claim.quote or "").strip())
    is_confirmed = found.span is not None and (found.quote is not None or not is_quoted)
    return CheckedEvidence(
        claim=claim.claim,
        span=found.span if is_confirmed else None,
        quote=found.quote if is_confirmed else None,
        verified=is_confirmed,
    ), found.citations


def _verify_in_issue(claim: Evidence, issue: str) -> tuple[CheckedEvidence, Citations]:
    if not (claim.quote or "").strip():
        return CheckedEvidence(claim=claim.claim, verified=False), Citations()
    found = next((form for form in list_quote_forms(claim.quote or "") if _normalize_text(form) in issue), None)
    is_found = found is not None
    checked = CheckedEvidence(claim=claim.claim, quote=found, verified=is_found)
    refused = [] if is_found else ["a quote that is not in the issue"]
    return checked, Citations(verified=int(is_found), total=1, refused=refused)


def _add_suspect(suspects: list[Suspect], new: Suspect) -> None:
    for index, old in enumerate(suspects):
        one, other = old.span, new.span
        is_apart = one and other and (one.start > other.end or other.start > one.end)
        if old.path == new.path and not is_apart:
            suspects[index] = old.model_copy(update={"span": old.span or new.span, "symbol": old.symbol or new.symbol})
            return
    suspects.append(new)


def _normalize_text(text: str | None) -> str:
    return " ".join((text or "").split())
