"""Finds past issues near this one by the vectors of an embedding model.

Without a model there are none: vectors made from the words add no duplicate that the words have not found
(docs/memory.md).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.code.vectors.embed_corpus import embed_query, embed_texts, embedding_errors
from triage.code.vectors.vector_stores import ExactStore
from triage.domain.issue import ParsedIssue
from triage.domain.past_issues import PastIssue
from triage.safety.secrets.likely_secrets import redact_likely_secrets

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

NEAR = 10
"""Past issues that vectors add to those that the words have found."""
_MAX_TEXT_CHARS = 500
"""Of a past issue that an embedding model reads: it is paid by the token, in every run."""
_MAX_READ_CHARS = 5_000
"""A secret is replaced before the text is cut to what is sent: half of one would not be recognised."""


def find_near_issues(parsed: ParsedIssue, past: Sequence[PastIssue], model: "Embeddings") -> list[int]:
    """Return the numbers of the nearest past issues; none when the model fails."""
    query = embed_query(model, _shorten(parsed.title, parsed.body)) if past else None
    if query is None:
        return []
    try:
        rows = embed_texts(model, [_shorten(one.title, one.body) for one in past])
    except embedding_errors():
        return []
    numbers = [one.number for one in past[: len(rows)]]
    return list(ExactStore(numbers, rows).nearest(query, NEAR))


def _shorten(title: str, body: str) -> str:
    return redact_likely_secrets(f"{title}\n{body}"[:_MAX_READ_CHARS])[:_MAX_TEXT_CHARS]
