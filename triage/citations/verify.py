"""Verifies what agents cite against the indexed commit. Each path, line range and quote is one reference.

A file that exists stays even when its lines do not. Wrong lines are corrected by the quote, else by the definition of
the symbol. Lines and quotes that are still not there are dropped, with the reason.
"""

from collections.abc import Iterable, Sequence

from triage.citations.citation_lookup import CitationLookup
from triage.citations.quoted_text import list_quote_forms
from triage.citations.reference_check import CheckedReference, check_reference
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import CheckedEvidence, Citations, Suspect


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
