"""From what the words find to what that calls: an issue names the symptom, the cause may lie one call further."""

import re
from collections import defaultdict
from collections.abc import Mapping

from triage.index.corpus.tokens import split_into_terms
from triage.index.rank.evidence import Evidence, Scores

_ANCHORS = 12
"""Chunks to start from: further ones are guesses themselves."""
_MAX_FILES = 3
"""A name that more files define leads nowhere."""
_CALLED = re.compile(r"([^\W\d]\w*+)[ \t]*\(")


def score_called_code(evidence: Evidence) -> Scores:
    """Sources of what the best chunks of other sources call by a name that has a word of the issue."""
    found = evidence.zeros()
    for chunk in evidence.find_best_chunks(_ANCHORS):
        for files in _find_calls(evidence, chunk).values():
            for file in files:
                found[file] += float(evidence.chunk_scores[chunk]) / len(files)
    return found


def find_calls_to(evidence: Evidence, file: int) -> Mapping[str, str]:
    """Names that the file defines, and the definition among the best chunks that calls each."""
    found: dict[str, str] = {}
    for chunk in evidence.find_best_chunks(_ANCHORS):
        symbol = evidence.corpus.chunk_symbols[chunk]
        for name, files in _find_calls(evidence, chunk).items():
            if file in files and symbol:
                found.setdefault(name, symbol)
    return found


def _find_calls(evidence: Evidence, chunk: int) -> Mapping[str, set[int]]:
    """Called names, and the few other sources that define them."""
    own = int(evidence.corpus.chunk_files[chunk])
    calls: dict[str, set[int]] = defaultdict(set)
    for name in sorted(set(_CALLED.findall(evidence.chunk_text(chunk)))):
        if any(term in evidence.query.term_weights for term in split_into_terms(name)):
            places = evidence.corpus.definitions.get(name, ())
            files = {place.file for place in places if evidence.corpus.product_files[place.file]}
            if 0 < len(files) <= _MAX_FILES and own not in files:
                calls[name] = files
    return calls
