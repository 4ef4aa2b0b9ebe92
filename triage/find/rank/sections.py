"""Finds the sections of the documentation that share most words with an issue.

The passages of a page are its sections (`files.documentation`), so their scores are those of the ranking. Vectors were
tried and do not order them better (docs/localization.md).
"""

import numpy as np

from triage.domain.code import Section, Span
from triage.find.files.documentation import find_headings
from triage.find.rank.query_scores import QueryScores, find_highest


def find_sections(query_scores: QueryScores, limit: int) -> list[Section]:
    """Return the sections with the highest BM25, best first."""
    corpus = query_scores.corpus
    is_section = corpus.documentation_files[corpus.chunk_files]
    best = find_highest(np.where(is_section, query_scores.chunk_scores, np.float32(0)), limit)
    return [_make_section(query_scores, chunk) for chunk in best]


def _make_section(query_scores: QueryScores, chunk: int) -> Section:
    corpus = query_scores.corpus
    file, start, end = (int(of[chunk]) for of in (corpus.chunk_files, corpus.chunk_starts, corpus.chunk_ends))
    path = corpus.files[file].path
    above = [one.text for one in find_headings(path, query_scores.file_lines(file)) if one.line <= start]
    return Section(span=Span(path=path, start=start, end=end), heading=above[-1] if above else "")
