"""From what the words find to what that calls: an issue names the symptom, the cause may lie one call further."""

import re
from collections import defaultdict
from collections.abc import Mapping

from triage.index.corpus.tokens import terms_of
from triage.index.rank.evidence import Evidence, Scores

_ANCHORS = 12
"""Chunks to start from: further ones are guesses themselves."""
_MAX_FILES = 3
"""A name that more files define leads nowhere."""
_CALLED = re.compile(r"([^\W\d]\w*+)[ \t]*\(")


def called(evidence: Evidence) -> Scores:
    """Sources of what the best chunks of other sources call by a name that has a word of the issue."""
    found = evidence.nothing()
    for chunk in evidence.best_chunks(_ANCHORS):
        for files in _calls(evidence, chunk).values():
            for file in files:
                found[file] += float(evidence.chunk_scores[chunk]) / len(files)
    return found


def calls_to(evidence: Evidence, file: int) -> Mapping[str, str]:
    """Names that the file defines, and the definition among the best chunks that calls each."""
    found: dict[str, str] = {}
    for chunk in evidence.best_chunks(_ANCHORS):
        symbol = evidence.corpus.chunk_symbols[chunk]
        for name, files in _calls(evidence, chunk).items():
            if file in files and symbol:
                found.setdefault(name, symbol)
    return found


def _calls(evidence: Evidence, chunk: int) -> Mapping[str, set[int]]:
    """Called names, and the few other sources that define them."""
    own = int(evidence.corpus.chunk_files[chunk])
    calls: dict[str, set[int]] = defaultdict(set)
    for name in sorted(set(_CALLED.findall(evidence.text(chunk)))):
        if any(term in evidence.query.weights for term in terms_of(name)):
            places = evidence.corpus.definitions.get(name, ())
            files = {place.file for place in places if evidence.corpus.likely[place.file]}
            if 0 < len(files) <= _MAX_FILES and own not in files:
                calls[name] = files
    return calls
