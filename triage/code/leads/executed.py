"""Executed: where the report's own example fails when it is run."""

from collections.abc import Iterator

from triage.code.leads.lead import Lead
from triage.code.rank.query_scores import QueryScores


def find_executed_lead(query_scores: QueryScores) -> Iterator[Lead]:
    """Yield the line of product code that raised the example's error, if it was run and there is one."""
    executed, corpus = query_scores.executed, query_scores.corpus
    place = executed.place if executed else None
    file = corpus.file_numbers.get(place.path) if place else None
    if executed and place and file is not None and corpus.files[file].role.is_product_code:
        line = place.line if place.line and place.line <= len(query_scores.file_lines(file)) else None
        yield Lead("executed", file, line, executed.error)
