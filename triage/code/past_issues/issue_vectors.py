"""Finds past issues near this one by vectors, in a collection apart from the code's."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triage.code.past_issues.issue_words import extract_terms
from triage.code.vectors.chroma_connection import OpenChroma
from triage.code.vectors.embed_corpus import (
    LOCAL,
    VectorCache,
    embed_query,
    embed_texts,
    embedding_errors,
    store_vectors,
)
from triage.code.vectors.projection import project_terms
from triage.code.vectors.vector_stores import VectorKey
from triage.domain.issue import ParsedIssue
from triage.domain.past_issues import PastIssue
from triage.safety.secrets.likely_secrets import redact_likely_secrets

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

NEAR = 10
"""Past issues that vectors add to those that the words have found."""
_MAX_TEXT_CHARS = 500
"""Of a past issue that an embedding model reads: it is paid by the token, in every run without a cache."""
_MAX_READ_CHARS = 5_000
"""A secret is replaced before the text is cut to what is sent: half of one would not be recognised."""
_COLLECTION = "past issues of "


def find_near_issues(
    parsed: ParsedIssue,
    past: Sequence[PastIssue],
    repository: str,
    open_chroma: OpenChroma | None,
    model: "Embeddings | None" = None,
    model_name: str = LOCAL,
    cache: VectorCache | None = None,
) -> list[int]:
    """Return the numbers of the nearest past issues. A model that fails is replaced by vectors made from the words."""
    if not past:
        return []
    embedded = _embed_with_model(parsed, past, model, cache) if model else None
    numbers, rows, query = embedded or _project(parsed, past)
    key = VectorKey(f"{_COLLECTION}{repository}", _digest(past), model_name if embedded else LOCAL, rows.shape[1])
    store = store_vectors(open_chroma, key, None, numbers, rows, [])
    return list(store.nearest(query, NEAR)) if store else []


def _embed_with_model(
    parsed: ParsedIssue, past: Sequence[PastIssue], model: "Embeddings", cache: VectorCache | None
) -> tuple[list[int], NDArray[np.float32], NDArray[np.float32]] | None:
    texts = [_shorten(one.title, one.body) for one in past]
    query = embed_query(model, _shorten(parsed.title, parsed.body))
    if query is None:
        return None
    try:
        positions, rows = embed_texts(model, texts, cache)
    except embedding_errors():
        return None
    return [past[position].number for position in positions], rows, query


def _shorten(title: str, body: str) -> str:
    return redact_likely_secrets(f"{title}\n{body}"[:_MAX_READ_CHARS])[:_MAX_TEXT_CHARS]


def _project(
    parsed: ParsedIssue, past: Sequence[PastIssue]
) -> tuple[list[int], NDArray[np.float32], NDArray[np.float32]]:
    counts = [_count_terms(one.title, one.body) for one in past]
    frequency = Counter(term for count in counts for term in count)
    idf = {term: math.log(1 + len(past) / issues) for term, issues in frequency.items()}
    rows = np.stack([project_terms(_weight(count, idf)) for count in counts])
    return [one.number for one in past], rows, project_terms(_weight(_count_terms(parsed.title, parsed.body), idf))


def _count_terms(title: str, body: str) -> Counter[str]:
    terms = extract_terms(title, body)
    return Counter([*terms.title, *(term for _, line in terms.lines for term in line)])


def _weight(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    return {term: (1 + math.log(count)) * idf[term] for term, count in counts.items() if term in idf}


def _digest(past: Sequence[PastIssue]) -> str:
    """Return a digest of all texts: the same issues share one collection."""
    digest = blake2b(digest_size=20)
    for one in past:
        digest.update(f"{one.number}\0{one.title}\0{one.body}\0".encode("utf-8", "replace"))
    return digest.hexdigest()
