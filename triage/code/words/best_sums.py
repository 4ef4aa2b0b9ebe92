"""Sums of each file's best parts."""

import numpy as np
from numpy.typing import NDArray

_SHARES = (1.0, 1 / 2, 1 / 3)
"""Of a file's best, second and third part."""


def sum_best_parts(scores: NDArray[np.float32], files: NDArray[np.int32], file_count: int) -> NDArray[np.float32]:
    """Return for each file the score of its best part, plus half of its second and a third of its third one.

    `scores` and `files` have one number for each part.
    """
    total = np.zeros(file_count, dtype=np.float32)
    scored = np.flatnonzero(scores)
    order = scored[np.lexsort((-scores[scored], files[scored]))]
    ordered = files[order]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    for number, share in enumerate(_SHARES):
        chosen = rank == number
        total[ordered[chosen]] += np.float32(share) * scores[order[chosen]]
    return total
