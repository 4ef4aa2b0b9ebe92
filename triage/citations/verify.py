"""Are the places that agents name really there? Looked up in the indexed commit, by code, before anybody reads them.

Every path, line range and quote that an agent names counts as one reference. A file that exists stays although its
lines do not; lines and quotes that are not there are dropped, and the reason is kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from triage.citations.indexed_code import IndexedCode, ReadLines
from triage.domain.code import Span
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import CheckedEvidence, Citations, Suspect

MIN_QUOTE_CHARS = 4
"""Letters and digits that a quote needs: `}` and `if` stand in every file and prove nothing."""
MAX_SHOWN_CHARS = 120


@dataclass(frozen=True)
class _Reference:
    """A reference as an agent gave it."""

    path: str
    start: int | None
    end: int | None
    quote: str | None

    @property
    def has_lines(self) -> bool:
        return self.start is not None or self.end is not None

    @property
    def folded_quote(self) -> str:
        return " ".join((self.quote or "").split())

    @property
    def parts(self) -> int:
        return 1 + self.has_lines + bool(self.folded_quote)

    @property
    def range(self) -> tuple[int, int]:
        start = self.start if self.start is not None else self.end
        end = self.end if self.end is not None else self.start
        assert start is not None
        assert end is not None
        return start, end


@dataclass(frozen=True)
class _VerifiedReference:
    """What is left of a reference: the place that code stands for."""

    path: str | None = None
    span: Span | None = None
    lines_verified: bool | None = None
    """None when no lines were cited."""
    quote_verified: bool | None = None
    """None when nothing was quoted."""
    citations: Citations = field(default_factory=Citations)


def _verify_reference(cited: _Reference, checkout: IndexedCode) -> _VerifiedReference:
    path = checkout.resolve(cited.path)
    if path is None:
        why = f"{_shown(cited.path)}: no such file in the indexed commit"
        return _VerifiedReference(citations=Citations(verified=0, total=cited.parts, refused=[why]))
    lines, lines_refused = _verify_lines(cited, path, checkout)
    span, quote, quote_refused = _verify_quote(cited, path, lines, checkout)
    lines_verified = (span is not None and (span.start, span.end) == lines) if cited.has_lines else None
    refused = [f"{_shown(path)}: {why}" for why in (*lines_refused, *quote_refused)]
    verified = 1 + (lines_verified is True) + (quote is True)
    citations = Citations(verified=verified, total=cited.parts, refused=refused)
    return _VerifiedReference(path, span, lines_verified, quote, citations)


def _verify_lines(cited: _Reference, path: str, checkout: IndexedCode) -> tuple[tuple[int, int] | None, list[str]]:
    """The cited lines when the file has them, and what is wrong with them else."""
    if not cited.has_lines:
        return None, []
    count = len(checkout.lines(path) or [])
    start, end = cited.range
    if 1 <= start <= end <= count:
        return (start, end), []
    return None, [f"lines {_number(start)}-{_number(end)} are not in the file, which has {count}"]


def _verify_quote(
    cited: _Reference, path: str, lines: tuple[int, int] | None, checkout: IndexedCode
) -> tuple[Span | None, bool | None, list[str]]:
    """Span after looking for the quote, whether the quote was found, and what is wrong."""
    span = Span(path=path, start=lines[0], end=lines[1]) if lines else None
    quote = cited.folded_quote
    if not quote:
        return span, None, []
    if sum(character.isalnum() for character in quote) < MIN_QUOTE_CHARS:
        return span, False, ["the quote is too short to be looked up"]
    text = checkout.text(path)
    if lines and text.contains(quote, *lines):
        return span, True, []
    places = text.find_ranges(quote)
    if not places:
        return span, False, ["the quote is not in the file"]
    if len(places) > 1:
        return None, True, ["the quote stands in several places of the file"] if lines else []
    start, end = places[0]
    moved = Span(path=path, start=start, end=end)
    return moved, True, [f"the quote stands in lines {start}-{end}, which replace those cited"] if lines else []


def verify_suspects(
    files: Sequence[RelevantFile | AffectedFile], lines: ReadLines, paths: Iterable[str]
) -> tuple[list[Suspect], Citations]:
    """Files that exist, best first as given, each once per place; and the count of what was looked up.

    `paths` is every indexed path, `lines` reads one. A symbol stays when it is written in the lines, on a line that
    encloses them, or, without lines, anywhere in the file.
    """
    checkout = IndexedCode(lines, paths)
    suspects: list[Suspect] = []
    outcomes = []
    for file in files:
        quote = file.quote if isinstance(file, RelevantFile) else None
        checked = _verify_reference(_Reference(file.path, file.start_line, file.end_line, quote), checkout)
        outcomes.append(checked.citations)
        if checked.path is not None:
            reason = file.relevance_reason if isinstance(file, RelevantFile) else file.reason
            symbol = _symbol(file.symbol, checked.path, checked.span, checkout)
            _merge(suspects, Suspect(path=checked.path, span=checked.span, symbol=symbol, reason=reason))
    return suspects, merge_citations(outcomes)


def verify_files(
    files: Sequence[RelevantFile], lines: ReadLines, paths: Iterable[str]
) -> tuple[list[RelevantFile], Citations]:
    """The agent's own list with what holds: files that exist, lines and quotes that were found, in order."""
    checkout = IndexedCode(lines, paths)
    results = [
        (file, _verify_reference(_Reference(file.path, file.start_line, file.end_line, file.quote), checkout))
        for file in files
    ]
    kept = [_rewritten(file, checked, checkout) for file, checked in results if checked.path is not None]
    return kept, merge_citations([checked.citations for _, checked in results])


def _rewritten(file: RelevantFile, checked: _VerifiedReference, checkout: IndexedCode) -> RelevantFile:
    path, span = checked.path or "", checked.span
    update = {
        "path": path,
        "start_line": span.start if span else None,
        "end_line": span.end if span else None,
        "symbol": _symbol(file.symbol, path, span, checkout),
        "quote": file.quote if checked.quote_verified else None,
    }
    return file.model_copy(update=update)


def verify_evidence(
    evidence: Sequence[Evidence], lines: ReadLines, paths: Iterable[str], issue_text: str = ""
) -> tuple[list[CheckedEvidence], Citations]:
    """Each claim with the place that shows it, where there is one.

    A claim without a path is about the issue itself: its quote is looked for in `issue_text`. What does not hold keeps
    its words and loses place and quote.
    """
    checkout = IndexedCode(lines, paths)
    issue = " ".join(issue_text.split())
    results = [_in_code(item, checkout) if item.path else _in_issue(item, issue) for item in evidence]
    return [checked for checked, _ in results], merge_citations([citations for _, citations in results])


def _in_code(item: Evidence, checkout: IndexedCode) -> tuple[CheckedEvidence, Citations]:
    checked = _verify_reference(_Reference(item.path or "", item.start_line, item.end_line, item.quote), checkout)
    holds = checked.span is not None and checked.quote_verified is not False
    return CheckedEvidence(
        claim=item.claim,
        span=checked.span if holds else None,
        quote=item.quote if holds and checked.quote_verified else None,
        verified=holds,
    ), checked.citations


def _in_issue(item: Evidence, issue: str) -> tuple[CheckedEvidence, Citations]:
    quote = " ".join((item.quote or "").split())
    if not quote:
        return CheckedEvidence(claim=item.claim, verified=False), Citations()
    found = quote in issue
    refused = [] if found else ["a quote that is not in the issue"]
    checked = CheckedEvidence(claim=item.claim, quote=item.quote if found else None, verified=found)
    return checked, Citations(verified=int(found), total=1, refused=refused)


def merge_citations(outcomes: Iterable[Citations]) -> Citations:
    """One count over several checks; a reason that repeats is kept once."""
    outcomes = list(outcomes)
    return Citations(
        verified=sum(outcome.verified for outcome in outcomes),
        total=sum(outcome.total for outcome in outcomes),
        refused=list(dict.fromkeys(why for outcome in outcomes for why in outcome.refused)),
    )


def _merge(suspects: list[Suspect], new: Suspect) -> None:
    """Add a suspect, or fill what an earlier one of the same place lacks."""
    for at, old in enumerate(suspects):
        if old.path == new.path and _same_place(old.span, new.span):
            suspects[at] = old.model_copy(update={"span": old.span or new.span, "symbol": old.symbol or new.symbol})
            return
    suspects.append(new)


def _same_place(one: Span | None, other: Span | None) -> bool:
    if one is None or other is None:
        return True
    return one.start <= other.end and other.start <= one.end


def _symbol(symbol: str | None, path: str, span: Span | None, checkout: IndexedCode) -> str | None:
    name = _last_name(symbol or "")
    lines = checkout.lines(path) or []
    if not name:
        return None
    if span is not None:
        lines = lines[span.start - 1 : span.end] + _enclosing(lines, span.start)
    return symbol if any(_has_word(line, name) for line in lines) else None


def _last_name(symbol: str) -> str:
    """`save` of `Store.save()`, `ns::Store::save`, `Store#save`."""
    words = "".join(character if _of_a_name(character) else " " for character in symbol).split()
    return words[-1] if words else ""


def _has_word(line: str, name: str) -> bool:
    at = line.find(name)
    while at >= 0:
        around = line[max(0, at - 1) : at] + line[at + len(name) : at + len(name) + 1]
        if not any(_of_a_name(character) for character in around):
            return True
        at = line.find(name, at + len(name))
    return False


def _of_a_name(character: str) -> bool:
    return character.isalnum() or character in "_$"


def _enclosing(lines: Sequence[str], start: int) -> list[str]:
    """Lines above `start`, each less indented than the one below it: the definitions that hold the place.

    A frame points into a function's body; the function's name stands further up.
    """
    headers: list[str] = []
    depth = next((_indent(line) for line in lines[start - 1 :] if line.strip()), 0)
    for line in reversed(lines[: start - 1]):
        if depth == 0:
            break
        if line.strip() and _indent(line) < depth:
            headers.append(line)
            depth = _indent(line)
    return headers


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _shown(path: str) -> str:
    """A cited path as one short printable line."""
    printable = "".join(character if character.isprintable() else "?" for character in path)
    return printable if len(printable) <= MAX_SHOWN_CHARS else printable[: MAX_SHOWN_CHARS - 1] + "…"


def _number(line: int) -> str:
    return str(line) if abs(line) < 10**9 else "(huge)"
