"""Executed: where the report's own example fails when it is run."""

from collections.abc import Iterator

from triage.code.leads.lead import Lead
from triage.code.rank.query_scores import QueryScores


def find_executed_lead(query_scores: QueryScores) -> Iterator[Lead]:
    """Yield the line of product code that raised the example's error, if it was run and there is one."""
    executed, corpus = query_scores.executed, query_scores.corpus
    place = executed.place if executed else None
    file = corpus.file_numbers.get(place.path) if place else None
    if not executed or not place or not place.line or file is None or not corpus.files[file].role.is_product_code:
        return
    # It may have been run on another commit.
    around = corpus.find_enclosing(file, place.line)
    functions = [name for name in (place.function or "").split(".") if not name.startswith("<")]
    is_there = not functions or (around is not None and around.name.endswith(functions[-1]))
    if is_there and place.line <= len(query_scores.file_lines(file)):
        yield Lead("executed", file, place.line, executed.error)
