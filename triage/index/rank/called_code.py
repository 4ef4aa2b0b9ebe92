"""Finds code that the best chunks call: an issue describes the symptom, and the cause may be one call further."""

import re
from collections import defaultdict
from collections.abc import Mapping

from triage.index.corpus.tokens import split_into_terms
from triage.index.rank.evidence import Evidence, Scores

_MAX_CALLERS = 12
"""Best chunks whose calls are followed."""
_MAX_DEFINING_FILES = 3
"""A name that more files define is ignored."""
_CALL = re.compile(r"([^\W\d]\w*+)[ \t]*\(")


def score_called_code(evidence: Evidence) -> Scores:
    """Score files that define what the best chunks of other files call, if the name contains a term of the issue."""
    scores = evidence.zeros()
    for chunk in evidence.find_best_chunks(_MAX_CALLERS):
        for files in _find_calls(evidence, chunk).values():
            for file in files:
                scores[file] += float(evidence.chunk_scores[chunk]) / len(files)
    return scores


def find_calls_to(evidence: Evidence, file: int) -> Mapping[str, str]:
    """Names that the file defines and the best chunks call, each with the calling definition."""
    found: dict[str, str] = {}
    for chunk in evidence.find_best_chunks(_MAX_CALLERS):
        symbol = evidence.corpus.chunk_symbols[chunk]
        for name, files in _find_calls(evidence, chunk).items():
            if file in files and symbol:
                found.setdefault(name, symbol)
    return found


def _find_calls(evidence: Evidence, chunk: int) -> Mapping[str, set[int]]:
    """Names that a chunk calls, with the other files of product code that define them."""
    own = int(evidence.corpus.chunk_files[chunk])
    calls: dict[str, set[int]] = defaultdict(set)
    for name in sorted(set(_CALL.findall(evidence.chunk_text(chunk)))):
        if any(term in evidence.query.term_weights for term in split_into_terms(name)):
            locations = evidence.corpus.definitions.get(name, ())
            files = {location.file for location in locations if evidence.corpus.product_files[location.file]}
            if 0 < len(files) <= _MAX_DEFINING_FILES and own not in files:
                calls[name] = files
    return calls
