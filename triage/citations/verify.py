"""Verifies what agents cite against the indexed commit. Each path, line range and quote is one reference.

A file that exists stays even when its lines do not. Wrong lines are corrected by the quote, else by the definition of
the symbol. Lines and quotes that are still not there are dropped, with the reason.
"""

import re
from collections.abc import Iterable, Sequence

from triage.citations.citation_lookup import CitationLookup
from triage.citations.quoted_text import MIN_QUOTE_CHARS, count_letters, find_quote, list_quote_forms
from triage.citations.written_place import clean_symbol
from triage.domain.code import CodePlace, Span, Suspect
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import CheckedEvidence, Citations

_MAX_PATH_CHARS = 120
"""Of a path in a reason."""


class CheckedReference:
    """What became of the path, the lines, the quote and the symbol of one reference."""

    def __init__(self, cited: RelevantFile | AffectedFile | Evidence, code: CitationLookup) -> None:
        symbol = clean_symbol((None if isinstance(cited, Evidence) else cited.symbol) or "")
        quote = "" if isinstance(cited, AffectedFile) else (cited.quote or "").strip()
        by_path = code.locate_path(cited.path or "", symbol, quote)
        place = by_path or code.locate_symbol(cited.path or "")
        self._code, self._lines = code, _list_lines(cited, place)
        self._total = 1 + (self._lines is not None) + bool(quote)
        self._verified = 0
        self._corrected: list[str] = []
        self._refused: list[str] = []
        self.path = place.path if place else None
        self.span: Span | None = None
        self.symbol: str | None = None
        self.quote: str | None = None
        """As it is in the file; None when nothing was quoted, or it was not found."""
        if place is None:
            self._refused.append(f"{_printable(cited.path or '')}: no such file in the indexed commit")
        else:
            if by_path is None:
                self._corrected.append("this file defines the symbol that was cited as a path")
            self._check(place, symbol or clean_symbol(place.symbol or ""), quote)

    @property
    def citations(self) -> Citations:
        def describe(problems: Sequence[str]) -> list[str]:
            return [f"{_printable(self.path)}: {problem}" for problem in problems] if self.path else list(problems)

        return Citations(
            verified=self._verified,
            total=self._total,
            corrected=describe(self._corrected),
            refused=describe(self._refused),
        )

    def _check(self, place: CodePlace, symbol: str, quote: str) -> None:
        self._verified += 1
        definitions = self._code.find_spans(symbol, place.path)
        problem = self._check_lines(place.path)
        is_quoted = bool(quote) and self._check_quote(quote, place.path, definitions)
        if len(definitions) == 1 and not is_quoted:
            self._prefer_definition(definitions[0], symbol)
        if self._lines and self.span:
            self._verified += 1
        elif self._lines:
            self._refused.append(problem or "the quote stands in several places of the file")
        is_defined = any(self.span is None or _overlap(self.span, definition) for definition in definitions)
        self.symbol = symbol if symbol and (is_defined or self._has_word(symbol, place.path)) else None

    def _check_lines(self, path: str) -> str:
        """Take the cited lines. Return why they cannot be taken."""
        if self._lines is None:
            return ""
        count = len(self._code.lines(path) or [])
        start, end = sorted(self._lines)
        if not 1 <= start <= end <= count:
            cited = "-".join(str(line) if abs(line) < 10**9 else "(huge)" for line in self._lines)
            return f"lines {cited} are not in the file, which has {count}"
        if self._lines != (start, end):
            self._corrected.append("the last of the cited lines stands before the first")
        self.span = Span(path=path, start=start, end=end)
        return ""

    def _check_quote(self, quote: str, path: str, definitions: Sequence[Span]) -> bool:
        """Take the lines of the quote, unless it stands in the cited ones. Return whether it stands in those taken.

        A quote that is not found leaves the cited lines; one that stands in several places leaves none.
        """
        quoted = find_quote(quote, self._code.text(path), self.span, definitions)
        if quoted is None:
            is_short = count_letters(quote) < MIN_QUOTE_CHARS
            self._refused.append(
                "the quote is too short to be looked up" if is_short else "the quote is not in the file"
            )
            return False
        self.quote = quoted.text
        self._verified += 1
        if len(quoted.ranges) > 1:
            self.span = None
            return False
        start, end = quoted.ranges[0]
        if not (self.span and self.span.start <= start and end <= self.span.end):
            self.span = Span(path=path, start=start, end=end)
            self._correct_lines(f"the quote stands in lines {start}-{end}")
        return True

    def _prefer_definition(self, definition: Span, symbol: str) -> None:
        """Take the symbol's only definition in place of no lines, and of lines without the symbol."""
        if self.span and (_overlap(self.span, definition) or self._has_word(symbol, self.span.path)):
            return
        self.span = definition
        self._correct_lines(f"the symbol is defined in lines {definition.start}-{definition.end}")

    def _correct_lines(self, reason: str) -> None:
        if self._lines:
            self._corrected.append(f"{reason}, which replace those cited")

    def _has_word(self, symbol: str, path: str) -> bool:
        names = re.findall(r"[\w$]+", symbol)
        if not names:
            return False
        name = names[-1]  # `save` of `Store.save()`, `ns::Store::save`, `Store#save`
        lines = self._code.lines(path) or []
        if self.span:
            lines = lines[self.span.start - 1 : self.span.end]
        word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
        return any(name in line and word.search(line) for line in lines)


def _list_lines(cited: RelevantFile | AffectedFile | Evidence, place: CodePlace | None) -> tuple[int, int] | None:
    numbers = [number for number in (cited.start_line, cited.end_line) if number is not None]
    if not numbers and place:
        numbers = [number for number in (place.start, place.end) if number is not None]
    return (numbers[0], numbers[-1]) if numbers else None


def _overlap(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _printable(path: str) -> str:
    printable = "".join(character if character.isprintable() else "?" for character in path)
    return printable if len(printable) <= _MAX_PATH_CHARS else printable[: _MAX_PATH_CHARS - 1] + "…"


def verify_suspects(
    files: Sequence[RelevantFile | AffectedFile], code: CitationLookup
) -> tuple[list[Suspect], Citations]:
    """Return suspects in existing files, in the given order, each place once; and the count of all references.

    A symbol stays when it is defined around the cited lines, stands in them, or, without lines, in the file.
    """
    suspects: list[Suspect] = []
    results = [(file, CheckedReference(file, code)) for file in files]
    for file, found in results:
        if found.path is not None:
            reason = file.relevance_reason if isinstance(file, RelevantFile) else file.reason
            _add_suspect(suspects, Suspect(path=found.path, span=found.span, symbol=found.symbol, reason=reason))
    return suspects, merge_citations(found.citations for _, found in results)


def verify_files(files: Sequence[RelevantFile], code: CitationLookup) -> tuple[list[RelevantFile], Citations]:
    """Return the existing files in order, with lines and quotes that were found; and the count of all references."""
    results = [(file, CheckedReference(file, code)) for file in files]
    existing = [_correct_file(file, found) for file, found in results if found.path is not None]
    return existing, merge_citations(found.citations for _, found in results)


def verify_evidence(
    evidence: Sequence[Evidence], code: CitationLookup, issue_text: str = ""
) -> tuple[list[CheckedEvidence], Citations]:
    """Return each claim with the place that shows it, if the commit confirms one; and the count of all references.

    A claim without a path is about the issue: its quote is looked up in `issue_text`. A claim that is not confirmed
    loses its place and quote.
    """
    issue = _normalize_text(issue_text)
    results = [_verify_in_code(claim, code) if claim.path else _verify_in_issue(claim, issue) for claim in evidence]
    return [checked for checked, _ in results], merge_citations([citations for _, citations in results])


def merge_citations(outcomes: Iterable[Citations]) -> Citations:
    """Return the sum of several counts; each reason once."""
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
    found = CheckedReference(claim, code)
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
