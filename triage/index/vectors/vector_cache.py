"""Vectors that an embedding model was paid for, by the text that it saw, kept in the cache."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from triage.index.build.array_file import Damaged, columns_of, packed_columns
from triage.index.build.cache_folder import CacheFolder

MAX_CACHED_VECTORS = 8_000
"""Texts; those used last stay. Twice what one index asks for: 50 MB of the usual 1,536 dimensions."""
_KEY_BYTES = 16


class VectorCache:
    """What one model answered before. Each answer is on disk before the next text is asked for."""

    def __init__(self, folder: CacheFolder, model: str) -> None:
        """Read what there is. A vector in the folder is believed: a wrong one misleads a search, and nothing else."""
        self._folder = folder
        self._name = f"vectors-{blake2b(model.encode(), digest_size=16).hexdigest()}.bin"
        self._rows = self._read()

    def find(self, texts: Sequence[str]) -> dict[int, NDArray[np.float32]]:
        """Vectors of those texts that were asked for before, by their place among the texts."""
        found = {}
        for place, text in enumerate(texts):
            key = _digest_text(text)
            if key in self._rows:
                found[place] = self._rows[key] = self._rows.pop(key)  # used last
        return found

    def add(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Remember an answer. Rows of another length are forgotten: they cannot be compared with these."""
        for text, row in zip(texts, rows, strict=True):
            self._rows[_digest_text(text)] = row
        self._rows = {key: row for key, row in [*self._rows.items()][-MAX_CACHED_VECTORS:] if len(row) == rows.shape[1]}
        keys = np.frombuffer(b"".join(self._rows), dtype=np.uint8)
        columns = {"keys": keys, "rows": np.stack([*self._rows.values()]).astype("<f4", copy=False)}
        self._folder.write(self._name, packed_columns({}, columns))

    def _read(self) -> dict[bytes, NDArray[np.float32]]:
        data = self._folder.read(self._name)
        if data is None:
            return {}
        try:
            _, columns = columns_of(data)
            keys, rows = columns["keys"].tobytes(), columns["rows"]
            if rows.dtype != "<f4" or rows.ndim != 2 or len(keys) != len(rows) * _KEY_BYTES:
                raise Damaged
        except (Damaged, KeyError):
            self._folder.report_problem("was damaged and is made anew")
            return {}
        sound = np.isfinite(rows).all(axis=1)
        return {keys[at * _KEY_BYTES : (at + 1) * _KEY_BYTES]: rows[at] for at in np.flatnonzero(sound).tolist()}


def _digest_text(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()
