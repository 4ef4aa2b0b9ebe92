"""Finds code that the best chunks call: an issue describes the symptom, and the cause may be one call further."""

import re
from collections import defaultdict
from collections.abc import Mapping

from triage.code.rank.query_scores import QueryScores, Scores
from triage.code.words.tokens import split_into_terms

_MAX_CALLERS = 12
"""Best chunks whose calls are followed."""
_MAX_DEFINING_FILES = 3
"""A name that more files define is ignored."""
_CALL = re.compile(r"([^\W\d]\w*+)[ \t]*\(")


def score_called_code(query_scores: QueryScores) -> Scores:
    """Score files that define what the best chunks of other files call, if the name contains a term of the issue."""
    scores = query_scores.zeros()
    for chunk in query_scores.find_best_chunks(_MAX_CALLERS):
        for files in _find_calls(query_scores, chunk).values():
            for file in files:
                scores[file] += float(query_scores.chunk_scores[chunk]) / len(files)
    return scores


def find_calls_to(query_scores: QueryScores, file: int) -> Mapping[str, str]:
    """Names that the file defines and the best chunks call, each with the calling definition."""
    found: dict[str, str] = {}
    for chunk in query_scores.find_best_chunks(_MAX_CALLERS):
        symbol = query_scores.corpus.chunk_symbols[chunk]
        for name, files in _find_calls(query_scores, chunk).items():
            if file in files and symbol:
                found.setdefault(name, symbol)
    return found


def _find_calls(query_scores: QueryScores, chunk: int) -> Mapping[str, set[int]]:
    """Names that a chunk calls, with the other files of product code that define them."""
    own = int(query_scores.corpus.chunk_files[chunk])
    calls: dict[str, set[int]] = defaultdict(set)
    for name in sorted(set(_CALL.findall(query_scores.chunk_text(chunk)))):
        if any(term in query_scores.query.term_weights for term in split_into_terms(name)):
            locations = query_scores.corpus.definitions.get(name, ())
            files = {location.file for location in locations if query_scores.corpus.product_files[location.file]}
            if 0 < len(files) <= _MAX_DEFINING_FILES and own not in files:
                calls[name] = files
    return calls
