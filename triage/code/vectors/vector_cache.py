"""Caches the vectors of an embedding model, by the text that was embedded: no text is paid for twice."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from triage.code.indexing.cache_folder import CacheFolder

MAX_CACHED_VECTORS = 8_000
"""The least recently used ones go first. Twice what one index asks for; 50 MB of the usual 1,536 dimensions."""
_KEY_BYTES = 16


class VectorCache:
    """The vectors of one model. Each addition is on disk before the next text is embedded."""

    def __init__(self, folder: CacheFolder, model: str) -> None:
        """Read what there is. A vector is not checked further: a wrong one only misleads a search."""
        self._folder = folder
        self._name = f"vectors-{blake2b(model.encode(), digest_size=16).hexdigest()}.npy"
        self._rows = self._read()

    def find(self, texts: Sequence[str]) -> dict[int, NDArray[np.float32]]:
        found = {}
        for position, text in enumerate(texts):
            key = _digest_text(text)
            if key in self._rows:
                found[position] = self._rows[key] = self._rows.pop(key)  # now the most recently used
        return found

    def add(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Store the vectors of some texts. Vectors of another length are dropped: they are of another model."""
        for text, row in zip(texts, rows, strict=True):
            self._rows[_digest_text(text)] = row
        newest = [*self._rows.items()][-MAX_CACHED_VECTORS:]
        self._rows = {key: row for key, row in newest if len(row) == rows.shape[1]}
        keys = np.frombuffer(b"".join(self._rows), dtype=np.uint8).reshape(-1, _KEY_BYTES)
        self._folder.write(self._name, [keys, np.stack([*self._rows.values()]).astype("<f4", copy=False)])

    def _read(self) -> dict[bytes, NDArray[np.float32]]:
        arrays = self._folder.read(self._name)
        if arrays is None:
            return {}
        if [(array.dtype.str, array.ndim) for array in arrays] != [("|u1", 2), ("<f4", 2)]:
            self._folder.report_damage()
            return {}
        keys, rows = arrays
        if keys.shape != (len(rows), _KEY_BYTES):
            self._folder.report_damage()
            return {}
        return {keys[number].tobytes(): rows[number] for number in np.flatnonzero(np.isfinite(rows).all(axis=1))}


def _digest_text(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()
