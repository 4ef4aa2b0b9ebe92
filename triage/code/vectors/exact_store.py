"""Compares vectors one by one, in numpy. Used where the index is cached.

Chroma takes two seconds to set up what is compared here in three milliseconds (Django, 11,592 vectors), and its
files cannot be cached: they contain a pickle and a graph that is read without checks.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triage.code.vectors.chroma_store import VectorKey


class ExactStore:
    def __init__(self, key: VectorKey, chunks: Sequence[int], vectors: NDArray[np.float32]) -> None:
        self.key = key
        self.size = len(chunks)
        self._chunks = np.array(chunks, dtype=np.int64)
        self._rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-30))

    def nearest(self, vector: NDArray[np.float32], count: int) -> dict[int, float]:
        """The nearest chunks with their cosine similarity; empty for a vector of another length."""
        if not self.size or not vector.any() or vector.shape != self._rows.shape[1:]:
            return {}
        similarities = self._rows @ (vector / np.linalg.norm(vector))
        best = np.argsort(-similarities, kind="stable")[:count]
        return dict(zip(self._chunks[best].tolist(), similarities[best].tolist(), strict=True))
