"""Verifies what agents cite against the indexed commit. Each path, line range and quote is one reference.

A file that exists is kept even when its lines do not; lines and quotes that are not there are dropped, with the reason.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triage.citations.citation_lookup import CitationLookup, ReadLines
from triage.domain.code import Span
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import CheckedEvidence, Citations, Suspect

_MIN_QUOTE_CHARS = 4
"""Letters and digits. `}` and `if` are in every file and prove nothing."""
_MAX_PATH_CHARS = 120
"""Of a path in a reason."""


@dataclass(frozen=True)
class _VerifiedReference:
    path: str | None = None
    span: Span | None = None
    quote_found: bool | None = None
    """None when nothing was quoted."""
    citations: Citations = field(default_factory=Citations)


def verify_suspects(
    files: Sequence[RelevantFile | AffectedFile], read_lines: ReadLines, paths: Iterable[str]
) -> tuple[list[Suspect], Citations]:
    """Suspects in existing files, in the given order, each place once; and the count of all references.

    A symbol is kept when it is in the cited lines, in a line that encloses them, or, without lines, in the file.
    """
    code = CitationLookup(read_lines, paths)
    suspects: list[Suspect] = []
    citations = []
    for file in files:
        verified = _verify_reference(file, code)
        citations.append(verified.citations)
        if verified.path is not None:
            reason = file.relevance_reason if isinstance(file, RelevantFile) else file.reason
            symbol = _verify_symbol(file.symbol, verified.path, verified.span, code)
            _add_suspect(suspects, Suspect(path=verified.path, span=verified.span, symbol=symbol, reason=reason))
    return suspects, merge_citations(citations)


def verify_files(
    files: Sequence[RelevantFile], read_lines: ReadLines, paths: Iterable[str]
) -> tuple[list[RelevantFile], Citations]:
    """The files that exist, in order, with the lines and quotes that were found; and the count of all references."""
    code = CitationLookup(read_lines, paths)
    results = [(file, _verify_reference(file, code)) for file in files]
    existing = [_correct_file(file, verified, code) for file, verified in results if verified.path is not None]
    return existing, merge_citations([verified.citations for _, verified in results])


def verify_evidence(
    evidence: Sequence[Evidence], read_lines: ReadLines, paths: Iterable[str], issue_text: str = ""
) -> tuple[list[CheckedEvidence], Citations]:
    """Each claim with the place that shows it, if the commit confirms one; and the count of all references.

    A claim without a path is about the issue: its quote is looked up in `issue_text`. A claim that is not confirmed
    loses its place and quote.
    """
    code = CitationLookup(read_lines, paths)
    issue = _normalize_text(issue_text)
    results = [_verify_in_code(claim, code) if claim.path else _verify_in_issue(claim, issue) for claim in evidence]
    return [checked for checked, _ in results], merge_citations([citations for _, citations in results])


def merge_citations(outcomes: Iterable[Citations]) -> Citations:
    """The sum of several counts; each reason once."""
    outcomes = list(outcomes)
    return Citations(
        verified=sum(outcome.verified for outcome in outcomes),
        total=sum(outcome.total for outcome in outcomes),
        refused=list(dict.fromkeys(reason for outcome in outcomes for reason in outcome.refused)),
    )


def _verify_reference(cited: RelevantFile | AffectedFile | Evidence, code: CitationLookup) -> _VerifiedReference:
    path = code.resolve(cited.path or "")
    numbers = [number for number in (cited.start_line, cited.end_line) if number is not None]
    cited_lines = (numbers[0], numbers[-1]) if numbers else None
    quote = "" if isinstance(cited, AffectedFile) else _normalize_text(cited.quote)
    total = 1 + (cited_lines is not None) + bool(quote)
    if path is None:
        reason = f"{_printable(cited.path or '')}: no such file in the indexed commit"
        return _VerifiedReference(citations=Citations(verified=0, total=total, refused=[reason]))
    lines, line_problems = _verify_lines(cited_lines, path, code)
    span, quote_found, quote_problems = _verify_quote(quote, path, lines, code)
    lines_verified = span is not None and (span.start, span.end) == lines
    refused = [f"{_printable(path)}: {problem}" for problem in (*line_problems, *quote_problems)]
    citations = Citations(verified=1 + lines_verified + (quote_found is True), total=total, refused=refused)
    return _VerifiedReference(path, span, quote_found, citations)


def _verify_lines(
    cited_lines: tuple[int, int] | None, path: str, code: CitationLookup
) -> tuple[tuple[int, int] | None, list[str]]:
    if cited_lines is None:
        return None, []
    count = len(code.lines(path) or [])
    start, end = cited_lines
    if 1 <= start <= end <= count:
        return cited_lines, []
    return None, [f"lines {_format_line(start)}-{_format_line(end)} are not in the file, which has {count}"]


def _verify_quote(
    quote: str, path: str, lines: tuple[int, int] | None, code: CitationLookup
) -> tuple[Span | None, bool | None, list[str]]:
    span = Span(path=path, start=lines[0], end=lines[1]) if lines else None
    if not quote:
        return span, None, []
    if sum(character.isalnum() for character in quote) < _MIN_QUOTE_CHARS:
        return span, False, ["the quote is too short to be looked up"]
    text = code.text(path)
    if lines and text.contains(quote, *lines):
        return span, True, []
    ranges = text.find_ranges(quote)
    if not ranges:
        return span, False, ["the quote is not in the file"]
    if len(ranges) > 1:
        return None, True, ["the quote stands in several places of the file"] if lines else []
    start, end = ranges[0]
    moved = Span(path=path, start=start, end=end)
    return moved, True, [f"the quote stands in lines {start}-{end}, which replace those cited"] if lines else []


def _correct_file(file: RelevantFile, verified: _VerifiedReference, code: CitationLookup) -> RelevantFile:
    path, span = verified.path or "", verified.span
    update = {
        "path": path,
        "start_line": span.start if span else None,
        "end_line": span.end if span else None,
        "symbol": _verify_symbol(file.symbol, path, span, code),
        "quote": file.quote if verified.quote_found else None,
    }
    return file.model_copy(update=update)


def _verify_in_code(claim: Evidence, code: CitationLookup) -> tuple[CheckedEvidence, Citations]:
    verified = _verify_reference(claim, code)
    is_confirmed = verified.span is not None and verified.quote_found is not False
    return CheckedEvidence(
        claim=claim.claim,
        span=verified.span if is_confirmed else None,
        quote=claim.quote if is_confirmed and verified.quote_found else None,
        verified=is_confirmed,
    ), verified.citations


def _verify_in_issue(claim: Evidence, issue: str) -> tuple[CheckedEvidence, Citations]:
    quote = _normalize_text(claim.quote)
    if not quote:
        return CheckedEvidence(claim=claim.claim, verified=False), Citations()
    found = quote in issue
    refused = [] if found else ["a quote that is not in the issue"]
    checked = CheckedEvidence(claim=claim.claim, quote=claim.quote if found else None, verified=found)
    return checked, Citations(verified=int(found), total=1, refused=refused)


def _add_suspect(suspects: list[Suspect], new: Suspect) -> None:
    for index, old in enumerate(suspects):
        one, other = old.span, new.span
        is_apart = one and other and (one.start > other.end or other.start > one.end)
        if old.path == new.path and not is_apart:
            suspects[index] = old.model_copy(update={"span": old.span or new.span, "symbol": old.symbol or new.symbol})
            return
    suspects.append(new)


def _verify_symbol(symbol: str | None, path: str, span: Span | None, code: CitationLookup) -> str | None:
    names = re.findall(r"[\w$]+", symbol or "")
    if not names:
        return None
    name = names[-1]  # `save` of `Store.save()`, `ns::Store::save`, `Store#save`
    lines = code.lines(path) or []
    if span is not None:
        lines = lines[span.start - 1 : span.end] + _enclosing_lines(lines, span.start)
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    return symbol if any(name in line and word.search(line) for line in lines) else None


def _enclosing_lines(lines: Sequence[str], start: int) -> list[str]:
    """Lines above `start`, each less indented than the one below it.

    A frame points into a function's body; the function's name is further up.
    """
    enclosing: list[str] = []
    depth = next((_indent(line) for line in lines[start - 1 :] if line.strip()), 0)
    for line in reversed(lines[: start - 1]):
        if depth == 0:
            break
        if line.strip() and _indent(line) < depth:
            enclosing.append(line)
            depth = _indent(line)
    return enclosing


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _normalize_text(text: str | None) -> str:
    return " ".join((text or "").split())


def _printable(path: str) -> str:
    printable = "".join(character if character.isprintable() else "?" for character in path)
    return printable if len(printable) <= _MAX_PATH_CHARS else printable[: _MAX_PATH_CHARS - 1] + "…"


def _format_line(line: int) -> str:
    return str(line) if abs(line) < 10**9 else "(huge)"
