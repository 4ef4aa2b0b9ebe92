"""Vectors that are compared one by one, in numpy: what holds them where the index is kept in a folder.

Chroma takes two seconds for what is compared here in three milliseconds (Django, 11,592 vectors), and cannot be kept:
its own files hold a pickle and a graph that is read without checks (chromadb 1.5.9: one changed neighbour in
`data_level0.bin`, and the process is gone). It finds 99.6 of the 100 that are found here.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from triage.index.vectors.chroma_store import VectorKey


class ExactStore:
    """The vectors of one commit, in memory."""

    def __init__(self, key: VectorKey, chunks: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Take the vectors of these chunks."""
        self.key = key
        self.size = len(chunks)
        self._chunks = np.array(chunks, dtype=np.int64)
        self._rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-30))

    def nearest(self, vector: NDArray[np.float32], count: int) -> dict[int, float]:
        """Chunks by cosine similarity; none for a vector that does not fit."""
        if not self.size or not vector.any() or vector.shape != self._rows.shape[1:]:
            return {}
        similar = self._rows @ (vector / np.linalg.norm(vector))
        best = np.argsort(-similar, kind="stable")[:count]
        return dict(zip(self._chunks[best].tolist(), similar[best].tolist(), strict=True))

    def release(self) -> None:
        """Nobody else may use them: they go with this object."""
