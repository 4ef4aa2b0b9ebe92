"""Stores the vectors of an embedding model, by the text that was embedded: no text is paid for twice."""

import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from triage.base.private_folder import make_private_folder, read_private_file, write_private_file

MAX_VECTORS = 8_000
"""The least recently used ones go first. Twice what one index asks for; 50 MB of the usual 1,536 dimensions."""
MAX_BYTES = 200_000_000
_KEY_BYTES = 16


class VectorCache:
    """The vectors of one model. Each addition is on disk before the next text is embedded.

    The file may come from anywhere. What does not parse counts as nothing, and a wrong vector only misleads a search.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self._file = folder / f"vectors-{blake2b(model.encode(), digest_size=16).hexdigest()}.npy"
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
        newest = [*self._rows.items()][-MAX_VECTORS:]
        self._rows = {key: row for key, row in newest if len(row) == rows.shape[1]}
        keys = np.frombuffer(b"".join(self._rows), dtype=np.uint8).reshape(-1, _KEY_BYTES)
        table = np.concatenate([keys, np.stack([*self._rows.values()]).astype("<f4").view(np.uint8)], axis=1)
        content = BytesIO()
        np.save(content, table, allow_pickle=False)
        with suppress(OSError):  # they are paid again
            make_private_folder(self._file.parent)
            write_private_file(self._file, content.getvalue(), time.time())

    def _read(self) -> dict[bytes, NDArray[np.float32]]:
        try:
            content = read_private_file(self._file, MAX_BYTES)
            table = np.load(BytesIO(content or b""), allow_pickle=False)
            # Copied: a view of some columns cannot be read as numbers of four bytes.
            rows = table[:, _KEY_BYTES:].copy().view("<f4")
            return {table[number, :_KEY_BYTES].tobytes(): rows[number] for number in _find_finite(rows)}
        except (OSError, ValueError, TypeError, IndexError, EOFError):
            return {}


def _find_finite(rows: NDArray[np.float32]) -> list[int]:
    numbers: list[int] = np.flatnonzero(np.isfinite(rows).all(axis=1)).tolist()
    return numbers


def _digest_text(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()
